package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// LoopbackOptions are those of [ListenLoopback]. The zero value is fine.
type LoopbackOptions struct {
	Host       string        // a loopback address, or "localhost", which listens on 127.0.0.1 and ::1; "" means 127.0.0.1
	Port       int           // 0 means any that is free
	Path       string        // of the redirect URL; "" means /callback
	ExtraPaths []string      // on which answers are taken as well, for redirect URLs of their own
	Timeout    time.Duration // bounds a Wait; 0 means five minutes

	// Page writes what the user sees in the end; nil means a short page. Taken is false for a request that no sign-in
	// waits for. It is not told what came of a sign-in: that is not known yet.
	Page func(w http.ResponseWriter, taken bool)
}

const (
	defaultLoopbackTimeout = 5 * time.Minute
	loopbackGrace          = 500 * time.Millisecond // for pages that are being written when it is closed
	claimWait              = time.Second            // for the Wait for an answer that was faster
	maxUnclaimed           = 16                     // answers that are kept for it
	maxPortTries           = 8                      // for one that is free on both addresses of localhost
)

// A Loopback takes the answers to sign-ins on a port of this machine (RFC 8252, section 7.3). Any number of sign-ins
// can use it at the same time: their states tell them apart. All methods may be called concurrently.
type Loopback struct {
	options  LoopbackOptions
	redirect url.URL
	server   *http.Server
	done     chan struct{}
	serving  sync.WaitGroup
	closing  sync.Once

	mu        sync.Mutex
	waiting   map[string]*waiter // by state
	unclaimed []*waiter          // oldest first: that nobody has waited for yet
}

// A waiter is where the answer with a state goes to.
type waiter struct {
	state    string
	claimed  chan struct{}  // closed when there is a Wait
	response chan *Response // holds one
}

func newWaiter(state string) *waiter {
	return &waiter{state: state, claimed: make(chan struct{}), response: make(chan *Response, 1)}
}

// ListenLoopback begins to listen. Close has to be called.
func ListenLoopback(o LoopbackOptions) (*Loopback, error) {
	l, err := listenLoopback(o)
	return l, boundary(err)
}

func listenLoopback(o LoopbackOptions) (*Loopback, error) {
	o.Host = cmp.Or(o.Host, "127.0.0.1")
	o.Path = cmp.Or(o.Path, "/callback")
	o.Timeout = cmp.Or(o.Timeout, defaultLoopbackTimeout)
	if o.Page == nil {
		o.Page = plainPage
	}
	if !isLoopback(o.Host) {
		return nil, fmt.Errorf("%q is no loopback address", o.Host)
	}
	for _, path := range append([]string{o.Path}, o.ExtraPaths...) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#") {
			return nil, fmt.Errorf("%q is not the path of a URL", path)
		}
	}
	listeners, err := listen(o.Host, o.Port)
	if err != nil {
		return nil, err
	}
	port := listeners[0].Addr().(*net.TCPAddr).Port
	l := &Loopback{
		options:  o,
		redirect: url.URL{Scheme: "http", Host: net.JoinHostPort(o.Host, strconv.Itoa(port)), Path: o.Path},
		done:     make(chan struct{}),
		waiting:  make(map[string]*waiter),
	}
	l.server = &http.Server{
		Handler:           http.HandlerFunc(l.serve),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	l.server.SetKeepAlivesEnabled(false) // a browser would keep them
	for _, listener := range listeners {
		l.serving.Go(func() { _ = l.server.Serve(listener) })
	}
	return l, nil
}

// listen returns one listener, or two on the same port for localhost, where the machine has both addresses.
func listen(host string, port int) ([]net.Listener, error) {
	if !isLocalhost(host) {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		return []net.Listener{l}, err
	}
	both, err := listenLocalhost(port)
	for tries := 1; err != nil && port == 0 && tries < maxPortTries; tries++ {
		both, err = listenLocalhost(port)
	}
	return both, err
}

// listenLocalhost listens on both addresses or fails: of two that are there a browser tries either, and another program
// on the second one would get the answers.
func listenLocalhost(port int) ([]net.Listener, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	port = four.Addr().(*net.TCPAddr).Port
	six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	switch {
	case err == nil:
		return []net.Listener{four, six}, nil
	case !hasIPv6Loopback():
		return []net.Listener{four}, nil
	}
	four.Close()
	return nil, err
}

func hasIPv6Loopback() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	l.Close()
	return true
}

