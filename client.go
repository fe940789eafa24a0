package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/transport"
)

// A Client is a live connection to one server. All its methods may be called from any number of goroutines at once.
type Client struct {
	opts *Options
	log  *slog.Logger // never waits for the caller's handler
	conn transport.Conn
	// lends: a Receive can be ended without the connection.
	lends bool

	session atomic.Pointer[session] // what was negotiated; nil until then
	nextID  atomic.Int64
	heard   atomic.Int64 // counts the messages that came
	// logLevel is the last one that was set, nil if there is none. It goes with each request where a revision wants
	// that.
	logLevel atomic.Pointer[LogLevel]

	mu      sync.Mutex
	pending map[int64]*pendingCall
	spare   []*pendingCall // records of calls that are over
	hearing bool           // receive runs, or has ended
	turn    *turn          // nil if it is not lent
	err     error          // why the client has ended, and nothing is pending any more; nil while it lives
	closed  chan struct{}  // closed when the connection is; nil until somebody closes it

	requests lazy[requestServer]
	events   lazy[eventQueue]
	outbox   lazy[outbox]
	tools    lazy[toolIndex]
	renewal  lazy[renewal]
	legacy   lazy[legacyListeners]
	watches  lazy[watches]
	cache    *clientCache // nil if there is none
	// tasksUntold: the server does not tell of tasks.
	tasksUntold atomic.Bool

	life       atomic.Pointer[life]
	background sync.WaitGroup // the goroutines that run no code of the caller's
	closeErr   error          // set before closed is closed
}

// Connect reaches a server and agrees with it on a revision of the protocol. ctx bounds connecting only; the client
// lives on after it. On an error nothing is left behind, neither a process nor a connection, so that the error of a ctx
// that is done may come later than that by the time that the transport's Close takes (2.5 s for a child process that
// has to be killed).
//
// A nil Options is the zero one. Each request of the handshake is bounded by [Options].Timeout as well, which is short
// for a command that first downloads its program.
func Connect(ctx context.Context, t transport.Transport, o *Options) (*Client, error) {
	opts, err := o.resolved()
	if err == nil && t == nil {
		err = errors.New("there is no transport")
	}
	if err != nil {
		return nil, fmt.Errorf("mcp: connect: %w", err)
	}
	c, err := dial(ctx, t, opts, (*Client).negotiate)
	if errors.Is(err, errProbeKilled) && ctx.Err() == nil {
		opts.Logger.Info("the server ended when it was probed; starting it again without", slog.Any("error", err))
		c, err = dial(ctx, t, opts, (*Client).handshake)
	}
	if err != nil {
		return nil, fmt.Errorf("mcp: connect: %w", err)
	}
	c.keepAlive()
	c.watchLists()
	return c, nil
}

// dial makes a connection and begins on it in the way given.
func dial(
	ctx context.Context, t transport.Transport, opts *Options, begin func(*Client, context.Context) error,
) (*Client, error) {
	conn, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := newClient(conn, opts)
	if err := begin(c, ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func newClient(conn transport.Conn, opts *Options) *Client {
	c := &Client{
		opts:  opts,
		conn:  conn,
		cache: opts.Cache.join(),
	}
	traits := conn.Traits()
	c.lends = traits.Interruptible
	if c.log = opts.Logger; c.log != discarded {
		c.log = slog.New(queuedHandler{c.log.Handler(), new(logQueue)}).With(slog.String("transport", traits.Name))
	}
	if !traits.RequestStreams || traits.SilentProbe {
		c.hear()
	}
	return c
}

// hear begins to receive what no exchange owns. On bindings where each request has a stream of its own there is nothing
// of the kind before a legacy handshake, and never in a modern revision, so that an idle connection has no goroutine.
func (c *Client) hear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hearing && c.err == nil {
		c.hearing = true
		if c.lends {
			c.turn = newTurn() // whoever opens the connection is alone
		}
		c.background.Add(1)
		go c.receive()
	}
}

// errReceiveExited is made in advance: making it takes a larger stack than an idle connection needs.
var errReceiveExited = fmt.Errorf("receive: %w", goexit.Err)

// lost ends the client after the connection has ended, maybe on the other side only: what is left of it (a process) is
// not kept waiting for Close.
func (c *Client) lost(cause error) {
	if _, first := c.fail(&closedError{cause: cause}); first {
		c.endLife()
		c.log.Warn("connection lost", slog.Any("error", cause))
		go c.closeConn()
	}
}

// fail has every pending and later call fail with err. Only the first call counts. It returns the calls that the server
// may go on with.
func (c *Client) fail(err error) (abandoned []int64, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, false
	}
	for id, p := range c.pending {
		if !p.opening {
			abandoned = append(abandoned, id)
		}
	}
	c.err, c.pending = err, nil
	c.recall()
	return abandoned, true
}

// endLife ends all that runs in the background.
func (c *Client) endLife() {
	c.outbox.get().close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if life := c.life.Load(); life != nil {
		life.end()
	}
}

// closeConn closes the connection once, and waits for that; not for a lock, which would stop the clock of synctest.
func (c *Client) closeConn() error {
	c.mu.Lock()
	first := c.closed == nil
	if first {
		c.closed = make(chan struct{})
	}
	c.mu.Unlock()
	if first {
		defer close(c.closed)
		c.closeErr = goexit.Err
		c.closeErr = c.conn.Close()
		return c.closeErr
	}
	<-c.closed
	return c.closeErr
}

// Close ends the connection. Pending and later calls fail with [ErrClosed], and the ctx of every handler ends. It
// returns when the transport has cleaned up, which is bounded in time by the transport, and does not wait for handlers,
// so that a handler may call it. It may be called more than once.
//
// A server over HTTP outlives the connection. So it is first told, for half a second at most, which calls nobody waits
// for any longer.
func (c *Client) Close() error {
	over := c.Done() // from now on there is a life to end, under which the last notices are sent
	if abandoned, first := c.fail(&closedError{}); first {
		if c.conn.Traits().RequestStreams {
			c.part(abandoned)
		}
		c.endLife()
	}
	<-over
	err := c.closeConn()
	settled := make(chan struct{})
	go func() {
		c.background.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(closeSettle): // only for a transport that breaks its promise to unblock Receive and Send
		c.log.Error("the transport did not let go after Close")
	}
	if err != nil {
		return fmt.Errorf("mcp: close: %w", err)
	}
	return nil
}

const closeSettle = 2 * time.Second

// Done is closed when the client has ended: by Close, or because the connection was lost.
func (c *Client) Done() <-chan struct{} { return c.ctx().Done() }

// Err returns nil while the client lives, and then an error that matches [ErrClosed] and says why it ended.
func (c *Client) Err() error {
	if err := c.cause(); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// cause returns why the client has ended, nil while it lives.
func (c *Client) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// life is a context that ends with the client.
type life struct {
	ctx context.Context
	end context.CancelFunc
}

// ctx ends with the client, as everything does that runs in the background. It is made when it is first needed: an idle
// connection may never wait for its end.
func (c *Client) ctx() context.Context {
	if l := c.life.Load(); l != nil {
		return l.ctx
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.life.Load(); l != nil {
		return l.ctx
	}
	var l life
	l.ctx, l.end = context.WithCancel(context.WithValue(context.Background(), clientKey{}, c))
	if c.err != nil {
		l.end()
	}
	c.life.Store(&l)
	return l.ctx
}

type clientKey struct{}

// ClientFromContext returns the client that runs the handler which was given ctx, nil if ctx comes from elsewhere. A
// handler may run before Connect has returned.
func ClientFromContext(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}
