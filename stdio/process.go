package stdio

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/nonblock"
	"github.com/seed62b61957/mcp/internal/procconn"
	"github.com/seed62b61957/mcp/internal/procgroup"
	"github.com/seed62b61957/mcp/internal/tail"
)

const (
	// orphanGrace bounds the time that the descendants of a server that ended by itself have after SIGTERM, as the
	// callers wait for the news.
	orphanGrace = 500 * time.Millisecond
	// stderrWait is how long the end of stderr is waited for after that of the server: somebody may hold on to it.
	stderrWait = 200 * time.Millisecond
	// flushWait is how long Close waits for the writer that the host wants stderr in.
	flushWait = 500 * time.Millisecond
)

// process is a running server. It is the byte stream that messages are framed on.
type process struct {
	cmd    *exec.Cmd
	group  *procgroup.Group
	pipes  pipes
	output output
	stderr *tail.Tail

	closing chan struct{} // closed when Close was called
	ended   chan struct{} // closed when the group is gone
	endErr  error

	discarding sync.WaitGroup
	cleaning   sync.Once
}

// supervise ends the group: when Close was called, or else when the server has exited.
func (p *process) supervise(closeGrace, killGrace time.Duration) {
	defer close(p.ended)
	select {
	case <-p.closing:
		p.endErr = p.group.End(closeGrace, killGrace)
	case <-p.group.Exited():
		p.output.interrupt()
		p.endErr = p.group.End(0, min(killGrace, orphanGrace))
	}
}

func (p *process) Read(b []byte) (int, error)  { return p.output.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.pipes.stdin.Write(b) }

// Nonblocking returns the ways to read and to write without a buffer and a goroutine that wait.
func (p *process) Nonblocking() (nonblock.LateReader, *nonblock.Writer) {
	direct := nonblock.NewWriter(p.pipes.stdin)
	if p.output.late = nonblock.NewReader(p.output.file); p.output.late == nil {
		return nil, direct
	}
	return &p.output, direct
}

// Close begins to end the server, and unblocks Read and Write. It is called once; Wait does the rest.
func (p *process) Close() error {
	p.output.release()
	p.discarding.Go(p.output.discard)
	err := p.pipes.stdin.Close()
	close(p.closing)
	return err
}

// Wait waits after Close until the server is gone and frees what belonged to it.
func (p *process) Wait() error {
	<-p.ended
	p.cleaning.Do(func() {
		procconn.WaitFor(p.stderr.Ended(), stderrWait)
		p.pipes.close()
		p.discarding.Wait()
		procconn.WaitFor(p.stderr.Flushed(), flushWait)
	})
	return p.endErr
}

// Exit waits for a server whose stream has ended, since the stream often ends first, and reports how it exited; nil if
// it runs on, or ctx ends while what it started is being ended.
func (p *process) Exit(ctx context.Context, limit time.Duration) error {
	if !procconn.WaitIn(ctx, p.group.Exited(), limit) {
		return nil
	}
	select {
	case <-p.group.Reaped():
	case <-ctx.Done():
		return nil
	}
	procconn.WaitIn(ctx, p.stderr.Ended(), stderrWait)
	return newExitError(p.group.WaitError(), p.stderr.Text())
}

// pipes are the standard files of a server: the host's ends, or the server's.
type pipes struct{ stdin, stdout, stderr *os.File }

// openPipes does without those of package exec, whose Wait closes them before they are read to their end.
func openPipes() (own, theirs pipes, err error) {
	var errs [3]error
	theirs.stdin, own.stdin, errs[0] = os.Pipe()
	own.stdout, theirs.stdout, errs[1] = os.Pipe()
	own.stderr, theirs.stderr, errs[2] = os.Pipe()
	if err = errors.Join(errs[:]...); err != nil {
		own.close()
		theirs.close()
	}
	return own, theirs, err
}

// close closes the files that are open.
func (p pipes) close() {
	for _, file := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = file.Close() // nil, or closed already: an error that does not matter
	}
}
