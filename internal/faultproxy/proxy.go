package faultproxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A Proxy passes requests on to one server. Its methods may run concurrently.
type Proxy struct {
	url    string
	target *url.URL
	plan   Plan

	server   *http.Server
	upstream *http.Transport
	ctx      context.Context // until Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // Serve and the exchanges

	mu        sync.Mutex
	closed    bool
	exchanges []*exchange
	count     map[string]int // of requests by method
}

// New starts a proxy in front of target, the URL of a server. Paths and queries are passed on as they are. The proxy is
// closed when the test ends.
func New(t testing.TB, target string, plan Plan) *Proxy {
	t.Helper()
	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal("faultproxy:", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("faultproxy:", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		url: "http://" + listener.Addr().String(), target: parsed, plan: plan,
		upstream: &http.Transport{DisableCompression: true},
		ctx:      ctx, cancel: cancel, count: make(map[string]int),
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve)}
	p.running.Go(func() { _ = p.server.Serve(listener) })
	t.Cleanup(func() {
		p.Close()
		if t.Failed() {
			t.Logf("faultproxy:\n%s", p)
		}
	})
	return p
}

// URL is where the proxy listens: "http://127.0.0.1:1234", without a slash at the end.
func (p *Proxy) URL() string { return p.url }

// Close ends all connections and waits until nothing runs any more. It is idempotent.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.server.Close()
	p.running.Wait()
	p.upstream.CloseIdleConnections()
}

// Passed is how many requests of a method the server has got, or is about to get.
func (p *Proxy) Passed(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, x := range p.exchanges {
		if x.method == method && x.passed {
			n++
		}
	}
	return n
}

// String has a line for each exchange, in the order in which they began: "POST 2: hold 3ms, cut after 17 bytes".
func (p *Proxy) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	for _, x := range p.exchanges {
		lines = append(lines, fmt.Sprintf("%s %d: %v", x.method, x.number, x.Schedule))
	}
	return strings.Join(lines, "\n")
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	x := p.begin(r)
	if x == nil {
		return
	}
	defer p.running.Done()
	ctx, cancel := context.WithCancel(r.Context()) // which ends with the client's connection
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	x.run(w, r.WithContext(ctx))
}

func (p *Proxy) begin(r *http.Request) *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.running.Add(1)
	p.count[r.Method]++
	number := p.count[r.Method]
	x := &exchange{Schedule: p.plan(r.Method, number), proxy: p, method: r.Method, number: number}
	p.exchanges = append(p.exchanges, x)
	return x
}

// pass sends the request to the server.
func (p *Proxy) pass(x *exchange, r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	x.passed = true
	p.mu.Unlock()
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = p.target.Scheme, p.target.Host
	out.RequestURI = ""
	out.Header.Del("Connection")
	return p.upstream.RoundTrip(out)
}
