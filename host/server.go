package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/oauth"
)

// A server is one name of the host, through all that happens under it. What is to be is asked of it (ask, wake), and
// one goroutine makes it so (run), which there is only while the server is connected, or on its way to or from there.
//
// What is asked anew begins a turn: the one before ends first, and with it everything that it had begun. So nothing of
// a server that was stopped or changed is left when the next one starts.
type server struct {
	host *Host
	name string

	mu   sync.Mutex
	spec *spec
	up   bool // it is to run
	now  bool // it is to connect, even if it is lazy
	gone bool // it is to be forgotten

	turn  int // counts what was asked
	begun int // the turn that run is at
	todo  bool
	busy  bool               // run is running
	life  context.Context    // of the turn that has begun
	end   context.CancelFunc // ends it
	tries backoff            // only run uses it

	status   ServerStatus
	lost     time.Time     // when an outage began; zero if there is none
	conn     *connection   // nil unless it is ready
	users    int           // calls under way, and those that wait for their turn
	used     time.Time     // when there was the last one
	offering *offering     // what the server has in the catalog, nil for nothing
	listed   *offering     // what the catalog was told of
	changed  chan struct{} // closed and replaced when something of the above has changed
	down     chan struct{} // closed when the server cannot be used any more; nil while it cannot
	// draining are retired connections with calls under way. Only run adds to them and waits for them.
	draining  sync.WaitGroup
	forgotten chan struct{} // closed in the end
}

// errIdle ends a connection that nobody uses.
var errIdle = errors.New("idle")

func newServer(h *Host, name string, sp *spec) *server {
	s := &server{host: h, name: name, spec: sp, changed: make(chan struct{}), forgotten: make(chan struct{})}
	s.status = ServerStatus{Name: name, State: Stopped, Since: time.Now()}
	return s
}

// ask changes what is asked of the server, and returns the turn that this begins. The host's mu is held, so that
// nothing is asked of a server that is forgotten.
func (s *server) ask(change func()) (turn int) {
	s.mu.Lock()
	change()
	s.turn++
	if s.end != nil {
		s.end()
	}
	s.conn = nil
	if !s.runs() {
		s.offering = nil // at once, however long its end takes
	}
	switch state := s.status.State; {
	case state == Disabled, state == Stopped, state == Idle && s.runs(): // there is nothing to end
	default:
		s.set(Stopping, nil)
	}
	s.start()
	turn = s.turn
	s.announce()
	return turn
}

// start has run do what there is to do. s.mu is held.
func (s *server) start() {
	s.todo = true
	if !s.busy {
		s.busy = true
		go s.run()
	}
}

// run does what is asked until there is nothing to do. The server then stays as it is, without a goroutine.
func (s *server) run() {
	for {
		work, connect := s.next()
		if !work {
			return
		}
		if connect {
			s.live()
		}
	}
}

// next takes what there is to do. It decides whether to connect; everything else it does itself.
func (s *server) next() (work, connect bool) {
	s.mu.Lock()
	if s.life != nil && s.life.Err() != nil {
		s.mu.Unlock()
		s.draining.Wait()
		s.mu.Lock()
	}
	if !s.todo {
		s.busy = false
		s.mu.Unlock()
		return false, false
	}
	s.todo = false
	if s.begun != s.turn {
		s.begin()
	}
	if s.gone {
		s.announce()
		return !s.host.forget(s), false
	}
	connect = s.status.State == Connecting || s.status.State == Reconnecting
	s.announce()
	return true, connect
}

// begin begins a turn. s.mu is held, and nothing is left of the turn before.
func (s *server) begin() {
	s.begun = s.turn
	s.life, s.end = context.WithCancel(context.Background())
	s.tries, s.lost = backoff{}, time.Time{}
	s.status.ListErr = nil
	switch {
	case s.spec.config.Disabled:
		s.set(Disabled, nil)
	case !s.up || s.gone:
		s.set(Stopped, nil)
	case s.spec.options.Lazy && !s.now:
		s.set(Idle, nil)
	default:
		s.set(Connecting, nil)
	}
}

// live connects, and connects again, until the turn ends or there is nothing to do until somebody asks for it.
func (s *server) live() {
	s.mu.Lock()
	life, sp := s.life, s.spec
	s.mu.Unlock()
	for again := true; again; {
		conn, err := s.connect(life, sp)
		if err == nil && s.ready(life, conn) {
			err = s.serve(sp, conn)
		}
		s.count(conn, err)
		again = s.decide(life, sp, conn, err)
		if conn != nil {
			s.finish(life, conn)
		}
		if err == errIdle {
			s.rest(life)
		}
		again = again && s.pause(life)
	}
}

// count takes note of an attempt that failed, or of a connection that has ended.
func (s *server) count(conn *connection, err error) {
	switch {
	case conn == nil:
		s.tries.failed()
	case err == errIdle:
		s.tries = backoff{}
	default:
		s.tries.lost(time.Since(conn.since))
	}
}

// ready lets calls use a connection. It reports false if the turn is over.
func (s *server) ready(life context.Context, conn *connection) bool {
	s.mu.Lock()
	if life.Err() != nil {
		s.mu.Unlock()
		return false
	}
	recovered := s.lost
	s.lost = time.Time{}
	conn.since, s.used = time.Now(), time.Now()
	s.conn = conn
	s.set(Ready, nil)
	s.status.SignIn = stepUpFor(s.status.ListErr)
	s.status.Info = conn.client.Server()
	s.announce()
	if !recovered.IsZero() {
		s.log(slog.LevelInfo, "recovered", slog.Duration("after", time.Since(recovered)))
	}
	return true
}

