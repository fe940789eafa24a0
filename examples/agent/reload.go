package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/seed62b61957/mcp/host"
)

const pollInterval = time.Second

// reloader makes the servers those of the file again when the file has changed, or on SIGHUP.
type reloader struct {
	path string
	host *host.Host
	out  *terminal
	last fileInfo

	hangup chan os.Signal
}

// newReloader takes SIGHUP from now on, which would end the program otherwise.
func newReloader(path string, last fileInfo, h *host.Host, out *terminal) *reloader {
	r := &reloader{path: path, host: h, out: out, last: last, hangup: make(chan os.Signal, 1)}
	if path != "" && len(hangups) > 0 { // Notify takes no signals for all signals
		signal.Notify(r.hangup, hangups...)
	}
	return r
}

// fileInfo tells a file from what it was; it is zero for one that is not there.
type fileInfo struct {
	changed time.Time
	size    int64
}

func fileState(path string) fileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return fileInfo{}
	}
	return fileInfo{info.ModTime(), info.Size()}
}

func (r *reloader) run(ctx context.Context) {
	defer signal.Stop(r.hangup)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
			r.reload(ctx)
		case <-tick.C:
			if fileState(r.path) != r.last {
				r.reload(ctx)
			}
		}
	}
}

// reload changes nothing unless all of the file is good: a typing mistake must not stop a server.
func (r *reloader) reload(ctx context.Context) {
	r.last = fileState(r.path) // before it is read, so that a change meanwhile is one
	servers, err := servers(r.path)
	if err == nil {
		err = apply(ctx, r.host, servers)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.out.printf("%s has changed, and the servers stay as they are: %v\n", r.path, err)
	default:
		r.out.printf("%s has changed, servers in it: %d\n", r.path, len(servers))
		showSkipped(r.host, r.out)
	}
}
