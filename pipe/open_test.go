package pipe_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/pipe"
	"github.com/seed62b61957/mcp/transport"
)

func TestOpenThatFails(t *testing.T) {
	refused := errors.New("refused")
	p := newProgram()
	for _, left := range []*pipe.Process{nil, &p.Process} {
		tr := &pipe.Transport{Open: func(context.Context) (*pipe.Process, error) { return left, refused }}
		_, err := tr.Connect(t.Context())
		assert.ErrorIs(t, err, refused)
		assert.EqualError(t, err, "pipe: open: refused")
	}
	assert.Equal(t, []int{1, 1}, []int{p.kills, p.releases})
}

func TestOpenThatLacksSomething(t *testing.T) {
	for _, spoil := range []func(*pipe.Process){
		func(p *pipe.Process) { p.Stdin = nil },
		func(p *pipe.Process) { p.Stdout = nil },
		func(p *pipe.Process) { p.Kill = nil },
	} {
		p := newProgram()
		spoil(&p.Process)
		tr := &pipe.Transport{Open: func(context.Context) (*pipe.Process, error) { return &p.Process, nil }}
		_, err := tr.Connect(t.Context())
		assert.EqualError(t, err, "pipe: open: a process needs Stdin, Stdout and Kill")
		assert.Equal(t, 1, p.releases)
	}
	tr := &pipe.Transport{Open: func(context.Context) (*pipe.Process, error) { return nil, nil }}
	_, err := tr.Connect(t.Context())
	assert.Error(t, err)
}

func TestContextThatIsDoneOpensNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("not today")
	cancel(why)
	tr := &pipe.Transport{Open: func(context.Context) (*pipe.Process, error) { panic("it was opened") }}
	_, err := tr.Connect(ctx)
	assert.ErrorIs(t, err, why)
}

// A real program, by files that are used while they are closed.
func TestRealProgram(t *testing.T) {
	cat, err := exec.LookPath("cat")
	require.NoError(t, err)
	var released bool
	tr := &pipe.Transport{
		CloseTimeout: time.Minute,
		Open: func(context.Context) (*pipe.Process, error) {
			cmd := exec.Command(cat)
			theirs, stdin, err := os.Pipe()
			require.NoError(t, err)
			defer theirs.Close()
			stdout, theirOut, err := os.Pipe()
			require.NoError(t, err)
			defer theirOut.Close()
			cmd.Stdin, cmd.Stdout = theirs, theirOut
			release := func() error { released = true; return stdout.Close() }
			p := &pipe.Process{Stdin: stdin, Stdout: stdout, Wait: cmd.Wait, Release: release}
			p.Kill = func() error { return cmd.Process.Kill() }
			return p, cmd.Start()
		},
	}
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	assert.Equal(t, transport.Traits{Name: "pipe", SilentProbe: true}, conn.Traits())
	for id := range int64(10) {
		require.NoError(t, conn.Send(t.Context(), outgoing(id, "1")))
		m, err := conn.Receive(t.Context())
		require.NoError(t, err)
		assert.Equal(t, transport.IntID(id), m.ID)
	}
	require.NoError(t, conn.Close())
	assert.True(t, released)
}

func TestAMessageOverTheLimit(t *testing.T) {
	p := newProgram()
	conn := connect(t, p, pipe.Transport{MaxMessageBytes: 1000})
	go p.say(`{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 1000) + `"}` + "\n" + `{"method":"n"}` + "\n")
	m, err := conn.Receive(t.Context())
	require.NoError(t, err)
	assert.ErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
	assert.Equal(t, transport.IntID(7), m.ID)
	m, err = conn.Receive(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "n", m.Method)
	p.end(nil)
	assert.NoError(t, conn.Close())
}

func TestNoiseOnStderrStallsNothing(t *testing.T) {
	p := newProgram()
	conn := connect(t, p, pipe.Transport{Stderr: stuckWriter{t.Context()}})
	noise := make([]byte, 1<<20)
	_, err := p.stderr.Write(noise)
	require.NoError(t, err)
	go p.say(`{"jsonrpc":"2.0","method":"n"}` + "\n")
	m, err := conn.Receive(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "n", m.Method)
	p.end(nil)
	assert.NoError(t, conn.Close())
}

// stuckWriter takes nothing until the test is over.
type stuckWriter struct{ ctx context.Context }

func (s stuckWriter) Write([]byte) (int, error) { <-s.ctx.Done(); return 0, io.ErrClosedPipe }
