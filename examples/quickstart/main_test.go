package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// The tests run the program as its users do: built, and as a process.
func TestProgram(t *testing.T) {
	program := build(t)

	t.Run("demo server", func(t *testing.T) {
		checkDemo(t, command(t, program))
	})
	t.Run("server given as a command", func(t *testing.T) {
		checkDemo(t, command(t, program, "--", program, "-serve"))
	})
	t.Run("missing command", func(t *testing.T) {
		stdout, stderr := failed(t, command(t, program, "--", "no-such-command-anywhere"))
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, `mcp: connect: stdio: command "no-such-command-anywhere": executable file not found`)
	})
	t.Run("server that exits", func(t *testing.T) {
		stdout, stderr := failed(t, command(t, program, "--", program, "-no-such-flag"))
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "server exited with status 2; stderr: flag provided but not defined: -no-such-flag")
	})
}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "quickstart")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// command has a limit, so that a program that hangs fails the test.
func command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, program, args...)
}

func checkDemo(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	assert.Empty(t, stderr.String())
	assert.Equal(t, `Connected to demo 1.0.0, protocol 2026-07-28.

Tools, as a model gets them (3):

{
  "name": "mcp__demo__draw",
  "description": "Draws a square in all shades of grey, row by row.",
  "parameters": {"type":"object","properties":{"size":{"type":"integer","minimum":2,"maximum":64,`+
		`"description":"side in pixels"}},"required":["size"]}
}

{
  "name": "mcp__demo__count_words_0068a94abf7d",
  "description": "Counts the words of a text.",
  "parameters": {"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}
}

{
  "name": "mcp__demo__now",
  "description": "Tells the time.",
  "parameters": {"type":"object","properties":{}}
}

Calling "draw" with {"size":5}
  progress: 1 of 5, drew row 1
  progress: 2 of 5, drew row 2
  progress: 3 of 5, drew row 3
  progress: 4 of 5, drew row 4
  progress: 5 of 5, drew row 5

The result, as a model gets it (2):

text: A grey square of 5 by 5 pixels.
image: image/png, 82 bytes
`, string(out))
}

func failed(t *testing.T, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &exit)
	assert.Equal(t, 1, exit.ExitCode())
	return out.String(), errs.String()
}
