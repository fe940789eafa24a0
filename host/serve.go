package host

import (
	"context"
	"time"
)

const (
	// minResync is how long the first of several changes waits for the others.
	minResync = 250 * time.Millisecond
	// maxResync is the pause for a server that keeps telling of changes from which nothing new comes.
	maxResync = 30 * time.Second
	// listening is how long a server of 2026-07-28 may take to notice that it was asked to tell of changes.
	listening = 2 * time.Second
)

// serve watches a connection, and keeps what the server offers up to date. It returns when the connection is to end,
// and why: the turn is over, it is lost, a call found it useless, or nobody uses it.
func (s *server) serve(sp *spec, conn *connection) error {
	w := watch{server: s, spec: sp, conn: conn, pause: minResync}
	w.plan(s.snapshot().ListErr)
	if w.due == nil && conn.mayMissChanges() {
		w.due = time.After(listening)
	}
	if sp.options.IdleStop > 0 {
		w.idle = time.After(sp.options.IdleStop)
	}
	for {
		var err error
		select {
		case <-conn.life.Done():
			err = context.Cause(conn.life)
		case <-conn.client.Done():
			err = conn.client.Err()
		case <-conn.changed:
			w.soon()
		case <-w.due:
			err = w.resync()
		case <-w.idle:
			err = w.checkIdle()
		}
		if err != nil {
			return err
		}
	}
}

// mayMissChanges reports whether the server may have changed a list after it was fetched, and before it was listened
// to. Since 2026-07-28 that is asked for by a request of its own, which is under way while the lists are fetched.
func (c *connection) mayMissChanges() bool {
	server := c.client.Server()
	offers := &server.Capabilities
	return server.Modern() && (offers.Tools != nil && offers.Tools.ListChanged ||
		offers.Prompts != nil && offers.Prompts.ListChanged ||
		offers.Resources != nil && offers.Resources.ListChanged)
}

// A watch is the state of serve. Its timers are nil while there is nothing to wait for.
type watch struct {
	server *server
	spec   *spec
	conn   *connection

	due     <-chan time.Time // when to fetch the lists again
	changes bool             // due is because of changes
	tries   backoff          // of fetching
	pause   time.Duration    // that changes wait for others
	fetched time.Time

	idle <-chan time.Time // when nobody may have used the connection for too long
}

// soon takes note of a change. Those that come until the lists are fetched are the same to it.
func (w *watch) soon() {
	w.tries = backoff{}
	if !w.changes {
		w.changes, w.due = true, time.After(w.pause)
	}
}

// resync fetches the lists. It returns an error only if that shows the connection to be useless.
func (w *watch) resync() error {
	changes := w.changes
	w.changes, w.due = false, nil
	news, err := w.server.sync(w.spec, w.conn)
	if err != nil && w.conn.useless(err) {
		return err
	}
	w.plan(err)
	switch {
	case news, time.Since(w.fetched) >= 2*maxResync:
		w.pause = minResync
	case changes:
		w.pause = min(2*w.pause, maxResync)
	}
	w.fetched = time.Now()
	return nil
}

// plan decides whether to fetch the lists again, by the error of the last time.
func (w *watch) plan(err error) {
	if err == nil || unfit(err) {
		return
	}
	w.tries.failed()
	if delay, ok := w.tries.next(err); ok {
		w.due = time.After(delay)
	}
}

// checkIdle ends the connection if nobody has used it for long enough, and else says when to look again.
func (w *watch) checkIdle() error {
	s, limit := w.server, w.spec.options.IdleStop
	s.mu.Lock()
	left := limit
	if s.users == 0 {
		left -= time.Since(s.used)
	}
	if left > 0 || s.conn != w.conn {
		s.mu.Unlock()
		w.idle = time.After(max(left, time.Millisecond))
		return nil
	}
	s.conn = nil
	s.set(Stopping, nil)
	s.announce()
	return errIdle
}
