package streamablehttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed62b61957/mcp/transport"
)

// An outbound is one HTTP request, which may go out more than once.
type outbound struct {
	method  string
	target  *url.URL
	header  http.Header // all but credentials
	body    []byte
	refresh bool // whether somebody may be asked for credentials
}

// ownHeaders are set by the protocol or by the connection, and by nobody else.
var ownHeaders = map[string]bool{
	"Accept": true, "Content-Type": true, "Content-Length": true, "Last-Event-Id": true,
	headerSession: true, headerVersion: true, headerMethod: true, headerName: true,
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// protocolHeaders is how many headers of the protocol's own most requests have.
const protocolHeaders = 8

// userHeader copies what a user may set.
func userHeader(given map[string][]string) http.Header {
	if len(given) == 0 {
		return nil
	}
	h := make(http.Header, len(given))
	for name, values := range given {
		if name = http.CanonicalHeaderKey(name); !ownHeaders[name] && !strings.HasPrefix(name, headerParamPrefix) {
			h[name] = append([]string(nil), values...)
		}
	}
	return h
}

// headers returns the headers of a request. Those that a caller gave for it win over those for all.
func (c *conn) headers(s *session, version string, perCall map[string][]string) http.Header {
	h := make(http.Header, len(c.header)+len(perCall)+protocolHeaders)
	maps.Copy(h, c.header)
	maps.Copy(h, userHeader(perCall))
	s.setHeader(h, version)
	return h
}

// host is what stands in place of the URL's host, for a server that is told by its name from others at one address: the
// user's header of that name, or else the URL's.
func (o *outbound) host() string {
	if host := o.header.Get("Host"); host != "" {
		return host
	}
	return o.target.Host
}

// request makes one request of it. What code of the user's may change (an Authorizer, a Doer, a Jar that adds cookies)
// is to be a copy, since the request may go out again.
func (o *outbound) request(ctx context.Context, copied bool) *http.Request {
	req := &http.Request{
		Method: o.method,
		URL:    o.target,
		Host:   o.host(),
		Header: o.header,
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if copied {
		target := *o.target
		req.URL, req.Header = &target, o.header.Clone()
	}
	if o.body != nil {
		req.ContentLength = int64(len(o.body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
		req.Body, _ = req.GetBody() // net/http can repeat what never left
	}
	return req.WithContext(ctx)
}

// maxChallenges bounds how often a request is sent again because a challenge was met.
const maxChallenges = 2

// do sends a request: with credentials, again after a challenge that was met, and over redirects. It returns the
// response that is left, whatever its status.
func (c *conn) do(ctx context.Context, o outbound) (*reply, error) {
	challenges := 0
	for hops := 0; ; {
		r, again, err := c.once(ctx, &o)
		if err != nil {
			return nil, err
		}
		if again && challenges < maxChallenges {
			challenges++
			r.discard()
			continue
		}
		target, err := redirected(r.request, r.Response)
		if err == nil && target == nil {
			return r, nil
		}
		r.discard()
		if err != nil {
			return nil, err
		}
		if hops++; hops > maxRedirects {
			return nil, errRedirects
		}
		o.target = target
	}
}

// once sends a request and lets the Authorizer look at the response. Again says that it asks for another try.
func (c *conn) once(ctx context.Context, o *outbound) (r *reply, again bool, err error) {
	attempt, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	_, ours := c.doer.(*roundTripper)
	req := o.request(attempt, c.auth != nil || !ours)
	if c.auth != nil {
		if err := c.auth.Authorize(ctx, req, o.refresh); err != nil {
			return nil, false, transport.Unsent(fmt.Errorf("%s: authorize: %w", o.method, err))
		}
	}
	if ctx.Err() != nil {
		return nil, false, transport.Unsent(context.Cause(ctx)) // the Authorizer took its time
	}
	resp, err := c.doer.Do(req)
	if err != nil {
		return nil, false, sendFailed(o.method, err)
	}
	r = &reply{Response: resp, request: req, cancel: cancel}
	again, err = c.inspect(ctx, r, o.refresh)
	return r, again, err
}

func (c *conn) inspect(ctx context.Context, r *reply, refresh bool) (again bool, err error) {
	challenge := r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden
	if c.auth == nil || challenge && !refresh {
		return false, nil
	}
	again, err = c.auth.Inspect(ctx, r.request, r.Response)
	if err != nil {
		refused := r.statusError()
		refused.cause = err
		return false, refused
	}
	return again && refresh && r.StatusCode >= http.StatusBadRequest, nil
}
