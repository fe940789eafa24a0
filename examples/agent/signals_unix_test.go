//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noted is an entry for a demo server that writes its process id to a file.
func noted(t *testing.T, name, pidFile string) map[string]any {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return map[string]any{"command": "sh", "args": []string{
		"-c", `echo $$ >"$1"; echo "serving" >&2; exec "$0" -serve ` + name, self, pidFile}}
}

func isGone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the server is gone")
}

// Ctrl-C ends the turn, and then the program with its servers, which do not get the signal themselves.
func TestInterrupt(t *testing.T) {
	folder := t.TempDir()
	path, pidFile := filepath.Join(folder, "mcp.json"), filepath.Join(folder, "pid")
	writeConfig(t, path, map[string]any{"kitchen": noted(t, "kitchen", pidFile)})
	p := start(t, "-config", path, "-yes")
	p.until("kitchen: ready, 2 tools\n", "[kitchen] serving\n", "you> ")
	p.enter("Cook.")
	p.until("Do you want to answer? [y/N] ")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	assert.Contains(t, p.until("you> "), "agent: interrupted\n")

	p.enter("Again.") // the server goes on
	p.until("Do you want to answer? [y/N] ")
	p.enter("n")
	p.until(": 1 of 3, cutting\n")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	assert.Contains(t, p.until("you> "), "<- kitchen/cook: The user has interrupted this call.")
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	p.ended(0)
	isGone(t, pidFile)
}

func TestTermination(t *testing.T) {
	folder := t.TempDir()
	path, pidFile := filepath.Join(folder, "mcp.json"), filepath.Join(folder, "pid")
	writeConfig(t, path, map[string]any{"kitchen": noted(t, "kitchen", pidFile)})
	p := start(t, "-config", path, "Cook.")
	p.until("[y/N] ")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.ended(1)
	assert.Equal(t, "agent: interrupted\n", p.stderr.String())
	isGone(t, pidFile)
}

// A file that looks the same is read again when the user says so.
func TestHangup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeConfig(t, path, map[string]any{"kitchen": entry(t, "kitchen")})
	p := start(t, "-config", path)
	p.until("you> ")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.until("servers in it: 1\n")
	p.end(0)
}
