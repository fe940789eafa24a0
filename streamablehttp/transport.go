package streamablehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// DefaultCloseTimeout bounds Close where a [Transport] sets nothing else.
const DefaultCloseTimeout = time.Second

// A Transport reaches a server at a URL. It may be used by several goroutines, if none changes it.
type Transport struct {
	// URL is the endpoint of the server, http or https.
	URL string

	// Client sends the requests; nil means one of the package's own (see the package's documentation). An *http.Client
	// is copied: redirects follow this package's policy, and its Timeout has no effect, since it would cut streams. Any
	// other Doer must return redirects as they are, and must honour the context of a request.
	Client Doer

	// Header is sent with every request. Host stands in place of the URL's, for a server behind a proxy that goes by
	// names. What the protocol and the connection set themselves is ignored: Accept, Content-Type, Content-Length,
	// Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Param-*, and the hop-by-hop
	// headers of RFC 9110, section 7.6.1.
	Header http.Header

	// Authorizer adds credentials to requests; nil means none.
	Authorizer Authorizer

	// MaxMessageBytes limits a received message; 0 means transport.DefaultMaxMessageBytes (16 MiB).
	MaxMessageBytes int

	// DisableGetStream does without the stream of what the server sends unasked. Most servers then have no way to tell
	// of changes.
	DisableGetStream bool

	// Reconnect says how streams that broke are taken up again.
	Reconnect Reconnect

	// CloseTimeout bounds Close, and so the DELETE that ends the session: 0 means [DefaultCloseTimeout].
	CloseTimeout time.Duration

	// LegacySSE says what to do about servers of the deprecated HTTP+SSE transport.
	LegacySSE LegacyMode
}

// A Doer sends one HTTP request, as *http.Client does. It may be called concurrently.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

var _ transport.Transport = (*Transport)(nil)

// Connect prepares a connection. It sends nothing, unless LegacySSE is [LegacyOnly]: then it waits for the server to
// name its endpoint.
func (t *Transport) Connect(ctx context.Context) (transport.Conn, error) {
	c, err := t.connect(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	return c, nil
}

func (t *Transport) connect(ctx context.Context) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	target, err := endpointURL(t.URL)
	if err != nil {
		return nil, err
	}
	c := t.newConn(target)
	if t.LegacySSE == LegacyOnly {
		if err := c.openLegacy(ctx, c.headers(nil, "", nil)); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// newConn copies what the transport says, with the defaults filled in.
func (t *Transport) newConn(target *url.URL) *conn {
	c := &conn{
		url:       target,
		header:    userHeader(t.Header),
		auth:      t.Authorizer,
		limit:     t.MaxMessageBytes,
		noGet:     t.DisableGetStream,
		reconnect: t.Reconnect.resolved(),
		closing:   t.CloseTimeout,
		mode:      t.LegacySSE,
	}
	c.doer, c.release = doer(t.Client)
	if c.limit <= 0 {
		c.limit = transport.DefaultMaxMessageBytes
	}
	if c.closing <= 0 {
		c.closing = DefaultCloseTimeout
	}
	return c
}

func endpointURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // without the URL, which may hold a secret
		}
		return nil, fmt.Errorf("URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("URL: not an absolute http or https URL")
	}
	return u, nil
}
