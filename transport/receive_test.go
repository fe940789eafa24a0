package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

// sends writes text to the stream's peer and ends it.
func sends(t *testing.T, out *os.File, text ...string) {
	for _, s := range text {
		_, err := io.WriteString(out, s)
		assert.NoError(t, err)
	}
	assert.NoError(t, out.Close())
}

func TestReadingNeverWaitsForWriting(t *testing.T) { // field case 12
	const lines = 1 << 10
	conn, in, out := pipes(t, nil)
	var peer sync.WaitGroup
	peer.Go(func() { // a server that writes 1 MiB before it reads
		line := `{"jsonrpc":"2.0","method":"n","params":` + padded(1<<10) + "}\n"
		sends(t, out, strings.Repeat(line, lines))
		_, err := io.Copy(io.Discard, in)
		assert.NoError(t, err)
	})
	sent := make(chan error, 1)
	go func() { sent <- conn.Send(context.Background(), call(1, padded(1<<20))) }()
	assert.Equal(t, lines, len(received(t, conn)))
	require.NoError(t, <-sent)
	conn.Close()
	peer.Wait()
}

func TestBannersAndLogLinesAreFaults(t *testing.T) { // field case 14
	got := receivedFrom(t, "Server v1 listening\n"+`{"method":"a"}`+"\n[INFO] ready\n"+
		`{"level":"info"}`+"\n"+`{"method":"b"}`+"\n", nil)
	require.Len(t, got, 5)
	assert.Equal(t, []string{"", "a", "", "", "b"}, methods(got))
	for i, prefix := range map[int]string{0: "Server v1 listening", 2: "[INFO] ready", 3: `{"level":"info"}`} {
		var fault *transport.FaultError
		require.ErrorAs(t, got[i].Fault, &fault)
		assert.Equal(t, prefix, fault.Prefix)
	}
	long := receivedFrom(t, strings.Repeat("noise ", 1000)+"\n", nil)
	var fault *transport.FaultError
	require.ErrorAs(t, long[0].Fault, &fault)
	assert.Len(t, fault.Prefix, 256)
}

func TestLineEndsBlankLinesAndByteOrderMark(t *testing.T) { // field case 16
	got := receivedFrom(t, "\ufeff{\"method\":\"a\"}\r\n\r\n\n  \t\n{\"method\":\"b\"}\n \r\n"+
		" {\"method\":\"c\"} \r\n\n{\"method\":\"d\"}", nil)
	assert.Equal(t, []string{"a", "b", "c", "d"}, methods(got))
	for _, m := range got {
		assert.NoError(t, m.Fault)
	}
	assert.Empty(t, receivedFrom(t, "\ufeff\r\n\n  ", nil))
}

func TestCharacterSplitOverTwoWrites(t *testing.T) { // field case 17
	conn, _, out := pipes(t, nil)
	text := `{"id":1,"result":"é😀"}` + "\n"
	go func() {
		for i := range len(text) {
			out.WriteString(text[i : i+1])
		}
		out.Close()
	}()
	got := received(t, conn)
	require.Len(t, got, 1)
	assert.Equal(t, `"é😀"`, string(got[0].Result))
}

func TestLargeReplies(t *testing.T) { // field case 20
	conn, _, out := pipes(t, nil)
	sizes := []int{0, 1, 2000, 2048, 3000, 64 << 10, 100 << 10, 128<<10 - 1, 1 << 20, 1, 5 << 20, 10}
	go func() {
		for id, size := range sizes {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id, padded(size))
		}
		out.Close()
	}()
	got := received(t, conn)
	require.Len(t, got, len(sizes))
	for id, size := range sizes {
		assert.Equal(t, transport.IntID(int64(id)), got[id].ID)
		assert.Equal(t, padded(size), string(got[id].Result))
	}
}

