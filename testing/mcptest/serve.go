package mcptest

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// Transport returns a transport that reaches the server in memory (see [Pipe]). Each connection is a session of its
// own.
func (s *Server) Transport() transport.Transport { return inMemory{s} }

type inMemory struct{ server *Server }

func (t inMemory) Connect(ctx context.Context) (transport.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	client, server := Pipe()
	go t.server.begin(server).run()
	return client, nil
}

// Connect connects a client to the server in memory, and closes it when the test ends. If that fails, the test does.
// Nil options are the zero ones.
func Connect(tb testing.TB, s *Server, o *mcp.Options) *mcp.Client {
	tb.Helper()
	client, err := mcp.Connect(tb.Context(), s.Transport(), o)
	if err != nil {
		tb.Fatalf("mcptest: %v", err)
	}
	tb.Cleanup(func() { client.Close() })
	return client
}

// Serve serves one client over a stream, a message a line (see [transport.NewStream]), and closes the stream in the
// end. It returns when the session is over and all its handlers have returned: nil when the client has gone, the cause
// of ctx when that is done, and otherwise what went wrong. When ctx is done, the client's subscriptions are ended in an
// orderly way first, which takes at most a second.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	session := s.begin(transport.NewStream(stream, nil))
	stop := context.AfterFunc(ctx, func() { session.shutdown(context.Cause(ctx)) })
	defer stop()
	err := session.run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// shutdownTimeout bounds the farewell to a client that may take no bytes.
const shutdownTimeout = time.Second

func (x *Session) shutdown(cause error) {
	ctx, cancel := context.WithTimeout(x.ctx, shutdownTimeout)
	defer cancel()
	_ = x.EndSubscriptions(ctx) // it was tried
	x.cancel(cause)
	_ = x.Close()
}

// ServeStdio serves the client that has started this process, over its standard input and output, until the input ends
// or ctx does (see [Server.Serve]). Nothing else may write to the output. When ctx ends first, a goroutine stays that
// reads the input, since that cannot be interrupted everywhere; the process is expected to exit then.
func (s *Server) ServeStdio(ctx context.Context) error {
	in, fed := io.Pipe()
	go func() {
		_, err := io.Copy(fed, os.Stdin)
		fed.CloseWithError(err)
	}()
	return s.Serve(ctx, stdio{in, os.Stdout})
}

type stdio struct {
	*io.PipeReader
	io.Writer
}
