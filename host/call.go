package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// callTool calls a tool under the name that its server has for it.
func (h *Host) callTool(
	ctx, scope context.Context, name, tool string, args any, opts []mcp.CallOption,
) (result *mcp.CallToolResult, err error) {
	s := h.server(name)
	if s == nil {
		return nil, wrap(transport.Unsent(&NotFoundError{Server: name, Generation: h.Catalog().Generation}))
	}
	approved, err := s.admit(ctx, tool, args)
	if err != nil {
		return nil, wrap(transport.Unsent(err))
	}
	err = s.use(ctx, scope, approved, func(ctx context.Context, c *mcp.Client, sp *spec) error {
		if err := s.check(tool, approved); err != nil {
			return transport.Unsent(err)
		}
		result, err = c.CallTool(ctx, tool, args, sp.callOptions(opts)...)
		return err
	})
	if err != nil {
		return nil, s.wrap(err)
	}
	return result, nil
}

// callOptions puts what the configuration says before what the caller says.
func (sp *spec) callOptions(opts []mcp.CallOption) []mcp.CallOption {
	if sp.config.Timeout <= 0 {
		return opts
	}
	return slices.Insert(slices.Clone(opts), 0, mcp.WithTimeout(sp.config.Timeout))
}

// use gives a client of the server to do, once it is its turn. Errors of what comes before that are safe to retry: do
// was not called. ctx ends soon after the scope has, but not at the same moment, and a call whose turn comes because
// another one of the scope gave up must not be made.
func (s *server) use(
	ctx, scope context.Context, approved *approval, do func(context.Context, *mcp.Client, *spec) error,
) error {
	s.enter()
	defer s.leave()
	sp, conn, err := s.admission(ctx, approved)
	if err != nil {
		return transport.Unsent(err)
	}
	defer s.release(sp, conn)
	if scope.Err() != nil {
		return transport.Unsent(ended(scope))
	}
	if err = do(ctx, conn.client, sp); err != nil && !isOwn(err) {
		s.learn(conn, err)
	}
	return err
}

// enter counts a user of the server, so that it is not idle.
func (s *server) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

func (s *server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	s.used = time.Now()
}

// admission waits for the caller's turn and for a connection, both of the same spec: a server that has another one has
// other limits, and is not busy with what was asked of the one before. A call that was approved for that one is over.
func (s *server) admission(ctx context.Context, approved *approval) (*spec, *connection, error) {
	for {
		sp, err := s.takeSlot(ctx, approved)
		if err != nil {
			return nil, nil, err
		}
		conn, err := s.acquire(ctx, sp)
		if conn != nil {
			return sp, conn, nil
		}
		<-sp.slots
		if err != nil {
			return nil, nil, err
		}
	}
}

// takeSlot waits until it is the caller's turn: first come, first served. Nobody waits for the turn at a server that
// cannot be used.
func (s *server) takeSlot(ctx context.Context, approved *approval) (*spec, error) {
	for {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		s.mu.Lock()
		if !s.usable() {
			defer s.mu.Unlock()
			return nil, s.failure()
		}
		sp, down := s.spec, s.down
		s.mu.Unlock()
		if err := approved.covers(sp); err != nil {
			return nil, err
		}
		select {
		case sp.slots <- struct{}{}:
			if ctx.Err() == nil {
				return sp, nil
			}
			<-sp.slots
		case <-ctx.Done():
		case <-sp.replaced:
		case <-down: // nil for one that will be tried by whoever gets there first
		}
	}
}

// usable reports whether the server can be used, now or soon. s.mu is held.
func (s *server) usable() bool { return s.conn != nil || s.onItsWay() || s.asleep() }

// asleep reports whether the server connects as soon as somebody uses it. s.mu is held.
func (s *server) asleep() bool {
	switch s.status.State {
	case Idle:
		return true
	case Reconnecting:
		return s.onDemand() && !time.Now().Before(s.status.Next)
	}
	return false
}

// acquire returns a connection for a call. It waits for an attempt that is under way, and begins one where that was
// left to those who use the server; all who wait share it. Between attempts it fails at once. There is neither a
// connection nor an error if the server has another spec by now.
func (s *server) acquire(ctx context.Context, sp *spec) (*connection, error) {
	for {
		s.mu.Lock()
		switch {
		case s.spec != sp:
			s.mu.Unlock()
			return nil, nil
		case s.conn != nil:
			defer s.mu.Unlock()
			s.conn.calls++
			return s.conn, nil
		case s.onItsWay():
		case s.asleep():
			s.wake()
			s.announce()
			continue
		default:
			defer s.mu.Unlock()
			return nil, s.failure()
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ended(ctx)
		}
	}
}

// release gives back what admission gave.
func (s *server) release(sp *spec, conn *connection) {
	<-sp.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	conn.calls--
	if conn.retired && conn.calls == 0 {
		close(conn.idle)
	}
}

// learn draws conclusions from the error of a call. From here on nobody uses a connection that is good for nothing, so
// that a server that is away sees few calls, however many there are.
func (s *server) learn(conn *connection, err error) {
	s.mu.Lock()
	required := signInFor(err)
	switch {
	case s.conn != conn || conn.client.Err() != nil:
		s.mu.Unlock()
		return
	case required != nil:
		s.set(NeedsSignIn, err)
		s.status.SignIn = required
	case unreachable(err) && !doubtful(err):
		s.set(Reconnecting, err)
	default:
		s.learnMore(conn, err)
		return
	}
	s.conn = nil
	conn.cut(err)
	s.announce()
}

// learnMore draws conclusions from the error of a call on a connection that goes on. s.mu is held, and is unlocked.
func (s *server) learnMore(conn *connection, err error) {
	if required := stepUpFor(err); required != nil {
		s.status.SignIn = required
		s.announce()
		return
	}
	s.mu.Unlock()
	refusal, refused := errors.AsType[*mcp.RPCError](err)
	switch {
	case refused && (refusal.Code == mcp.CodeInvalidParams || refusal.Code == mcp.CodeMethodNotFound):
		conn.notice() // what was called may not be there any more, and not every server says so
	case doubtful(err):
		conn.notice() // if the lists have no response either, the server is away
	}
}

// An ownError is one that a host has returned. One that comes out of Use is that of a call of another server.
type ownError struct{ error }

func (e ownError) Unwrap() error { return e.error }

func isOwn(err error) bool {
	_, own := errors.AsType[ownError](err)
	return own
}

func wrap(err error) error { return ownError{fmt.Errorf("host: %w", err)} }

// wrap names the server, unless the error does so itself.
func (s *server) wrap(err error) error {
	var state *StateError
	var missing *NotFoundError
	var refused *RefusedError
	if !isOwn(err) && (errors.As(err, &state) || errors.As(err, &missing) || errors.As(err, &refused)) {
		return wrap(err)
	}
	return ownError{fmt.Errorf("host: server %q: %w", s.name, err)}
}
