package streamablehttp_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// exitingOn returns a Doer that ends its goroutine at requests of a method.
func exitingOn(method string) doer {
	return func(req *http.Request) (*http.Response, error) {
		if req.Method == method {
			runtime.Goexit()
		}
		return http.DefaultClient.Do(req)
	}
}

func TestADoerThatEndsTheGoroutineOfTheStream(t *testing.T) {
	f := newFake(t)
	tr := &streamablehttp.Transport{URL: f.url, Client: exitingOn("GET")}
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	go func() {
		c := &client{t: t, conn: conn}
		c.handshake()
	}()
	m, err := conn.Receive(t.Context())
	require.NoError(t, err)
	assert.ErrorIs(t, m.Fault, transport.ErrUnheard)
	assert.ErrorContains(t, m.Fault, "Goexit")
}

func TestADoerThatEndsTheGoroutineOfClose(t *testing.T) {
	f := newFake(t)
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = exitingOn("DELETE") })
	assert.ErrorContains(t, c.conn.Close(), "Goexit")
}

func TestABodyThatEndsTheGoroutineOfALegacyStream(t *testing.T) {
	f := newLegacyFake(t)
	tr := &streamablehttp.Transport{URL: f.url, LegacySSE: streamablehttp.LegacyOnly}
	tr.Client = doer(func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body = &exitingBody{ReadCloser: resp.Body}
		}
		return resp, err
	})
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Receive(context.Background())
	require.ErrorContains(t, err, "Goexit")
}

// exitingBody ends the goroutine of its second Read.
type exitingBody struct {
	io.ReadCloser
	reads int
}

func (b *exitingBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads > 1 {
		runtime.Goexit()
	}
	return b.ReadCloser.Read(p)
}
