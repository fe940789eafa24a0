package httpinterop

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const crowd = 1000

// A thousand calls at once on one client, none of which is answered before all of them are there. Over HTTP/1.1 each
// needs a connection, over HTTP/2 a few do. The next round finds them open.
func TestCrowd(t *testing.T) {
	for _, test := range []struct {
		name    string
		json    bool
		http2   bool
		sockets int // at most, with those of the GET stream and the handshake
	}{
		{"HTTP 1.1 SSE", false, false, crowd + 16},
		{"HTTP 1.1 JSON", true, false, crowd + 16},
		{"HTTP 2 SSE", false, true, 100},
		{"HTTP 2 JSON", true, true, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			leakcheck.Goroutines(t)
			w := newWorld()
			_, handler := goSDK(t, w, sdk.StreamableHTTPOptions{JSONResponse: test.json})
			t.Cleanup(w.end)
			s := newCounted(t, handler, test.http2)
			// The client of the package's own; it finds the certificate where the system keeps those that it trusts.
			client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: s.URL}, nil)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, client.Close()) })

			for round := range 3 {
				before := s.opened()
				begun := time.Now()
				callAll(t, client, w, round)
				t.Logf("round %d: %v, %d new sockets, %d open, %d at most",
					round, time.Since(begun), s.opened()-before, s.open(), s.most())
				assert.LessOrEqual(t, s.most(), test.sockets)
				if round > 0 {
					assert.LessOrEqual(t, s.opened()-before, test.sockets/10, "sockets are not used again")
				}
			}
			assert.Equal(t, test.http2, s.isHTTP2())
		})
	}
}

// callAll makes the calls and checks every answer.
func callAll(t *testing.T, client *mcp.Client, w *world, round int) {
	w.gate = newGate(crowd)
	var calls sync.WaitGroup
	for i := range crowd {
		calls.Go(func() {
			a := arguments{Key: fmt.Sprintf("%d-%d", round, i), Size: 100 + i}
			got, err := client.CallTool(t.Context(), "meet", a)
			if assert.NoError(t, err) {
				assert.Equal(t, result(&a), got.Text())
			}
		})
	}
	calls.Wait()
}

// A counted server knows its sockets.
type counted struct {
	*httptest.Server
	mu    sync.Mutex
	state map[net.Conn]http.ConnState
	total int
	peak  int
	http2 bool
}

func newCounted(t *testing.T, handler http.Handler, http2 bool) *counted {
	s := &counted{state: make(map[net.Conn]http.ConnState)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.http2 = s.http2 || r.ProtoMajor == 2
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	s.Config.ConnState = s.note
	if http2 {
		s.EnableHTTP2 = true
		s.TLS = serverTLS(t)
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *counted) note(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.total++
		s.state[conn] = state
		s.peak = max(s.peak, len(s.state))
	case http.StateClosed, http.StateHijacked:
		delete(s.state, conn)
	}
}

func (s *counted) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

func (s *counted) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.state)
}

func (s *counted) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

func (s *counted) isHTTP2() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.http2
}
