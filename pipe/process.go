package pipe

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/procconn"
	"github.com/seed62b61957/mcp/internal/tail"
)

const (
	// callWait is how long a program may take to end after Kill was called, and how long Release may take.
	callWait = time.Second
	// drainWait is how long Stdout and Stderr may take to end after the program.
	drainWait = 200 * time.Millisecond
	// flushWait is how long Close waits for the writer that the host wants stderr in.
	flushWait = 500 * time.Millisecond
)

// process is an open process. It is the byte stream that messages are framed on.
type process struct {
	*Process
	output  *output
	stderr  *tail.Tail
	timeout time.Duration

	ended   chan struct{} // closed when the program has ended
	waitErr error         // of Wait, once ended is closed

	closing  chan struct{} // closed when Close was called
	cleaning sync.Once
	gone     chan struct{} // closed when all is freed
	closeErr error         // of Close, once gone is closed
}

func start(p *Process, stderr io.Writer, timeout time.Duration) *process {
	source := p.Stderr
	if source == nil {
		source = strings.NewReader("")
	}
	r := &process{
		Process: p,
		output:  startOutput(p.Stdout),
		stderr:  tail.Start(source, stderr),
		timeout: timeout,
		ended:   make(chan struct{}),
		closing: make(chan struct{}),
		gone:    make(chan struct{}),
	}
	go r.watch()
	return r
}

// watch notices the end of the program.
func (p *process) watch() {
	defer func() {
		close(p.ended)
		p.output.endAfterSilence(p.closing)
	}()
	if p.Process.Wait == nil {
		<-p.output.ended
		return
	}
	p.waitErr = goexit.Err
	p.waitErr = p.Process.Wait()
}

func (p *process) Read(b []byte) (int, error)  { return p.output.read.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.Stdin.Write(b) }

// Close begins to end the program, and unblocks Read. Wait does the rest. That of Stdin may have to send something, so
// it is not waited for; it unblocks Write.
func (p *process) Close() error {
	_ = p.output.read.Close()
	go func() { _ = p.Stdin.Close() }()
	close(p.closing)
	return nil
}

// Wait waits after Close until the program has ended, kills it if it does not, and frees what belonged to it.
func (p *process) Wait() error {
	<-p.closing
	p.cleaning.Do(func() { go p.clean() }) // not within Do: a caller that waits for a lock stops the clock of synctest
	<-p.gone
	return p.closeErr
}

func (p *process) clean() {
	defer close(p.gone)
	p.closeErr = errors.Join(p.end(), p.release())
}

// end reports an error only if the program cannot be ended: that of Kill may just say that it ended meanwhile.
func (p *process) end() error {
	if procconn.WaitFor(p.ended, p.timeout) {
		return nil
	}
	killed := call(p.Kill)
	if procconn.WaitFor(p.ended, callWait) {
		return nil
	}
	err := errors.New("the server was killed and has not ended")
	select {
	case killErr := <-killed:
		return errors.Join(err, killErr)
	default:
		return err
	}
}

func (p *process) release() error {
	procconn.WaitFor(p.stderr.Ended(), drainWait)
	procconn.WaitFor(p.output.ended, drainWait)
	procconn.WaitFor(p.stderr.Flushed(), flushWait)
	if p.Release == nil {
		return nil
	}
	timeout := time.NewTimer(callWait)
	defer timeout.Stop()
	select {
	case err := <-call(p.Release):
		return err
	case <-timeout.C:
		return errors.New("the function Release does not return")
	}
}

// call calls a function of the host, which may never return.
func call(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- goexit.Run(f) }()
	return result
}

// Exit tells how the program ended.
func (p *process) Exit(ctx context.Context, limit time.Duration) error {
	if !procconn.WaitIn(ctx, p.ended, limit) {
		return nil
	}
	procconn.WaitIn(ctx, p.stderr.Ended(), drainWait)
	exit := &ExitError{Err: p.waitErr, Stderr: p.stderr.Text()}
	if exit.Err == nil && procconn.IsDone(p.output.ended) {
		exit.Err = p.output.err
	}
	return exit
}
