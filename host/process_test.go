package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

// child is a server that is a process of the test binary.
func child(name, play string) config.Server {
	return config.Server{
		Name: name, Type: config.Stdio, Command: os.Args[0],
		// The race detector lets a process linger for a second at its exit, unless told not to.
		Env: map[string]string{playVar: play, "GORACE": "atexit_sleep_ms=0"},
	}
}

// impatient ends processes that do not want to end soon.
func impatient(o *host.Options) {
	o.Transport = func(_ config.Server, t transport.Transport) (transport.Transport, error) {
		t.(*stdio.Transport).CloseGrace = 50 * time.Millisecond
		t.(*stdio.Transport).KillGrace = 50 * time.Millisecond
		return t, nil
	}
}

func processes(t *testing.T, list []config.Server, change ...func(*host.Options)) *host.Host {
	t.Helper()
	var o host.Options
	for _, f := range change {
		f(&o)
	}
	h := host.New(o)
	t.Cleanup(func() { closeHost(t, h) })
	require.NoError(t, h.Apply(t.Context(), list))
	return h
}

// A log collects what a host has to say.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) of(o *host.Options) { o.Logger = slog.New(slog.NewTextHandler(l, nil)) }

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *log) has(text string) bool { return strings.Contains(l.String(), text) }

func pid(t *testing.T, h *host.Host, server string) string {
	t.Helper()
	result, err := h.CallServerTool(t.Context(), server, "pid", nil)
	require.NoError(t, err)
	return result.Text()
}

func TestCrashedProcessIsStartedAgain(t *testing.T) {
	log := new(log)
	h := processes(t, []config.Server{child("a", "serve"), child("b", "serve")}, log.of)
	before, a, b := h.Catalog(), pid(t, h, "a"), pid(t, h, "b")
	_, err := h.CallTool(t.Context(), "mcp__a__crash", nil)
	assert.ErrorIs(t, err, mcp.ErrClosed)
	assert.ErrorContains(t, err, "status 3")
	require.Eventually(t, func() bool { return log.has("msg=recovered server=a") }, soon, 10*time.Millisecond)
	assert.True(t, log.has("msg=reconnecting server=a attempt=1"), log)
	assert.True(t, log.has("something is wrong"), log)
	assert.NotEqual(t, a, pid(t, h, "a"))
	assert.Equal(t, b, pid(t, h, "b"))
	assert.Same(t, before, h.Catalog())
}

func TestLostServerIsNotReadyWhileItsProcessEnds(t *testing.T) {
	h := processes(t, []config.Server{child("a", "serve stubbornly")}, impatient)
	_, err := h.CallTool(t.Context(), "mcp__a__mute", nil)
	require.ErrorIs(t, err, mcp.ErrClosed)
	require.Eventually(t, func() bool {
		err := echo(t, h, "a")
		var refused *host.StateError
		if errors.As(err, &refused) {
			assert.Equal(t, host.Reconnecting, refused.State)
		} else if err != nil {
			assert.ErrorIs(t, err, mcp.ErrClosed, "it was the first to notice")
		}
		return err == nil
	}, soon, time.Millisecond)
}

func TestProcessThatHangsHasALimit(t *testing.T) {
	h := processes(t, []config.Server{child("a", "hang")}, impatient,
		options(host.ServerOptions{ConnectTimeout: 200 * time.Millisecond, NoReconnect: true}))
	s := status(t, h, "a")
	assert.Equal(t, host.Failed, s.State)
	assert.ErrorIs(t, s.Err, context.DeadlineExceeded)
	assert.ErrorContains(t, s.Err, "not connected within 200ms")
}

func TestCommandThatIsMissing(t *testing.T) {
	h := processes(t, []config.Server{{Name: "a", Type: config.Stdio, Command: "no-such-command-anywhere"}})
	s := status(t, h, "a")
	assert.Equal(t, host.Reconnecting, s.State, "somebody may install it")
	assert.ErrorIs(t, s.Err, exec.ErrNotFound)
	assert.ErrorContains(t, s.Err, "no-such-command-anywhere")
}

func TestUnknownTypeOfServer(t *testing.T) {
	h := processes(t, []config.Server{{Name: "a", Type: "carrier pigeon"}})
	assert.ErrorContains(t, status(t, h, "a").Err, `there is no way to a server of the type "carrier pigeon"`)
}

// Whatever processes are doing, Close is the end of them: the check for what is left sees those that are not.
func TestCloseReapsEveryProcess(t *testing.T) {
	var list []config.Server
	for i := range 3 {
		for _, play := range []string{"serve", "serve slowly", "serve stubbornly", "hang", "exit"} {
			s := child(fmt.Sprintf("%s-%d", play, i), play)
			list = append(list, s)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond) // some are ready, some are not
	defer cancel()
	o := host.Options{}
	impatient(&o)
	h := host.New(o)
	defer closeHost(t, h)
	require.NoError(t, h.Apply(ctx, list))
	require.NoError(t, h.Apply(ctx, list[5:])) // and some are stopping
}

func TestRestartsUnderLoad(t *testing.T) {
	h := processes(t, []config.Server{child("a", "serve"), child("b", "serve")}, impatient)
	var over atomic.Bool
	var right, wrong atomic.Int64
	var load sync.WaitGroup
	for i := range 20 {
		load.Go(func() {
			for !over.Load() {
				ctx, cancel := context.WithTimeout(t.Context(), soon)
				want := fmt.Sprint(i)
				result, err := h.CallTool(ctx, fmt.Sprintf("mcp__%s__echo", []string{"a", "b"}[i%2]), text(want))
				cancel()
				var refused *host.StateError
				switch {
				case err == nil:
					assert.Equal(t, want, result.Text())
					right.Add(1)
				case errors.As(err, &refused), errors.Is(err, mcp.ErrClosed):
					wrong.Add(1)
				default:
					assert.NoError(t, err)
				}
				assert.Len(t, h.Catalog().Tools, 8)
			}
		})
	}
	for range 5 {
		require.NoError(t, h.Restart(t.Context(), "a"))
		pid(t, h, "a")
		require.NoError(t, h.Restart(t.Context(), "b"))
	}
	over.Store(true)
	load.Wait()
	assert.Positive(t, right.Load())
	t.Log(right.Load(), "calls were answered,", wrong.Load(), "were cut off")
}
