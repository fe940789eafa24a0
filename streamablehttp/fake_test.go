package streamablehttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed62b61957/mcp/transport"
)

// fake is an HTTP server that does what a test says, by what it is asked: the HTTP method, and for a POST the method of
// the message ("answer" for a response). A request that no rule expects fails the test, and so does a rule of the
// test's own that nobody asked for.
type fake struct {
	t      testing.TB
	url    string
	server *httptest.Server

	mu      sync.Mutex
	rules   map[string]*rule
	log     []*arrival
	arrived chan struct{} // closed and replaced at each arrival
}

type rule struct {
	serve   func(*arrival)
	byTest  bool
	started int
}

// arrival is one request to the server, with what it takes to respond.
type arrival struct {
	w    http.ResponseWriter
	r    *http.Request
	key  string
	body string
	msg  *transport.Message // of a POST
	nth  int                // from 1, for its rule
}

const sessionID = "session-1"

// newFake is a server with a session, JSON replies, and no GET stream.
func newFake(t testing.TB) *fake {
	f := newBare(t)
	f.server = httptest.NewServer(f)
	f.url = f.server.URL + "/mcp"
	t.Cleanup(f.server.Close)
	return f
}

// newTLS is the same over HTTP/2.
func newTLS(t testing.TB) *fake {
	f := newBare(t)
	f.server = httptest.NewUnstartedServer(f)
	f.server.EnableHTTP2 = true
	f.server.StartTLS()
	f.url = f.server.URL + "/mcp"
	t.Cleanup(f.server.Close)
	return f
}

func newBare(t testing.TB) *fake {
	f := &fake{t: t, rules: make(map[string]*rule), arrived: make(chan struct{})}
	f.rules["POST initialize"] = &rule{serve: func(a *arrival) {
		a.set("Mcp-Session-Id", sessionID)
		a.json(`{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
	}}
	f.rules["POST notifications/initialized"] = &rule{serve: func(a *arrival) { a.status(202) }}
	f.rules["GET"] = &rule{serve: func(a *arrival) { a.status(405) }}
	f.rules["DELETE"] = &rule{serve: func(a *arrival) {}}
	t.Cleanup(f.check)
	return f
}

func (f *fake) check() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, r := range f.rules {
		if r.byTest && r.started == 0 {
			f.t.Errorf("nobody asked for %s", key)
		}
	}
}

// on says what the server does about a request.
func (f *fake) on(key string, serve func(*arrival)) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules[key] = &rule{serve: serve, byTest: true}
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	a := &arrival{w: w, r: r, key: r.Method, body: string(body)}
	if r.Method == http.MethodPost && err == nil {
		for m := range transport.Decode(body) {
			a.msg = m
		}
		a.key += " " + a.msg.Method
		if a.msg.Method == "" {
			a.key = "POST answer"
		}
	}
	f.mu.Lock()
	rule := f.rules[a.key]
	f.log = append(f.log, a)
	if rule != nil {
		rule.started++
		a.nth = rule.started
	}
	close(f.arrived)
	f.arrived = make(chan struct{})
	f.mu.Unlock()
	if rule == nil {
		f.t.Errorf("nobody expects %s", a.key)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	rule.serve(a)
}

// await waits for the nth request of a kind and returns it.
func (f *fake) await(key string, nth int) *arrival {
	f.t.Helper()
	for {
		f.mu.Lock()
		arrived := f.arrived
		found := f.find(key)
		f.mu.Unlock()
		if len(found) >= nth {
			return found[nth-1]
		}
		within(f.t.(*testing.T), arrived)
	}
}

// count is how many requests of a kind there were.
func (f *fake) count(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.find(key))
}

func (f *fake) find(key string) (found []*arrival) {
	for _, a := range f.log {
		if a.key == key {
			found = append(found, a)
		}
	}
	return found
}

// order lists the kinds of requests in the order in which they came.
func (f *fake) order() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.log {
		keys = append(keys, a.key)
	}
	return slices.Clip(keys)
}

// set sets a header of the response.
func (a *arrival) set(name, value string) { a.w.Header().Set(name, value) }

func (a *arrival) status(code int) { a.w.WriteHeader(code) }

func (a *arrival) write(text string) { io.WriteString(a.w, text) }

// got is a header of the request.
func (a *arrival) got(name string) string { return a.r.Header.Get(name) }

func (a *arrival) answer(result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.msg.ID, result)
}

// json answers the request with a result.
func (a *arrival) json(result string) {
	a.set("Content-Type", "application/json")
	a.write(a.answer(result))
}

// text responds with anything.
func (a *arrival) text(status int, contentType, body string) {
	a.set("Content-Type", contentType)
	a.status(status)
	a.write(body)
}

// stream begins an event stream.
func (a *arrival) stream() {
	a.set("Content-Type", "text/event-stream")
	a.status(200)
	a.flush()
}

// event sends an event with the given lines.
func (a *arrival) event(lines ...string) {
	a.write(strings.Join(lines, "\n") + "\n\n")
	a.flush()
}

func (a *arrival) flush() { http.NewResponseController(a.w).Flush() }

// linger holds the response open until the client leaves.
func (a *arrival) linger() { <-a.r.Context().Done() }
