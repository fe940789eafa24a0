package main

import (
	"context"
	"sync"

	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/oauth"
)

// watcher tells the user what becomes of the servers, and where to sign in.
type watcher struct {
	host *host.Host
	out  *terminal

	seen   map[string]string // the latest line of each server
	signIn map[string]*oauth.SignInRequiredError
}

// run returns when ctx is done, and nobody is being signed in any more.
func (w *watcher) run(ctx context.Context) {
	var signIns sync.WaitGroup
	defer signIns.Wait()
	for event := range w.host.Events(ctx) {
		s := event.Status
		if event.Gone {
			delete(w.seen, s.Name)
			delete(w.signIn, s.Name)
			w.out.printf("%s: removed\n", s.Name)
			continue
		}
		w.see(s)
		if s.SignIn == nil || s.SignIn == w.signIn[s.Name] { // once for each demand
			continue
		}
		if w.signIn == nil {
			w.signIn = make(map[string]*oauth.SignInRequiredError)
		}
		w.signIn[s.Name] = s.SignIn
		signIns.Go(func() { w.signInTo(ctx, s.Name) })
	}
}

// see prints what is new about a server, unless it is on its way to something else.
func (w *watcher) see(s host.ServerStatus) {
	line := serverLine(s)
	if w.seen == nil {
		w.seen = make(map[string]string)
	}
	if w.seen[s.Name] == line {
		return
	}
	w.seen[s.Name] = line
	if s.State != host.Connecting && s.State != host.Stopping {
		w.out.printf("%s\n", line)
	}
}

func (w *watcher) signInTo(ctx context.Context, server string) {
	err := w.host.SignIn(ctx, server, func(url string) error {
		w.out.printf("To sign in to %s, open %s\n", server, url)
		return nil
	})
	if ctx.Err() == nil {
		w.out.complain(err)
	}
}
