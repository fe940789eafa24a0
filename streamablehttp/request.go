package streamablehttp

import (
	"bytes"
	"context"
	"fmt"
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
	"Accept": true, "Content-Type": true, "Content-Length": true, "Host": true, "Last-Event-Id": true,
	headerSession: true, headerVersion: true, headerMethod: true, headerName: true,
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// userHeader copies what a user may set.
func userHeader(given map[string][]string) http.Header {
	h := make(http.Header, len(given)+5)
	for name, values := range given {
		if name = http.CanonicalHeaderKey(name); !ownHeaders[name] && !strings.HasPrefix(name, headerParamPrefix) {
			h[name] = append([]string(nil), values...)
		}
	}
	return h
}

// headers returns the headers of a request. Those that a caller gave for it win over those for all.
func (c *conn) headers(s *session, version string, perCall map[string][]string) http.Header {
	h := c.header.Clone()
	for name, values := range userHeader(perCall) {
		h[name] = values
	}
	s.setHeader(h, version)
	return h
}

func (o *outbound) request(ctx context.Context) (*http.Request, error) {
	// A reader of bytes also sets ContentLength and GetBody, so that net/http can repeat what never left.
	req, err := http.NewRequestWithContext(ctx, o.method, "", bytes.NewReader(o.body))
	if err != nil {
		return nil, err
	}
	if o.body == nil {
		req.Body, req.GetBody = nil, nil
	}
	target := *o.target // an Authorizer may change it
	req.URL, req.Host, req.Header = &target, target.Host, o.header.Clone()
	return req, nil
}

// do sends a request: with credentials, once more after a challenge that was met, and over redirects. It returns the
// response that is left, whatever its status.
func (c *conn) do(ctx context.Context, o outbound) (*reply, error) {
	challenged := false
	for hops := 0; ; {
		r, again, err := c.once(ctx, &o)
		if err != nil {
			return nil, err
		}
		if again && !challenged {
			challenged = true
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
	req, err := o.request(attempt)
	if err != nil {
		return nil, false, transport.Unsent(err)
	}
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