// RedirectURL is the redirect URL of a sign-in. Those of ExtraPaths differ from it in the path.
func (l *Loopback) RedirectURL() string { return l.redirect.String() }

// Wait returns the answer with a state ([SignIn].State), which may have come already. Each state has one answer, the
// first. Requests that bring none are answered with a page that says so, and are not waited for.
//
// The error is that of ctx, matches context.DeadlineExceeded after Timeout, or net.ErrClosed after Close.
func (l *Loopback) Wait(ctx context.Context, state string) (*Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Timeout, fmt.Errorf("no answer within %v: %w",
		l.options.Timeout, context.DeadlineExceeded))
	defer cancel()
	w, err := l.claim(state)
	if err != nil {
		return nil, boundary(err)
	}
	defer l.drop(state)
	select {
	case r := <-w.response:
		return r, nil
	case <-ctx.Done():
		return nil, boundary(context.Cause(ctx))
	case <-l.done:
		return nil, boundary(net.ErrClosed)
	}
}

func (l *Loopback) claim(state string) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state == "" || l.waiting[state] != nil {
		return nil, errors.New("the state is empty or waited for already")
	}
	w := newWaiter(state)
	if i := slices.IndexFunc(l.unclaimed, func(w *waiter) bool { return w.state == state }); i >= 0 {
		w = l.unclaimed[i]
		l.unclaimed = slices.Delete(l.unclaimed, i, i+1)
	}
	close(w.claimed)
	l.waiting[state] = w
	return w, nil
}

func (l *Loopback) drop(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, state)
}

// Close stops listening, and ends every Wait. It takes a second at most, whatever connections a browser keeps.
func (l *Loopback) Close() error {
	l.closing.Do(func() {
		close(l.done)
		ctx, cancel := context.WithTimeout(context.Background(), loopbackGrace)
		defer cancel()
		if l.server.Shutdown(ctx) != nil {
			_ = l.server.Close()
		}
		l.serving.Wait()
	})
	return nil
}

func (l *Loopback) serve(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the URL has the code
	header.Set("X-Content-Type-Options", "nosniff")
	switch {
	case hostPort(&url.URL{Scheme: "http", Host: req.Host}) != hostPort(&l.redirect):
		http.Error(w, "not here", http.StatusMisdirectedRequest) // a page elsewhere has given this address its name
	case req.URL.Path != l.options.Path && !slices.Contains(l.options.ExtraPaths, req.URL.Path):
		http.NotFound(w, req)
	case req.Method != http.MethodGet:
		header.Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	default:
		l.options.Page(w, l.take(req))
	}
}

// take hands an answer to the Wait for it, and reports whether there is one. That may come a little later.
func (l *Loopback) take(req *http.Request) bool {
	r, ok := responseFromQuery(req.URL.Query())
	if !ok || r.State == "" || r.Code == "" && r.Error == "" {
		return false
	}
	at := l.redirect
	at.Path = req.URL.Path
	r.RedirectURL = at.String()
	w, claimed := l.waiterFor(r.State)
	select {
	case w.response <- r:
	default:
		return false // a second one
	}
	if claimed {
		return true
	}
	timer := time.NewTimer(claimWait)
	defer timer.Stop()
	select {
	case <-w.claimed:
		return true
	case <-timer.C:
	case <-l.done:
	case <-req.Context().Done():
	}
	return false
}

func (l *Loopback) waiterFor(state string) (w *waiter, claimed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waiting[state]; w != nil {
		return w, true
	}
	if i := slices.IndexFunc(l.unclaimed, func(w *waiter) bool { return w.state == state }); i >= 0 {
		return l.unclaimed[i], false
	}
	w = newWaiter(state)
	l.unclaimed = append(l.unclaimed, w)
	if len(l.unclaimed) > maxUnclaimed {
		l.unclaimed = l.unclaimed[1:]
	}
	return w, false
}

const pageHead = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
	`<title>Sign-in</title><style>body{font:1.1em system-ui;margin:15vh auto;max-width:30em;padding:0 1em}</style>`

// plainPage has nothing of the request in it.
func plainPage(w http.ResponseWriter, taken bool) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	text := "<p>The answer has reached the application. You may close this page."
	if !taken {
		w.WriteHeader(http.StatusBadRequest)
		text = "<p>No sign-in is waiting for this page. You may close it, and begin anew in the application."
	}
	_, _ = io.WriteString(w, pageHead+text)
}
