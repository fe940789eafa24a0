package stdio_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() {
	plays["host"] = func() { playHost(false) }
	plays["host that takes all"] = func() { playHost(true) }
	plays["silent host"] = playSilentHost
}

// playHost is a host that starts a server which ignores the end of its input, and tells the test about it.
func playHost(endWithHost bool) {
	tr := server("ignore eof")
	tr.EndWithHost = endWithHost
	conn, err := tr.Connect(context.Background())
	if err != nil {
		panic(err)
	}
	hello, err := conn.Receive(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(string(hello.Params))
	forever()
}

// playSilentHost is a host that does all that can make a noise.
func playSilentHost() {
	conn, err := server("exit 3").Connect(context.Background())
	if err != nil {
		panic(err)
	}
	_ = conn.Send(context.Background(), outgoing(1, ""))
	_, _ = conn.Receive(context.Background())
	for range 3 {
		_ = conn.Close()
	}
	_ = conn.Send(context.Background(), outgoing(2, ""))
}

func hostCommand(play string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVar+"="+play, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func TestEndWithHost(t *testing.T) {
	for play, ends := range map[string]bool{"host": false, "host that takes all": true} {
		t.Run(play, func(t *testing.T) {
			host := hostCommand(play)
			stdout, err := host.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, host.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			var pid int
			_, err = fmt.Sscanf(line, `{"pid":%d}`, &pid)
			require.NoError(t, err)
			defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
			require.True(t, runs(pid))

			require.NoError(t, host.Process.Kill())
			_ = host.Wait()
			if ends {
				assert.Eventually(t, func() bool { return !runs(pid) }, long, time.Millisecond)
				return
			}
			assert.Never(t, func() bool { return !runs(pid) }, 2*short, short/5, "what the option is for")
		})
	}
}

func TestNothingIsPrintedByTheHost(t *testing.T) {
	host := hostCommand("silent host")
	var out bytes.Buffer
	host.Stdout, host.Stderr = &out, &out
	require.NoError(t, host.Run())
	assert.Empty(t, strings.TrimSpace(out.String()))
}
