package interop

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A host is the process of a server that is reached over HTTP. Unlike one over stdio it lives until the test stops it.
type host struct {
	url    string
	t      *testing.T
	ends   bool // by itself, when its client has gone
	mark   string
	cmd    *exec.Cmd
	output *journal
	exited chan struct{}
}

// serve starts a server on a free port of the loopback interface, and waits until it listens.
func serve(t *testing.T, s server) *host {
	t.Helper()
	port := freePort(t)
	line := s.commandLine(t)
	for i := range line {
		line[i] = strings.ReplaceAll(line[i], "{port}", port)
	}
	mark, dir := newMark(), t.TempDir()
	h := &host{
		url: "http://" + address(port) + s.path, t: t, ends: s.ends, mark: mark,
		cmd: exec.Command(line[0], line[1:]...), output: &journal{}, exited: make(chan struct{}),
	}
	h.cmd.Dir = dir
	h.cmd.Env = append(os.Environ(), mark, "PORT="+port, "ADDRESS="+address(port))
	h.cmd.Stdout, h.cmd.Stderr = h.output, h.output
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.WaitDelay = time.Second // for what it left behind and what has its output open still
	require.NoError(t, h.cmd.Start())
	go func() {
		_ = h.cmd.Wait()
		close(h.exited)
	}()
	t.Cleanup(func() {
		h.stop()
		if t.Failed() {
			t.Logf("%s:\n%s", line, h.output)
		}
	})
	require.Eventually(t, func() bool { return listens(port) }, wait, 5*time.Millisecond, "nothing listens")
	return h
}

// stop ends the server, which must leave nothing behind. It may be called more than once.
func (h *host) stop() {
	h.t.Helper()
	if !h.ends {
		_ = h.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-h.exited:
	case <-time.After(wait):
		assert.Fail(h.t, "the server does not end")
	}
	if !assert.Eventually(h.t, func() bool { return len(marked(h.mark)) == 0 }, wait, 10*time.Millisecond) {
		h.t.Logf("processes are left: %s", marked(h.mark))
		_ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
		<-h.exited
	}
}

func address(port string) string { return net.JoinHostPort("127.0.0.1", port) }

// freePort is free at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", address("0"))
	require.NoError(t, err)
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

func listens(port string) bool {
	conn, err := net.Dial("tcp", address(port))
	if err == nil {
		conn.Close()
	}
	return err == nil
}
