package host_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A server that says when to come back is not asked sooner, whether it refused a call, an attempt to connect or a list.
func TestRetryAfter(t *testing.T) {
	for later, want := range map[string]float64{
		"":                 0.5,
		"0":                0.5,
		"-7":               0.5,
		"soon":             0.5,
		"20":               20,
		"3600":             30,
		"9223372036854775": 30,
		"date":             20,
	} {
		t.Run(later, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, f := atURL(t)
				if later == "date" {
					later = time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
				}
				f.set(func() { f.status, f.later = http.StatusServiceUnavailable, later })
				assert.Error(t, echo(t, h, "a"))
				synctest.Wait()
				assert.InDelta(t, want, time.Until(status(t, h, "a").Next).Seconds(), 0.1)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := &front{server: new(mcptest.Server), status: http.StatusTooManyRequests, later: "20"}
		addEcho(f.server)
		h := newWorld(t).host(f.inMemory)
		require.NoError(t, h.Apply(t.Context(), remote("http://127.0.0.1:1/mcp")))
		assert.Equal(t, 20*time.Second, time.Until(status(t, h, "a").Next), "to connect")
		f.set(func() { f.status = 0 })
		until(t, h, "a", host.Ready)

		time.Sleep(time.Minute)
		f.set(func() { f.status = http.StatusTooManyRequests })
		require.NoError(t, f.server.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(time.Second)
		assert.ErrorIs(t, status(t, h, "a").ListErr, transport.ErrUnavailable)
		_, requests := f.counts()
		f.set(func() { f.status = 0 })
		time.Sleep(19 * time.Second)
		_, now := f.counts()
		assert.Equal(t, requests, now)
		time.Sleep(time.Second)
		assert.NoError(t, status(t, h, "a").ListErr)
	})
}
