package stdio_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/stdio"
)

func TestMissingCommand(t *testing.T) {
	for name, want := range map[string]string{
		"no-such-command":        `stdio: command "no-such-command": ` + exec.ErrNotFound.Error(),
		"/no/such/command":       `stdio: command "/no/such/command": no such file`,
		"./no-such-command":      `stdio: command "./no-such-command": no such file`,
		"has a space and \"it":   `stdio: command "has a space and \"it": ` + exec.ErrNotFound.Error() + " (arguments belong in Args)",
		"/no/such/npx -y server": `stdio: command "/no/such/npx -y server": no such file (arguments belong in Args)`,
	} {
		_, err := (&stdio.Transport{Command: name, Args: []string{"--token=secret"}}).Connect(t.Context())
		assert.ErrorIs(t, err, exec.ErrNotFound)
		assert.EqualError(t, err, want)
	}
	_, err := new(stdio.Transport).Connect(t.Context())
	assert.EqualError(t, err, "stdio: no command")
}

func TestDir(t *testing.T) {
	tr := server("folder")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	tr.Dir = dir
	conn := connect(t, tr)
	send(t, conn, 1, "")
	var got string
	require.NoError(t, json.Unmarshal(mustReceive(t, conn).Result, &got))
	assert.Equal(t, dir, got)
}

func TestRelativeCommandIsRelativeToDir(t *testing.T) {
	tr := server("echo")
	tr.Dir = filepath.Dir(filepath.Dir(os.Args[0]))
	relative, err := filepath.Rel(tr.Dir, os.Args[0])
	require.NoError(t, err)
	tr.Command = relative
	conn := connect(t, tr)
	send(t, conn, 1, "1")
	assert.Equal(t, "1", string(mustReceive(t, conn).Result))
}

func TestDirThatIsNone(t *testing.T) {
	tr := server("echo")
	tr.Dir = filepath.Join(t.TempDir(), "missing")
	_, err := tr.Connect(t.Context())
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "stdio: working directory: ")

	tr.Dir = os.Args[0]
	_, err = tr.Connect(t.Context())
	assert.ErrorContains(t, err, "is not a directory")
}

func TestContextThatIsDoneStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("not today")
	cancel(why)
	tr := server("echo")
	tr.Prepare = func(*exec.Cmd) error { panic("it was prepared") }
	_, err := tr.Connect(ctx)
	assert.ErrorIs(t, err, why)

	ctx, cancel = context.WithCancelCause(t.Context())
	tr.Prepare = func(cmd *exec.Cmd) error { cancel(why); cmd.Path = "/would/fail/to/start"; return nil }
	_, err = tr.Connect(ctx)
	assert.ErrorIs(t, err, why)
}

func TestServerOutlivesTheContextOfConnect(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := server("echo").Connect(ctx)
	require.NoError(t, err)
	defer conn.Close()
	cancel()
	for id := range int64(3) {
		send(t, conn, id, "1")
		assert.Equal(t, "1", string(mustReceive(t, conn).Result))
	}
}

func TestPrepare(t *testing.T) {
	tr := server("exit 3")
	tr.Prepare = func(cmd *exec.Cmd) error {
		require.NotNil(t, cmd.SysProcAttr)
		cmd.Env = append(cmd.Env, playVar+"=echo") // the last one counts
		return nil
	}
	conn := connect(t, tr)
	send(t, conn, 1, "1")
	assert.Equal(t, "1", string(mustReceive(t, conn).Result))
}

func TestPrepareThatFails(t *testing.T) {
	tr := server("echo")
	why := errors.New("no jail")
	tr.Prepare = func(*exec.Cmd) error { return why }
	_, err := tr.Connect(t.Context())
	assert.ErrorIs(t, err, why)
	assert.EqualError(t, err, "stdio: prepare: no jail")

	tr.Prepare = func(cmd *exec.Cmd) error { cmd.Stderr = io.Discard; return nil }
	_, err = tr.Connect(t.Context())
	assert.EqualError(t, err, "stdio: prepare: the standard files belong to the transport")
}

func TestTransportConnectsAnew(t *testing.T) {
	tr := server("echo")
	for range 2 {
		conn := connect(t, tr)
		send(t, conn, 1, "1")
		assert.Equal(t, "1", string(mustReceive(t, conn).Result))
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("STDIO_TEST_SECRET", "hunter2")
	t.Setenv("LC_TEST", "C")
	tr := server("environment")
	for _, inherit := range []bool{false, true} {
		tr.InheritEnv = inherit
		conn := connect(t, tr)
		send(t, conn, 1, "")
		var got []string
		require.NoError(t, json.Unmarshal(mustReceive(t, conn).Result, &got))
		assert.Contains(t, got, "PATH="+os.Getenv("PATH"))
		assert.Contains(t, got, "LC_TEST=C")
		assert.Contains(t, got, playVar+"=environment")
		assert.Equal(t, inherit, slices.Contains(got, "STDIO_TEST_SECRET=hunter2"))
	}
}