func TestBatchesOverAStream(t *testing.T) { // field case 23
	got := receivedFrom(t, `[{"method":"a"},{"method":"b"}]`+"\n"+`{"method":"c"}`+"\n[]\n", nil)
	assert.Equal(t, []string{"a", "b", "c", ""}, methods(got))
	assert.Equal(t, []bool{true, true, false}, []bool{got[0].Batch, got[1].Batch, got[2].Batch})
	assert.ErrorContains(t, got[3].Fault, "empty batch")
}

func TestRequestIDZero(t *testing.T) { // field case 31
	got := receivedFrom(t, `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`+"\n", nil)
	require.Len(t, got, 1)
	assert.True(t, got[0].IsRequest())
	assert.Equal(t, "0", got[0].ID.String())
}

func TestOversizedLinesAreSkipped(t *testing.T) {
	big := padded(100 << 10)
	cut := `{"jsonrpc":"2.0","pad":"` + strings.Repeat("x", 4<<10-32) + `"` // the first 4 KiB end behind the id's 1
	for name, test := range map[string]struct {
		line   string
		id     string
		method string
	}{
		"id first":          {`{"jsonrpc":"2.0","id":7,"result":` + big + `}`, "7", ""},
		"request":           {`{"jsonrpc":"2.0","id":"x","method":"roots/list","params":` + big + `}`, `"x"`, "roots/list"},
		"id last":           {`{"result":` + big + `,"id":7,"jsonrpc":"2.0"}` + "\r", "7", ""},
		"id between":        {`{"jsonrpc":"2.0","result":` + big + `, "id" : "a\"b" , "x":{"y":[]}}`, `"a\"b"`, ""},
		"id of an element":  {`{"jsonrpc":"2.0","result":{"a":` + big + `,"id":7}}`, "", ""},
		"id in a text":      {`{"jsonrpc":"2.0","result":{"a":` + big + `,"b":",\"id\":7}"}}`, "", ""},
		"end of a name":     {`{"jsonrpc":"2.0","result":` + big + `,"a,\"id":7}`, "", ""},
		"cut in the number": {cut + `,"id":1234567890,"result":` + big + `}`, "", ""},
		"no JSON-RPC":       {`{"id":7,"log":` + big + `}`, "", ""},
		"noise":             {`"jsonrpc":"2.0","id":7,` + big, "", ""},
		"noise at the head": {`log: {"result":` + big + `,"id":7,"jsonrpc":"2.0"}`, "", ""},
		"batch":             {`[{"jsonrpc":"2.0","id":7,"result":` + big + `}]`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"method":"a"}` + "\n" + test.line + "\n" + `{"method":"b"}` + "\n" + test.line
			for _, limit := range []int{1 << 10, 64 << 10, len(test.line) - 1} {
				got := receivedFrom(t, text, &transport.StreamOptions{MaxMessageBytes: limit})
				require.Len(t, got, 4)
				assert.Equal(t, []string{"a", test.method, "b", test.method}, methods(got))
				for _, i := range []int{1, 3} {
					require.ErrorIs(t, got[i].Fault, transport.ErrMessageTooLarge)
					text := fmt.Sprintf("message too large: %d bytes, the limit is %d", len(test.line), limit)
					assert.EqualError(t, got[i].Fault, text)
					assert.Equal(t, test.id, got[i].ID.String())
				}
			}
			got := receivedFrom(t, text, &transport.StreamOptions{MaxMessageBytes: len(test.line)})
			for _, m := range got {
				assert.NotErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
			}
		})
	}
}

func TestDefaultLimit(t *testing.T) {
	line := func(size int) string { return `{"id":1,"result":"` + strings.Repeat("x", size-20) + `"}` }
	got := receivedFrom(t, line(16<<20)+"\n"+line(16<<20+1)+"\n", nil)
	require.Len(t, got, 2)
	assert.NoError(t, got[0].Fault)
	assert.ErrorIs(t, got[1].Fault, transport.ErrMessageTooLarge)
}

// endless repeats a text without a newline for so many bytes.
func endless(size int64) io.Reader { return io.LimitReader(zeros{}, size) }

type zeros struct{}

func (zeros) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], manyZeros)
	}
	return n, nil
}

var manyZeros = strings.Repeat("0", 4<<10)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestOversizedLinesAreSkippedInConstantMemory(t *testing.T) {
	conn := transport.NewStream(reading(endless(64<<20)), &transport.StreamOptions{MaxMessageBytes: 256 << 10})
	defer conn.Close()
	bytes := allocated(func() {
		m, err := conn.Receive(context.Background())
		require.NoError(t, err)
		assert.ErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
	})
	assert.Less(t, bytes, uint64(2<<20))
}

// slowly hands out at most so many bytes a read.
type slowly struct {
	io.Reader
	size int
}

func (s slowly) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.size)]) }

func TestALongLineInManyReadsIsCopiedOnce(t *testing.T) {
	const size = 64 << 20
	quote := func() io.Reader { return strings.NewReader(`"`) }
	src := slowly{io.MultiReader(quote(), endless(size), quote()), 4 << 10}
	conn := transport.NewStream(reading(src), &transport.StreamOptions{MaxMessageBytes: 2 * size})
	defer conn.Close()
	bytes := allocated(func() {
		m, err := conn.Receive(context.Background())
		require.NoError(t, err)
		assert.ErrorContains(t, m.Fault, "found a string")
	})
	assert.Less(t, bytes, uint64(size*5/2), "the chunks and the message, nothing more")
}

func TestMessagesDoNotShareMemory(t *testing.T) {
	got := receivedFrom(t, `{"id":1,"result":"aaaa"}`+"\n"+`{"id":2,"result":"bbbb"}`+"\n", nil)
	assert.Equal(t, json.RawMessage(`"aaaa"`), got[0].Result)
	assert.Equal(t, json.RawMessage(`"bbbb"`), got[1].Result)
}

func TestTheEndOfTheStreamSaysSo(t *testing.T) {
	text := strings.NewReader(`{"method":"a"}` + "\n" + `{"method":"b"}`)
	conn := transport.NewStream(reading(text), &transport.StreamOptions{Name: "unix"})
	defer conn.Close()
	assert.Equal(t, "unix", conn.Traits().Name)
	for range 2 {
		_, err := conn.Receive(context.Background())
		require.NoError(t, err)
	}
	for range 2 {
		_, err := conn.Receive(context.Background())
		assert.ErrorIs(t, err, io.EOF)
		assert.NotErrorIs(t, err, transport.ErrClosed)
		assert.EqualError(t, err, "unix: the peer ended the stream: EOF")
	}
}

// Who waits for an answer that was cut off learns why the stream ended, and not that half a message is none.
func TestAnAnswerThatIsCutOffIsNobodys(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	for n := 1; n < len(answer); n++ {
		got := receivedFrom(t, answer[:n], nil)
		require.Len(t, got, 1)
		assert.Error(t, got[0].Fault)
		assert.False(t, got[0].ID.IsValid(), "%d bytes", n)
	}
	assert.True(t, receivedFrom(t, answer[:len(answer)-1]+"\n", nil)[0].ID.IsValid(), "a line that came to its end")
}

// failing returns its text together with an error.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, f.err
}

func TestReadErrorsComeAfterWhatWasRead(t *testing.T) {
	broken := errors.New("broken")
	conn := transport.NewStream(reading(&failing{`{"method":"a"}` + "\n" + `{"method":"b"}` + "\n", broken}), nil)
	defer conn.Close()
	for _, want := range []string{"a", "b"} {
		m, err := conn.Receive(context.Background())
		require.NoError(t, err)
		assert.Equal(t, want, m.Method)
	}
	_, err := conn.Receive(context.Background())
	assert.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "stream: broken")
}

func TestAReaderThatReturnsNothingEnds(t *testing.T) {
	conn := transport.NewStream(reading(&failing{}), nil)
	defer conn.Close()
	_, err := conn.Receive(context.Background())
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

func methods(all []*transport.Message) []string {
	var names []string
	for _, m := range all {
		names = append(names, m.Method)
	}
	return names
}
