package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// A connection is a client with what the host keeps about it.
type connection struct {
	client  *mcp.Client
	since   time.Time
	changed chan struct{} // has a token when a list has changed
	// life ends with the turn, and when the connection turns out to be useless: its cause says why. What is under way
	// on it may go on.
	life context.Context
	cut  context.CancelCauseFunc

	calls   int           // under way; guarded by the server's mu
	retired bool          // no more calls are to begin; guarded likewise
	idle    chan struct{} // closed when it is retired and no call is under way
}

func newConnection(life context.Context) *connection {
	c := &connection{changed: make(chan struct{}, 1), idle: make(chan struct{})}
	c.life, c.cut = context.WithCancelCause(life)
	return c
}

// notice takes note that a list may have changed.
func (c *connection) notice() {
	select {
	case c.changed <- struct{}{}:
	default: // it is known already
	}
}

// retire says that no more calls are to begin. The server's mu is held.
func (c *connection) retire() {
	c.retired = true
	if c.calls == 0 {
		close(c.idle)
	}
}

// close ends the client, and returns when nothing is left of it.
func (c *connection) close() {
	c.cut(nil)
	_ = goexit.Run(c.client.Close) // by a transport of the application's
}

// connect makes one attempt, which runs much code of the application's.
func (s *server) connect(life context.Context, sp *spec) (conn *connection, err error) {
	err = goexit.Run(func() error {
		conn, err = s.attempt(life, sp)
		return err
	})
	return conn, err
}

// attempt makes one attempt: a connection, and what the server offers. Only an error that makes the connection useless
// is returned; a list that cannot be had is one of the status.
func (s *server) attempt(life context.Context, sp *spec) (*connection, error) {
	limit := fmt.Errorf("not connected within %v: %w", sp.options.ConnectTimeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(life, sp.options.ConnectTimeout, limit)
	defer cancel()
	t, err := s.host.transport(sp)
	if err != nil {
		return nil, err
	}
	conn := newConnection(life)
	if conn.client, err = mcp.Connect(ctx, t, s.host.clientOptions(sp, conn)); err != nil {
		conn.cut(nil)
		return nil, err
	}
	if _, err := s.sync(sp, conn); err != nil && conn.useless(err) {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// clientOptions are those of the application, with what the host needs itself.
func (h *Host) clientOptions(sp *spec, conn *connection) *mcp.Options {
	var o mcp.Options
	if h.options.Client != nil {
		o = h.options.Client(sp.config)
	}
	o.MaxPages = sp.options.MaxPages
	if o.Logger == nil {
		o.Logger = h.log.With(slog.String("server", sp.config.Name))
	}
	for _, on := range []*func(context.Context){&o.On.ToolsChanged, &o.On.PromptsChanged, &o.On.ResourcesChanged} {
		theirs := *on
		*on = func(ctx context.Context) {
			conn.notice()
			if theirs != nil {
				theirs(ctx)
			}
		}
	}
	return &o
}

// transport returns the way to a server.
func (h *Host) transport(sp *spec) (transport.Transport, error) {
	t, err := h.ownTransport(sp)
	if err != nil || h.options.Transport == nil {
		return t, err
	}
	return h.options.Transport(sp.config, t)
}

func (h *Host) ownTransport(sp *spec) (transport.Transport, error) {
	c := &sp.config
	switch {
	case c.Type == config.Stdio:
		return &stdio.Transport{Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Cwd}, nil
	case sp.isRemote():
		return h.remoteTransport(sp)
	case h.options.Transport != nil:
		return nil, nil
	}
	return nil, fmt.Errorf("there is no way to a server of the type %q", c.Type)
}

func (h *Host) remoteTransport(sp *spec) (transport.Transport, error) {
	t := &streamablehttp.Transport{URL: sp.config.URL, Header: make(http.Header, len(sp.config.Headers))}
	for name, value := range sp.config.Headers {
		t.Header.Set(name, value)
	}
	if sp.config.Type == config.SSE {
		t.LegacySSE = streamablehttp.LegacyOnly
	}
	if sp.hasCredentials() {
		return t, nil
	}
	authorizer, err := sp.authorizer()
	if err != nil {
		return nil, err
	}
	t.Authorizer = authorizer
	return t, nil
}

// useless reports whether an error of fetching the lists shows that the connection is good for nothing: it is lost, the
// server is not there or does not respond, or lets nobody in.
func (c *connection) useless(err error) bool {
	return c.client.Err() != nil || unreachable(err) || errors.Is(err, mcp.ErrNoResponse) || signInFor(err) != nil
}

// unreachable reports whether an error over HTTP shows that no request can be served now. That one request had no
// answer, or was one too many, does not.
func unreachable(err error) bool {
	var status *streamablehttp.StatusError
	if errors.As(err, &status) {
		return errors.Is(err, transport.ErrUnavailable) && status.StatusCode != http.StatusTooManyRequests
	}
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError // of a server that does not speak TLS
	return transport.SafeToRetry(err) && (errors.As(err, &op) || errors.As(err, &certificate) || errors.As(err, &record))
}

// doubtful reports whether an error of a call may be the server's fault or that of the call: there was no response, or
// a gateway gave up waiting for one.
func doubtful(err error) bool {
	status, ok := errors.AsType[*streamablehttp.StatusError](err)
	return ok && status.StatusCode == http.StatusGatewayTimeout || errors.Is(err, mcp.ErrNoResponse)
}

// stepUpFor returns the demand for a sign-in for more than there is so far, nil if err is none: others may do without.
func stepUpFor(err error) *oauth.SignInRequiredError {
	if required, ok := errors.AsType[*oauth.SignInRequiredError](err); ok && required.StepUp() {
		return required
	}
	return nil
}

// signInFor returns the demand for a sign-in without which the server cannot be used at all, nil if err is none.
func signInFor(err error) *oauth.SignInRequiredError {
	if required, ok := errors.AsType[*oauth.SignInRequiredError](err); ok && !required.StepUp() {
		return required
	}
	return nil
}
