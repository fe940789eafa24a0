package faultproxy_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/faultproxy"
)

const inTheSecond = len("id: 1\ndata: one\n\nid: 2\nda")

func ends(e faultproxy.End, after int) faultproxy.Plan {
	return faultproxy.Always(faultproxy.Schedule{End: e, After: after})
}

func TestCutInTheMiddleOfAnEvent(t *testing.T) {
	w := dial(t, behind(t, ends(faultproxy.Cut, inTheSecond)))
	for range 2 { // the body is well-formed, so the connection lives on
		w.post("/stream")
		assert.Contains(t, w.head(), "Transfer-Encoding: chunked")
		texts, ended, err := w.chunks()
		require.NoError(t, err)
		assert.True(t, ended)
		assert.Equal(t, stream[:inTheSecond], strings.Join(texts, ""))
	}
}

func TestTruncateInTheMiddleOfAChunk(t *testing.T) {
	p := behind(t, ends(faultproxy.Truncate, inTheSecond))
	w := dial(t, p)
	w.post("/stream")
	w.head()
	texts, ended, err := w.chunks()
	assert.False(t, ended)
	assert.Equal(t, io.ErrUnexpectedEOF, err)
	assert.NotEmpty(t, texts[len(texts)-1], "a part of the last chunk")
	got := strings.Join(texts, "")
	assert.Greater(t, len(got), inTheSecond)
	assert.Less(t, len(got), len(stream))
	assert.Equal(t, stream[:len(got)], got)

	_, body, err := exchange(t, p, "/stream")
	assert.Equal(t, io.ErrUnexpectedEOF, err)
	assert.Equal(t, stream[:len(body)], body)
}

func TestHalfClose(t *testing.T) {
	w := dial(t, behind(t, ends(faultproxy.HalfClose, inTheSecond)))
	w.post("/stream")
	w.head()
	texts, ended, err := w.chunks()
	assert.False(t, ended)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, stream[:inTheSecond], strings.Join(texts, ""))
	for range 100 { // to a connection that is closed both ways, the second write fails
		_, err := w.Write(make([]byte, 1<<10))
		require.NoError(t, err)
	}
}

func TestReset(t *testing.T) {
	for _, after := range []int{faultproxy.BeforeRequest, faultproxy.BeforeHead, inTheSecond, 1000} {
		w := dial(t, behind(t, ends(faultproxy.Reset, after)))
		w.post("/stream")
		_, err := io.Copy(io.Discard, w)
		var op *net.OpError
		require.ErrorAs(t, err, &op, "not the end of the stream, which is no error here")
		assert.False(t, op.Timeout())
	}
}

func TestEndsBeforeTheBody(t *testing.T) {
	for _, end := range []faultproxy.End{faultproxy.Cut, faultproxy.Truncate, faultproxy.HalfClose, faultproxy.Reset} {
		for after, passed := range map[int]int{faultproxy.BeforeRequest: 0, faultproxy.BeforeHead: 1, 0: 1} {
			t.Run(faultproxy.Schedule{End: end, After: after}.String(), func(t *testing.T) {
				p := behind(t, ends(end, after))
				w := dial(t, p)
				w.post("/reply")
				got, err := io.ReadAll(w)
				assert.Equal(t, end == faultproxy.Reset, err != nil)
				assert.NotContains(t, string(got), "jsonrpc")
				if after != 0 {
					assert.Empty(t, got)
				} else if end != faultproxy.Reset { // which may overtake what was sent
					assert.Contains(t, string(got), "HTTP/1.1 200 OK\r\n")
				}
				assert.Equal(t, passed, p.Passed("POST"))
			})
		}
	}
}

func TestARequestIsReadBeforeItsConnectionIsClosed(t *testing.T) {
	w := dial(t, behind(t, ends(faultproxy.Cut, faultproxy.BeforeRequest)))
	const size = 100 << 10
	_, err := fmt.Fprintf(w, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size,
		strings.Repeat("x", size))
	require.NoError(t, err)
	got, err := io.ReadAll(w)
	require.NoError(t, err, "it would be reset")
	assert.Empty(t, got)
}

func TestABodyOfKnownLengthIsShort(t *testing.T) {
	for _, end := range []faultproxy.End{faultproxy.Cut, faultproxy.Truncate, faultproxy.HalfClose} {
		p := behind(t, ends(end, 10))
		resp, body, err := exchange(t, p, "/reply")
		assert.Equal(t, io.ErrUnexpectedEOF, err)
		assert.Equal(t, reply[:10], body)
		assert.EqualValues(t, len(reply), resp.ContentLength)
	}
}

func TestAnEndBehindTheBody(t *testing.T) {
	p := behind(t, ends(faultproxy.Truncate, 1000))
	w := dial(t, p)
	w.post("/stream")
	w.head()
	texts, ended, err := w.chunks()
	assert.False(t, ended, "the last chunk is missing, though all data is there")
	assert.Error(t, err)
	assert.Equal(t, stream, strings.Join(texts, ""))

	_, body, err := exchange(t, behind(t, ends(faultproxy.Cut, len(stream))), "/stream")
	require.NoError(t, err)
	assert.Equal(t, stream, body)
}

func TestDrip(t *testing.T) {
	w := dial(t, behind(t, faultproxy.Always(faultproxy.Schedule{Drip: 2})))
	w.post("/stream")
	w.head()
	texts, ended, err := w.chunks()
	require.NoError(t, err)
	assert.True(t, ended)
	assert.Equal(t, stream, strings.Join(texts, ""))
	for _, text := range texts {
		assert.LessOrEqual(t, len(text), 2)
	}
}
