package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/pipe"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

const (
	playVar = "SSH_EXAMPLE_PLAY"
	// long is a period that no test waits for.
	long = 30 * time.Second
)

func TestMain(m *testing.M) {
	switch os.Getenv(playVar) {
	case "":
		leakcheck.Main(m)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		serve()
		time.Sleep(10 * time.Minute)
	default:
		serve()
	}
}

// serve is a server with a tool that tells the pid, and one that ends the server.
func serve() {
	server := &mcptest.Server{}
	object := json.RawMessage(`{"type":"object"}`)
	pid := &mcp.Tool{Name: "pid", Description: "Tells the process id.", InputSchema: object}
	server.AddTool(pid, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text(fmt.Sprint(os.Getpid())), nil
	})
	exit := &mcp.Tool{Name: "exit", Description: "Ends the server.", InputSchema: object}
	server.AddTool(exit, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "boom")
		os.Exit(3)
		return nil, nil
	})
	if err := server.ServeStdio(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect(t *testing.T, s *sshd, command string, closeTimeout time.Duration) (*mcp.Client, error) {
	t.Helper()
	addr, config, err := configure(s.keyFile, s.knownFile, s.target)
	require.NoError(t, err)
	tr := &pipe.Transport{Open: over(addr, config, command), CloseTimeout: closeTimeout}
	client, err := mcp.Connect(t.Context(), tr, nil)
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// farPid asks the server for its process id.
func farPid(t *testing.T, client *mcp.Client) (pid int) {
	t.Helper()
	result, err := client.CallTool(t.Context(), "pid", nil)
	require.NoError(t, err)
	_, err = fmt.Sscan(result.Text(), &pid)
	require.NoError(t, err)
	require.True(t, runs(pid))
	return pid
}

func runs(pid int) bool { return syscall.Kill(pid, 0) == nil }

func assertEnds(t *testing.T, pid int) {
	t.Helper()
	assert.Eventually(t, func() bool { return !runs(pid) }, long, 5*time.Millisecond, "the server still runs")
}

func TestRun(t *testing.T) {
	s := startSSHD(t)
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, s.keyFile, s.knownFile, s.target, command("server")))
	assert.Equal(t, "pid\tTells the process id.\nexit\tEnds the server.\n", out.String())
}

func TestCloseEndsTheServer(t *testing.T) {
	client, err := connect(t, startSSHD(t), command("server"), long)
	require.NoError(t, err)
	pid := farPid(t, client)
	started := time.Now()
	require.NoError(t, client.Close())
	assert.Less(t, time.Since(started), long, "it ends with its input")
	assertEnds(t, pid)
}

// Whether the server itself ends is up to sshd, which does not hand on signals as it is set up here (see over).
func TestCloseGivesUpServerThatIgnoresTheEndOfItsInput(t *testing.T) {
	client, err := connect(t, startSSHD(t), command("stubborn"), 100*time.Millisecond)
	require.NoError(t, err)
	pid := farPid(t, client)
	started := time.Now()
	require.NoError(t, client.Close())
	assert.Less(t, time.Since(started), long)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	assertEnds(t, pid)
}

func TestServerThatExitsInTheMiddleOfACall(t *testing.T) {
	client, err := connect(t, startSSHD(t), command("server"), long)
	require.NoError(t, err)
	_, err = client.CallTool(t.Context(), "exit", nil)
	assert.ErrorContains(t, err, "pipe: server ended: Process exited with status 3; stderr: boom")
	var exit *ssh.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 3, exit.ExitStatus())
}

func TestCommandThatIsMissingOverThere(t *testing.T) {
	_, err := connect(t, startSSHD(t), "no-such-command", long)
	assert.ErrorContains(t, err, "Process exited with status 127; stderr: ")
	assert.ErrorContains(t, err, "not found")
}

func TestHostThatIsNotKnown(t *testing.T) {
	s := startSSHD(t)
	write(t, s.knownFile, "")
	_, err := connect(t, s, command("server"), long)
	var unknown *knownhosts.KeyError
	assert.ErrorAs(t, err, &unknown)
}

// A host that accepts connections and says nothing.
func TestContextEndsTheHandshake(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	impatient := errors.New("impatient")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		conn, err := listener.Accept()
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		lines := bufio.NewReader(conn)
		_, _ = lines.ReadString('\n') // the client's version: the handshake has begun
		cancel(impatient)
		_, _ = lines.ReadString(0) // until the client hangs up
	}()
	config := &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()}
	_, err = (&pipe.Transport{Open: over(listener.Addr().String(), config, "server")}).Connect(ctx)
	assert.ErrorIs(t, err, impatient)
	<-gone
}
