package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

func TestErrorsOfTheStream(t *testing.T) {
	broken := errors.New("broken")
	for name, end := range map[string]io.Reader{
		"by itself": iotest.ErrReader(broken),
		"with data": iotest.DataErrReader(io.MultiReader(strings.NewReader("data: c"), iotest.ErrReader(broken))),
	} {
		t.Run(name, func(t *testing.T) {
			r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\nretry: 7\n"), end), 0)
			event, err := r.Next()
			require.NoError(t, err)
			assert.Equal(t, data("a"), event)
			event, err = r.Next()
			require.NoError(t, err)
			assert.True(t, event.HasRetry)
			assert.Nil(t, event.Data)
			for range 3 {
				event, err = r.Next()
				assert.Equal(t, broken, err)
				assert.Zero(t, event)
			}
		})
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestAStreamOfEmptyReadsEnds(t *testing.T) {
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\n"), nothing{}), 0)
	_, err := r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	assert.Equal(t, io.ErrNoProgress, err)
}

func TestDataIsTheCallers(t *testing.T) {
	r := sse.NewReader(strings.NewReader("id: a\ndata: aaaa\n\nid: b\ndata: bbbb\n\n"), 0)
	first, err := r.Next()
	require.NoError(t, err)
	copy(first.Data, "xxxx")
	_ = append(first.Data, "yyyyyyyyyyyy"...)
	second, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, "xxxx", string(first.Data))
	assert.Equal(t, "bbbb", string(second.Data))
	assert.Equal(t, "a", first.ID)
}

func TestLongLines(t *testing.T) { // field case 79
	for _, size := range []int{2040, 2048, 4096, 65_529, 65_530, 65_531, 65_536, 131_060, 131_072, 2 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			for _, lead := range []string{"", ": a comment\n", ":" + strings.Repeat("x", 60_000) + "\n"} {
				for _, end := range []string{"\n", "\r", "\r\n"} {
					want := filled(size)
					want[size-1] = 'z'
					text := lead + "data: " + string(want) + end + "data: b" + end + end + "data: c" + end + end
					got := results(t, strings.NewReader(text), 0)
					require.Len(t, got, 2)
					require.True(t, bytes.Equal(append(want, "\nb"...), got[0].Data))
					require.Equal(t, data("c"), got[1].Event)
				}
			}
		})
	}
}

func TestALongLineTakesMemoryOfItsSize(t *testing.T) {
	const size = 5 << 20
	r := sse.NewReader(strings.NewReader("data:"+string(filled(size))+"\n\n"), 0)
	event, err := r.Next()
	require.NoError(t, err)
	assert.Len(t, event.Data, size)
	assert.Equal(t, size, cap(event.Data))
}

func TestOnlyDataMayBeLong(t *testing.T) {
	long := strings.Repeat("1", 64<<10)
	got := events(t, "id: 1\nid: "+long+"\nevent: "+long+"\nretry: "+long+"\n: "+long+"\ndata"+long+"\ndata: a\n\n")
	assert.Equal(t, []sse.Event{{ID: "1", HasID: true, Data: []byte("a")}}, got)
	short := long[:60<<10]
	got = events(t, "id: "+short+"\nevent: "+short+"\ndata: a\n\n")
	assert.Equal(t, []sse.Event{{Type: short, ID: short, HasID: true, Data: []byte("a")}}, got)
}

func TestLimit(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		over bool
	}{
		"at it":                {"data: 1234567890\n\n", false},
		"over it":              {"data: 12345678901\n\n", true},
		"without the space":    {"data:12345678901\n\n", true},
		"lines at it":          {"data: 1234\ndata: 56789\n\n", false},
		"lines over it":        {"data: 1234\ndata: 567890\n\n", true},
		"empty lines at it":    {strings.Repeat("data\n", 11) + "\n", false},
		"empty lines over it":  {strings.Repeat("data\n", 12) + "\n", true},
		"other fields":         {"id: 12345678901\nevent: 12345678901\n: 12345678901\ndata: a\n\n", false},
		"all events together":  {strings.Repeat("data: 12345\n\n", 5), false},
		"over it, unfinished":  {"data: 12345678901", true},
		"nearly data, over it": {"data: 1234567890\ndata", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, most := range []int{1, 1000} {
				got := results(t, splitReader{strings.NewReader(test.text), nil, most}, 10)
				require.NotEmpty(t, got)
				for _, res := range got {
					assert.Equal(t, test.over, res.TooLarge)
				}
			}
		})
	}
	_, err := sse.NewReader(strings.NewReader("data: 1234\n\n"), 3).Next()
	assert.EqualError(t, err, "sse: event: message too large: the limit is 3 bytes")
}

func TestTheStreamLivesOnAfterAnEventOverTheLimit(t *testing.T) {
	text := "id: 1\nevent: e\nretry: 5\ndata: 123\ndata: 4567890\nid: 2\ndata: 5\n\ndata: a\n\n"
	r := sse.NewReader(strings.NewReader(text), 10)
	event, err := r.Next()
	require.ErrorIs(t, err, transport.ErrMessageTooLarge)
	assert.Equal(t, "1", event.ID)
	assert.Equal(t, "e", event.Type)
	assert.True(t, event.HasRetry)
	assert.Equal(t, "123\n456789", string(event.Data))
	event, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, sse.Event{ID: "2", HasID: true}, event, "it still counts")
	event, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, data("a"), event)

	r = sse.NewReader(strings.NewReader("data: 12345678901\n\ndata: a\n\n"), 10)
	_, err = r.Next()
	require.ErrorIs(t, err, transport.ErrMessageTooLarge)
	event, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, data("a"), event)
}

func TestThePrefixOfDataOverTheLimit(t *testing.T) {
	for _, text := range []string{
		"data: " + string(filled(150_000)) + "\n\n",
		"data: " + string(filled(sse.PrefixBytes)) + "\ndata: " + string(filled(130_000)) + "\n\n",
		"data: " + string(filled(60_000)) + "\ndata: " + string(filled(60_000)) + "\n\n",
	} {
		got := results(t, strings.NewReader(text+"data: a\n\n"), 100_000)
		require.Len(t, got, 2)
		assert.True(t, got[0].TooLarge)
		assert.Equal(t, data("a"), got[1].Event)
		assert.Equal(t, filled(sse.PrefixBytes), got[0].Data)
		assert.LessOrEqual(t, cap(got[0].Data), 4*sse.PrefixBytes)
	}
}
