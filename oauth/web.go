package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	requestTimeout = 10 * time.Second // of one request with its response
	// idleTimeout of a connection is long enough for the requests of a sign-in, which follow each other closely, and
	// short enough that no server closes it in the moment in which a refresh token is on its way.
	idleTimeout = 2 * time.Second
	maxBody     = 1 << 20 // of a response: metadata has some KiB
	maxHops     = 3       // redirects, all within an origin
)

var (
	errTooSlow  = fmt.Errorf("no response within %s", requestTimeout)
	errTooLarge = fmt.Errorf("the response has more than %d bytes", maxBody)
)

// web makes requests to URLs that others supplied. It may be used concurrently.
//
// A URL is https, or http on loopback, and has no user. Redirects stay within the origin, at most three. A response has
// at most 1 MiB and ten seconds. What a server names may not be farther inside than the server itself: one on the
// public network names no private, link-local or loopback address, one in a private network none of this machine (see
// [newGuard] for how it is known). That holds neither for the origins that the user named, nor with AllowPrivate.
type web struct {
	client  *http.Client
	limit   reach
	trusted map[string]bool
}

// webOptions says what a web may do. The zero value is that of a server on the public network.
type webOptions struct {
	client       *http.Client // nil: one of the web's own
	server       *url.URL     // of the MCP server; it sets the limit
	trusted      []*url.URL   // other URLs that the user named
	allowPrivate bool
	resolver     *net.Resolver // nil: the default
}

func newWeb(o webOptions) *web {
	w := &web{limit: reachLocal, trusted: make(map[string]bool)}
	if o.server != nil {
		w.limit = reachOfHost(o.server.Hostname())
		w.trusted[hostPort(o.server)] = true
	}
	if o.allowPrivate {
		w.limit = reachLocal
	}
	for _, u := range o.trusted {
		w.trusted[hostPort(u)] = true
	}

	var client http.Client
	if o.client != nil {
		client = *o.client
	} else {
		client.Transport = newTransport()
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	if o.resolver == nil {
		o.resolver = net.DefaultResolver
	}
	client.Transport = newGuard(client.Transport, w.limit, o.resolver, w.trusted)
	client.CheckRedirect = checkRedirect
	w.client = &client
	return w
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     idleTimeout,
		TLSHandshakeTimeout: requestTimeout,
	}
}

// A reply is a response that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// get asks for JSON and returns whatever is answered.
func (w *web) get(ctx context.Context, rawURL string, header http.Header) (*reply, error) {
	return w.do(ctx, http.MethodGet, rawURL, header, "", nil)
}

// getJSON gets a document, which must come with status 200.
func (w *web) getJSON(ctx context.Context, rawURL string, header http.Header) (json.RawMessage, error) {
	r, err := w.get(ctx, rawURL, header)
	if err != nil {
		return nil, err
	}
	if r.status != http.StatusOK {
		return nil, statusError(r.status)
	}
	return r.body, nil
}

// postForm posts a form, whose values may be secrets, and returns whatever is answered. Header is added to the request.
func (w *web) postForm(ctx context.Context, rawURL string, form url.Values, header http.Header) (*reply, error) {
	return w.do(ctx, http.MethodPost, rawURL, header, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// postJSON posts v as JSON and returns whatever is answered.
func (w *web) postJSON(ctx context.Context, rawURL string, v any, header http.Header) (*reply, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return w.do(ctx, http.MethodPost, rawURL, header, "application/json", body)
}

func (w *web) do(
	ctx context.Context, method, rawURL string, header http.Header, contentType string, body []byte,
) (*reply, error) {
	u, err := w.vet(rawURL)
	if err != nil {
		return nil, err
	}
	outer := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errTooSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &EndpointError{place(u), "it cannot be read"}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}

	r, err := w.roundTrip(req)
	switch {
	case err == nil:
		return r, nil
	case outer.Err() != nil:
		return nil, context.Cause(outer)
	case ctx.Err() != nil:
		return nil, errTooSlow
	}
	return nil, explain(u, err)
}

func (w *web) roundTrip(req *http.Request) (*reply, error) {
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errTooLarge
	}
	return &reply{resp.StatusCode, resp.Header, body}, nil
}

// vet checks all of a URL that can be seen before it is resolved. Whoever hands a URL to somebody else, such as to a
// browser, vets it first.
func (w *web) vet(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, &EndpointError{placeOf(rawURL), "it cannot be read"}
	}
	refuse := func(reason string) (*url.URL, error) { return nil, &EndpointError{place(u), reason} }
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("it is not an https URL")
	case host == "":
		return refuse("it has no host")
	case u.User != nil:
		return refuse("it has a user")
	case !isASCII(host) && !w.trusted[hostPort(u)]:
		return refuse("its host is not in ASCII")
	case endsInNumber(host):
		return refuse("its host is neither a name nor an address")
	case u.Scheme == "http" && !isLoopback(host):
		return refuse("it is not https, and not on loopback")
	case reachOfHost(host) > w.limit && !w.trusted[hostPort(u)]:
		return refuse(fmt.Sprintf("its host is %s, which the server is not", reachOfHost(host)))
	}
	return u, nil
}

// isASCII is true of every host that a server should name (RFC 3986, section 3.2.2): whoever connects turns what is not
// into something else, such as letters of full width into those of localhost.
func isASCII(host string) bool {
	return !strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 })
}

// endsInNumber knows the spellings of IPv4 addresses that only some resolvers know, and that could pass for names:
// 127.1, 0x7f000001 (URL Standard, section 3.5).
func endsInNumber(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return true
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// checkRedirect follows what stays at the origin (RFC 9110, section 15.4): another one would get a request that is not
// meant for it. A POST is repeated as it is or not at all.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch first := via[0]; {
	case !sameOrigin(req.URL, first.URL):
		return &EndpointError{place(req.URL), "it is a redirect to another origin"}
	case req.URL.User != nil:
		return &EndpointError{place(req.URL), "it is a redirect, and has a user"}
	case req.Method != first.Method:
		return &EndpointError{place(req.URL), "it is a redirect that would change the method"}
	case len(via) > maxHops:
		return &EndpointError{place(req.URL), "there are too many redirects"}
	}
	return nil
}

// explain returns the error of a request to u without the URL, whose query may be a secret.
func explain(u *url.URL, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		return &EndpointError{place(u), refused.Error() + ", which the server is not"}
	}
	if text := err.Error(); len(text) > maxExcerpt {
		return errors.New(excerpt(text)) // it repeats what the server sent
	}
	return err
}

// sameOrigin compares scheme, host and port (RFC 6454, section 5).
func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && hostPort(a) == hostPort(b) }

// hostPort is the host of a URL in lower case, with its port.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