// finish closes a connection: at once, unless it lives and calls are under way on it. Those go on as long as the turn
// does. When it returns, or in the end the wait for draining, the server's process is gone.
func (s *server) finish(life context.Context, conn *connection) {
	select {
	case <-conn.idle:
	case <-life.Done():
	case <-conn.client.Done():
	default:
		s.draining.Go(func() {
			select {
			case <-conn.idle:
			case <-life.Done():
			case <-conn.client.Done():
			}
			conn.close()
		})
		return
	}
	conn.close()
}

// decide says what follows after an attempt that failed, or a connection that has ended and that no call gets any more.
// It reports whether to connect again.
func (s *server) decide(life context.Context, sp *spec, conn *connection, err error) bool {
	s.mu.Lock()
	if conn != nil {
		s.conn = nil
		conn.retire()
	}
	// To connect, a sign-in for more than there is so far is needed as much as the first one.
	required, demanded := errors.AsType[*oauth.SignInRequiredError](err)
	var refused *oauth.RefusedError
	switch {
	case life.Err() != nil, err == errIdle:
		s.mu.Unlock()
		return false
	case demanded:
		s.set(NeedsSignIn, err)
		s.status.SignIn = required
		s.announce()
		return false
	case sp.options.NoReconnect:
		s.fail(err, s.offering)
		return false
	case errors.As(err, &refused):
		s.fail(err, nil)
		return false
	}
	delay, ok := s.tries.next(err)
	if !ok {
		s.fail(err, nil)
		return false
	}
	if s.lost.IsZero() {
		s.lost = time.Now()
	}
	s.set(Reconnecting, err)
	attempt, again := s.tries.waits, !s.onDemand()
	s.status.Attempt, s.status.Next = attempt, time.Now().Add(delay)
	s.announce()
	s.log(slog.LevelWarn, "reconnecting",
		slog.Int("attempt", attempt), slog.Duration("in", delay), slog.Any("error", err))
	return again
}

// rest leaves the server alone until it is used.
func (s *server) rest(life context.Context) {
	s.mu.Lock()
	if life.Err() != nil {
		s.mu.Unlock()
		return
	}
	s.set(Idle, nil)
	s.announce()
}

// pause waits for the next attempt of an outage. It reports false if the turn is over.
func (s *server) pause(life context.Context) bool {
	s.mu.Lock()
	next := s.status.Next
	s.mu.Unlock()
	select {
	case <-life.Done():
		return false
	case <-time.After(time.Until(next)):
	}
	s.mu.Lock()
	if life.Err() != nil {
		s.mu.Unlock()
		return false
	}
	s.status.Next = time.Time{}
	s.announce()
	return true
}

// fail gives the server up. s.mu is held, and is unlocked.
func (s *server) fail(err error, remains *offering) {
	s.set(Failed, err)
	s.offering = remains
	s.announce()
	s.log(slog.LevelError, "failed", slog.Any("error", err))
}

// onDemand reports whether the next attempt of an outage waits until somebody needs the server: there is no use in
// knocking at the door of a server at a URL for nobody. What it offers has to be known, or nobody would ever ask.
func (s *server) onDemand() bool { return s.spec.isRemote() && s.offering != nil }

// wake connects a server that waits to be used. s.mu is held.
func (s *server) wake() {
	if s.status.State == Idle {
		s.set(Connecting, nil)
	}
	s.status.Next = time.Time{}
	s.start()
}

// set puts the server in a state. s.mu is held.
func (s *server) set(state State, err error) {
	if s.status.State != state {
		s.status.Since = time.Now()
	}
	s.status.State, s.status.Err, s.status.SignIn = state, err, nil
	s.status.Attempt, s.status.Next = 0, time.Time{}
}

// announce unlocks s.mu and lets everybody know that something has changed. Nobody sees the new state beside the old
// catalog.
func (s *server) announce() {
	if s.listed != s.offering {
		s.listed = s.offering
		s.host.catalog.offer(s.name, s.offering)
	}
	close(s.changed)
	s.changed = make(chan struct{})
	if usable := s.usable(); usable && s.down == nil {
		s.down = make(chan struct{})
	} else if !usable && s.down != nil {
		close(s.down)
		s.down = nil
	}
	s.mu.Unlock()
	s.host.feed.mark(s.name)
}

// runs reports whether the server is to run. s.mu is held.
func (s *server) runs() bool { return s.up && !s.gone && !s.spec.config.Disabled }

// onItsWay reports whether something is under way that will tell whether the server is ready. s.mu is held.
func (s *server) onItsWay() bool {
	if s.begun != s.turn {
		return s.runs()
	}
	switch s.status.State {
	case Connecting, Stopping: // which it is here to become idle
		return true
	case Reconnecting:
		return s.status.Next.IsZero()
	}
	return false
}

// settled reports whether something has come of a turn. s.mu is held.
func (s *server) settled(turn int) bool { return s.begun >= turn && !s.onItsWay() }

// wait waits for a condition, which is asked with s.mu held.
func (s *server) wait(ctx context.Context, ok func() bool) error {
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ended(ctx)
		}
	}
}

// snapshot is the server's status.
func (s *server) snapshot() ServerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Type = s.spec.config.Type
	if o := s.offering; o != nil {
		status.Tools, status.Prompts = len(o.tools), len(o.prompts)
		status.Resources, status.Templates = len(o.resources), len(o.templates)
	}
	return status
}

// failure is why the server cannot be used as it is. s.mu is held.
func (s *server) failure() *StateError {
	st := &s.status
	return &StateError{Server: s.name, State: st.State, Attempt: st.Attempt, Next: st.Next, Err: st.Err}
}

func (s *server) log(level slog.Level, what string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("server", s.name)}, attrs...)
	_ = goexit.Run(func() error {
		s.host.log.LogAttrs(context.Background(), level, what, attrs...)
		return nil
	})
}
