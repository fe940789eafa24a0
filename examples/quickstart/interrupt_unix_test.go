//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ctrl-C in the middle of a call ends it, and the server, which does not get the signal itself.
func TestInterrupt(t *testing.T) {
	program, pidFile := build(t), filepath.Join(t.TempDir(), "pid")
	cmd := command(t, program, "--", "sh", "-c", `echo $$ >"$1"; exec "$0" -serve`, program, pidFile)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	var rest []string
	interrupted := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		switch {
		case interrupted:
			rest = append(rest, lines.Text())
		case strings.HasPrefix(lines.Text(), "  progress: 1 "):
			assert.NoError(t, cmd.Process.Signal(os.Interrupt))
			interrupted = true
		}
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 1, exit.ExitCode(), "it ends by itself, and not by the signal")
	assert.Contains(t, stderr.String(), `quickstart: mcp: tools/call "draw": interrupt signal received`)
	assert.NotContains(t, strings.Join(rest, "\n"), "The result")

	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	server, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.ErrorIs(t, syscall.Kill(server, 0), syscall.ESRCH, "the server is gone")
}
