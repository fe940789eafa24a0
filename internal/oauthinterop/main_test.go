package oauthinterop

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// playVar makes the test binary play another process of the same program, with argVar for what it needs to know.
const (
	playVar = "OAUTHINTEROP_PLAY"
	argVar  = "OAUTHINTEROP_ARG"
)

func TestMain(m *testing.M) {
	if play, ok := plays[os.Getenv(playVar)]; ok {
		play(os.Getenv(argVar))
		os.Exit(0)
	}
	leakcheck.Main(m)
}

// playing returns a command that plays.
func playing(t *testing.T, play, arg string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), playVar+"="+play, argVar+"="+arg)
	return cmd
}

// exit ends a process that plays.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
