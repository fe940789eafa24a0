package host_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
)

// BenchmarkIdle measures what a server costs a host while nobody uses it: memory of the heap and of stacks, and
// goroutines. Servers are processes of their own, so that theirs does not count, and have four tools.
func BenchmarkIdle(b *testing.B) {
	b.Run("stdio", func(b *testing.B) { benchmarkIdle(b, idleProcesses(50), host.Ready, host.ServerOptions{}) })
	for _, era := range []string{"legacy", "modern"} {
		b.Run("http-"+era, func(b *testing.B) {
			benchmarkIdle(b, idleRemotes(b, 200, era), host.Ready, host.ServerOptions{})
		})
	}
	b.Run("lazy", func(b *testing.B) {
		benchmarkIdle(b, idleProcesses(200), host.Idle, host.ServerOptions{Lazy: true})
	})
	b.Run("asleep", func(b *testing.B) { // with their tools in the catalog
		benchmarkIdle(b, idleProcesses(50), host.Idle, host.ServerOptions{IdleStop: time.Millisecond})
	})
	b.Run("stopped", func(b *testing.B) {
		benchmarkIdle(b, idleProcesses(200), host.Stopped, host.ServerOptions{Lazy: true})
	})
}

func idleProcesses(n int) (list []config.Server) {
	for i := range n {
		list = append(list, child(fmt.Sprint("process-", i), "serve"))
	}
	return list
}

// idleRemotes starts a process that is all servers.
func idleRemotes(b *testing.B, n int, era string) (list []config.Server) {
	s, err := startHTTPServer(map[string]string{playVar: "serve over HTTP", httpEra: era, httpAddress: "127.0.0.1:0"})
	require.NoError(b, err)
	b.Cleanup(s.kill)
	for i := range n {
		name := fmt.Sprint("remote-", i)
		list = append(list, config.Server{Name: name, Type: config.HTTP, URL: "http://" + s.address + "/" + name})
	}
	return list
}

func benchmarkIdle(b *testing.B, list []config.Server, want host.State, o host.ServerOptions) {
	var bytes, goroutines float64
	for b.Loop() {
		before := footprint()
		h := host.New(host.Options{Server: func(config.Server) host.ServerOptions { return o }})
		settle(b, h, list, want)
		after := footprint()
		bytes += float64(after.bytes-before.bytes) / float64(len(list))
		goroutines += float64(after.goroutines-before.goroutines) / float64(len(list))
		closeHost(b, h)
	}
	b.ReportMetric(bytes/float64(b.N), "B/server")
	b.ReportMetric(goroutines/float64(b.N), "goroutines/server")
	b.ReportMetric(0, "ns/op") // which is about starting them
}

// settle brings all servers into a state.
func settle(b *testing.B, h *host.Host, list []config.Server, want host.State) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	require.NoError(b, h.Apply(ctx, list))
	if want == host.Stopped {
		for _, s := range list {
			require.NoError(b, h.Stop(ctx, s.Name))
		}
	}
	require.Eventually(b, func() bool {
		for _, s := range h.Status() {
			if s.State != want {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond)
}

type footprintOf struct{ bytes, goroutines int64 }

// footprint measures this process once it has come to rest.
func footprint() footprintOf {
	var m runtime.MemStats
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		runtime.GC() // what is pooled goes with the second one
	}
	runtime.ReadMemStats(&m)
	return footprintOf{int64(m.HeapAlloc + m.StackInuse), int64(runtime.NumGoroutine())}
}
