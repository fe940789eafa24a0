package pipe_test

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/pipe"
	"github.com/seed62b61957/mcp/transport"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// A program is a server that the test plays, for faults and periods that no real one offers.
type program struct {
	stdin  *io.PipeReader
	stdout *io.PipeWriter
	stderr *io.PipeWriter

	pipe.Process
	end      func(error) // lets Wait return, and closes the output
	kills    int
	releases int
}

func newProgram() *program {
	p := new(program)
	p.stdin, p.Process.Stdin = io.Pipe()
	p.Process.Stdout, p.stdout = io.Pipe()
	p.Process.Stderr, p.stderr = io.Pipe()
	ended := make(chan error, 1)
	var once sync.Once
	p.end = func(err error) {
		once.Do(func() {
			_, _, _ = p.stdin.Close(), p.stdout.Close(), p.stderr.Close()
			ended <- err
		})
	}
	p.Process.Wait = func() error { return <-ended }
	p.Process.Kill = func() error { p.kills++; p.end(nil); return nil }
	p.Process.Release = func() error { p.releases++; return nil }
	return p
}

// obey ends the program with the end of its input, as a server should.
func (p *program) obey() {
	go func() {
		_, _ = io.Copy(io.Discard, p.stdin)
		p.end(nil)
	}()
}

func (p *program) say(text string) { _, _ = io.WriteString(p.stdout, text) }

func connect(t *testing.T, p *program, tr pipe.Transport) transport.Conn {
	t.Helper()
	tr.Open = func(context.Context) (*pipe.Process, error) { return &p.Process, nil }
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	return conn
}

func outgoing(id int64, params string) transport.Outgoing {
	m := &transport.Message{ID: transport.IntID(id), Method: "m", Params: json.RawMessage(params)}
	return transport.Outgoing{Message: m}
}
