package host_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
)

// Code of the application's that ends its goroutine, as FailNow of a test does, is an attempt that failed.
func TestAFunctionThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		attempts := 0
		h := w.host(func(o *host.Options) {
			o.Client = func(config.Server) mcp.Options {
				if attempts++; attempts == 1 {
					runtime.Goexit()
				}
				return mcp.Options{}
			}
		})
		apply(t, h, "a")
		assert.ErrorContains(t, status(t, h, "a").Err, "Goexit")
		time.Sleep(time.Minute)
		assert.NoError(t, echo(t, h, "a"))
	})
}

func TestAnInterceptorThatEndsTheGoroutineOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		exits := true
		h := w.host(func(o *host.Options) {
			o.Client = func(config.Server) mcp.Options {
				return mcp.Options{Interceptors: []mcp.Interceptor{
					func(_ context.Context, x *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
						if x.Method == "tools/list" && exits {
							exits = false
							runtime.Goexit()
						}
						return nil, nil, nil
					},
				}}
			}
		})
		apply(t, h, "a")
		require.ErrorContains(t, status(t, h, "a").ListErr, "Goexit")
		time.Sleep(time.Minute)
		assert.Len(t, h.Catalog().Tools, 1, "the list is fetched again")
	})
}
