package streamablehttp

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxIdlePerHost lets as many concurrent calls reuse their connections. The default of net/http is 2.
	maxIdlePerHost = 1024
	// maxMultiplexed bounds the connections to a host over HTTP/2, where each carries a hundred requests or more.
	// Without a bound, net/http dials for each request that finds all of them full, and then closes most of what it
	// dialed.
	maxMultiplexed = 32
)

// own is the client that connections share which were given none.
var own struct {
	mu    sync.Mutex
	inUse int
	below *roundTripper
}

// doer returns what sends the requests of a connection, and what to call once, when it has ended.
func doer(given Doer) (d Doer, release func()) {
	client, ok := given.(*http.Client)
	switch {
	case given == nil || ok && client == nil:
		return acquireOwn(), releaseOwn
	case !ok:
		return given, func() {}
	}
	return streaming(client), func() {}
}

// streaming returns a copy of a client that follows no redirect and cuts no stream.
func streaming(client *http.Client) *http.Client {
	c := *client
	c.Timeout = 0
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func acquireOwn() Doer {
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.inUse++; own.inUse == 1 {
		own.below = newRoundTripper(nil)
	}
	return own.below
}

// releaseOwn leaves nothing behind when the last connection has ended.
func releaseOwn() {
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.inUse--; own.inUse == 0 {
		own.below.CloseIdleConnections()
	}
}

// A roundTripper bounds the connections to hosts that speak HTTP/2. Those of HTTP/1.1 have no bound but the number of
// concurrent requests: a call may wait for a message that itself needs a connection.
type roundTripper struct {
	plain, multiplexed *http.Transport
	hosts              sync.Map // scheme and host of those that speak HTTP/2
}

func newRoundTripper(config *tls.Config) *roundTripper {
	plain := &http.Transport{
		TLSClientConfig:       config,
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   maxIdlePerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	multiplexed := plain.Clone()
	multiplexed.MaxConnsPerHost = maxMultiplexed
	return &roundTripper{plain: plain, multiplexed: multiplexed}
}

// Do is what is left of http.Client.Do for requests without cookies whose redirects are not followed.
func (r *roundTripper) Do(req *http.Request) (*http.Response, error) {
	if user := req.URL.User; user != nil && req.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return r.RoundTrip(req)
}

func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Scheme + "://" + req.URL.Host
	_, known := r.hosts.Load(host)
	below := r.plain
	if known {
		below = r.multiplexed
	}
	resp, err := below.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch multiplexed := resp.ProtoMajor >= 2; {
	case multiplexed && !known:
		r.hosts.Store(host, struct{}{})
	case known && !multiplexed:
		r.hosts.Delete(host)
	}
	return resp, nil
}

func (r *roundTripper) CloseIdleConnections() {
	r.plain.CloseIdleConnections()
	r.multiplexed.CloseIdleConnections()
}
