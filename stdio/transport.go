package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/seed62b61957/mcp/internal/procconn"
	"github.com/seed62b61957/mcp/internal/procgroup"
	"github.com/seed62b61957/mcp/internal/tail"
	"github.com/seed62b61957/mcp/transport"
)

// The periods of Close, where a [Transport] sets none.
const (
	DefaultCloseGrace = 500 * time.Millisecond
	DefaultKillGrace  = 2 * time.Second
)

// A Transport starts a server each time that it is connected. It may be used by several goroutines, if none changes it.
type Transport struct {
	// Command is the program: a name that is looked up in the host's PATH (on Windows with PATHEXT, so that npx finds
	// npx.cmd), or a path. A path that is not absolute is relative to Dir.
	Command string
	Args    []string
	// Dir is the server's working directory; "" means the host's.
	Dir string

	// Env is laid over the variables that are taken from the host if they are there: PATH, HOME, USER, LOGNAME, SHELL,
	// TERM, TZ, TMPDIR, LANG, LANGUAGE, LC_*, XDG_*, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in upper and lower
	// case, SSL_CERT_FILE, SSL_CERT_DIR, NODE_EXTRA_CA_CERTS, and on Windows those that name the system's and the
	// user's folders, PATHEXT, COMSPEC, and the like.
	Env map[string]string
	// InheritEnv takes all of the host's variables instead.
	InheritEnv bool

	// Stderr gets what the server writes to its standard error. It is written from one goroutine. A writer that is slow
	// holds up nobody: more than 256 KiB that wait for it are dropped, which it is told in a line. One that fails gets
	// no more. Close waits up to half a second for it to take the rest.
	Stderr io.Writer

	// Prepare may change the command before it starts: credentials, limits, namespaces, a wrapper. Its SysProcAttr is
	// not nil. Stdin, Stdout and Stderr belong to the transport, and so does the process group; Context, Cancel and
	// WaitDelay have no effect. An error ends Connect.
	Prepare func(*exec.Cmd) error

	// MaxMessageBytes limits a received message; 0 means transport.DefaultMaxMessageBytes (16 MiB).
	MaxMessageBytes int

	// CloseGrace is how long Close waits after it closed the server's input, 0 means [DefaultCloseGrace]. KillGrace is
	// how long it then waits after SIGTERM, 0 means [DefaultKillGrace]. Below 0 there is no wait.
	CloseGrace, KillGrace time.Duration

	// EndWithHost ends a server that ignores the end of its input when the host dies, without Close: on Linux it is
	// sent SIGTERM, or the signal that Prepare sets as Pdeathsig. What it started is not, unless it sees to that. On
	// Windows the whole job always ends with the host. Elsewhere Connect fails with errors.ErrUnsupported.
	EndWithHost bool
}

var _ transport.Transport = (*Transport)(nil)

// Connect starts the server. It fails if ctx is done before that, or with an error that matches exec.ErrNotFound if
// there is no such command.
func (t *Transport) Connect(ctx context.Context) (transport.Conn, error) {
	p, err := t.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("stdio: %w", err)
	}
	return procconn.New(p, "stdio", t.MaxMessageBytes), nil
}

func (t *Transport) start(ctx context.Context) (*process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cmd, err := t.command()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // Prepare took its time
	}
	own, theirs, err := openPipes()
	if err != nil {
		return nil, err
	}
	defer theirs.close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs.stdin, theirs.stdout, theirs.stderr
	group, err := procgroup.Start(cmd, procgroup.Options{EndWithHost: t.EndWithHost})
	if err != nil {
		own.close()
		return nil, fmt.Errorf("start %q: %w", t.Command, explain(err, cmd.Path))
	}
	p := &process{
		cmd:     cmd,
		group:   group,
		pipes:   own,
		output:  output{file: own.stdout, exited: group.Exited()},
		stderr:  tail.Start(own.stderr, t.Stderr),
		closing: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	go p.supervise(period(t.CloseGrace, DefaultCloseGrace), period(t.KillGrace, DefaultKillGrace))
	return p, nil
}

// command returns the command as it is to be started, but for its standard files.
func (t *Transport) command() (*exec.Cmd, error) {
	path, err := lookUp(t.Command, t.Dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, t.Args...)
	cmd.Args[0] = t.Command
	cmd.Dir = t.Dir
	if cmd.Env, err = environment(t.Env, t.InheritEnv); err != nil {
		return nil, err
	}
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	if t.Prepare != nil {
		if err := t.Prepare(cmd); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		if cmd.Stdin != nil || cmd.Stdout != nil || cmd.Stderr != nil {
			return nil, errors.New("prepare: the standard files belong to the transport")
		}
	}
	return cmd, prepareLauncher(cmd)
}

func period(set, byDefault time.Duration) time.Duration {
	if set == 0 {
		return byDefault
	}
	return max(set, 0)
}
