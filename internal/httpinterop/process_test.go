package httpinterop

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process is a server that runs until the end of the test.
type process struct {
	command *exec.Cmd
	output  *journal
	exited  chan struct{} // closed when it has ended
}

// run starts a command and waits until something listens on the port.
func run(t testing.TB, port int, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{command: exec.Command(name, args...), output: &journal{}, exited: make(chan struct{})}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stdout, p.command.Stderr = p.output, p.output
	require.NoError(t, p.command.Start())
	go func() {
		_ = p.command.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Signal(os.Interrupt)
		select {
		case <-p.exited:
		case <-time.After(wait):
			t.Error(name, "does not end")
			_ = p.command.Process.Kill()
			<-p.exited
		}
		if t.Failed() {
			t.Logf("%s:\n%s", name, p.output)
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address(port))
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, wait, 10*time.Millisecond, "%s: nothing listens", name)
	return p
}

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// freePort is free at the moment.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// installed finds a file of the servers from npm.
func installed(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("MCP_INTEROP_SERVERS")
	require.NotEmpty(t, dir, "MCP_INTEROP_SERVERS is not set: run .ci/http, which installs the servers")
	file := filepath.Join(dir, name)
	require.FileExists(t, file)
	return file
}
