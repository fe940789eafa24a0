package oauth

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A site is a web server on loopback with the pages that a test gives it, and a record of what it was asked for.
type site struct {
	*httptest.Server
	mu        sync.Mutex
	pages     map[string]http.HandlerFunc
	requests  []*http.Request
	bodies    []string
	connected int
}

func newSite(t testing.TB) *site    { return startSite(t, (*httptest.Server).Start) }
func newTLSSite(t testing.TB) *site { return startSite(t, (*httptest.Server).StartTLS) }

func startSite(t testing.TB, start func(*httptest.Server)) *site {
	s := &site{pages: make(map[string]http.HandlerFunc)}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if state == http.StateNew {
			s.connected++
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail as they should
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.bodies = append(s.bodies, string(body))
	page := s.pages[r.URL.EscapedPath()]
	s.mu.Unlock()
	if page == nil {
		page = http.NotFound
	}
	page(w, r)
}

func (s *site) page(path string, page http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page
}

// document makes v the page at a path, as JSON.
func (s *site) document(path string, v any) {
	s.page(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(v)
	})
}

// text makes a text the page at a path.
func (s *site) text(path, contentType, text string) {
	s.page(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	})
}

// status makes a page that has nothing but a status.
func (s *site) status(path string, code int) {
	s.page(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

// asked returns the paths of the requests so far, with their queries.
func (s *site) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := make([]string, len(s.requests))
	for i, r := range s.requests {
		paths[i] = r.URL.RequestURI()
	}
	return paths
}

func (s *site) request(i int) (*http.Request, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[i], s.bodies[i]
}

func (s *site) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected
}

func (s *site) port() string { return s.Listener.Addr().String()[len("127.0.0.1:"):] }

// unasked fails the test if a request for one of the paths was made.
func (s *site) unasked(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range s.asked() {
		u, _ := url.Parse(p)
		assert.False(t, slices.Contains(paths, u.Path), "asked for %s", p)
	}
}
