package host_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A sessionFront serves a server of mcptest over HTTP as revisions until 2025-11-25 do: initialize begins a session,
// each POST has its answer, and what the server says unasked goes to the stream of a GET.
type sessionFront struct {
	server *mcptest.Server

	mu       sync.Mutex
	count    int
	sessions map[string]*frontSession
}

type frontSession struct {
	conn transport.Conn
	end  context.CancelFunc

	mu      sync.Mutex
	waiting map[transport.ID]chan *transport.Message
	unasked chan *transport.Message // what nobody takes in time is lost
}

const sessionHeader = "Mcp-Session-Id"

func (f *sessionFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		f.post(w, r)
		return
	}
	s := f.session(r.Header.Get(sessionHeader))
	switch {
	case s == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case r.Method == http.MethodDelete:
		f.drop(r.Header.Get(sessionHeader))
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (f *sessionFront) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := r.Header.Get(sessionHeader)
	for m := range transport.Decode(body) {
		s := f.session(id)
		switch {
		case m.Method == "initialize":
			id, s = f.begin()
			w.Header().Set(sessionHeader, id)
		case id == "":
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if s == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.exchange(w, r, m)
	}
}

func (f *sessionFront) session(id string) *frontSession {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions[id]
}

func (f *sessionFront) begin() (string, *frontSession) {
	ctx, end := context.WithCancel(context.Background())
	conn, err := f.server.Transport().Connect(ctx)
	if err != nil {
		end()
		return "", nil
	}
	s := &frontSession{conn: conn, end: end}
	s.waiting = make(map[transport.ID]chan *transport.Message)
	s.unasked = make(chan *transport.Message, 100)
	go s.receive(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	id := fmt.Sprint("session-", f.count)
	if f.sessions == nil {
		f.sessions = make(map[string]*frontSession)
	}
	f.sessions[id] = s
	return id, s
}

func (f *sessionFront) drop(id string) {
	f.mu.Lock()
	s := f.sessions[id]
	delete(f.sessions, id)
	f.mu.Unlock()
	if s != nil {
		s.end()
		s.conn.Close()
	}
}

func (s *frontSession) receive(ctx context.Context) {
	for {
		m, err := s.conn.Receive(ctx)
		if err != nil {
			return
		}
		to := s.unasked
		if m.IsResponse() {
			to = s.take(m.ID)
		}
		select {
		case to <- m:
		default:
		}
	}
}

func (s *frontSession) wait(id transport.ID) chan *transport.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[id] = make(chan *transport.Message, 1)
	return s.waiting[id]
}

func (s *frontSession) take(id transport.ID) chan *transport.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer delete(s.waiting, id)
	return s.waiting[id]
}

// exchange answers a message. The client's going does not cancel a request: there is a notification for that.
func (s *frontSession) exchange(w http.ResponseWriter, r *http.Request, m *transport.Message) {
	answer := s.wait(m.ID)
	defer s.take(m.ID)
	if s.conn.Send(r.Context(), transport.Outgoing{Message: m}) != nil || !m.IsRequest() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	select {
	case got := <-answer:
		text, _ := got.Append(nil)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	case <-r.Context().Done():
	}
}

func (s *frontSession) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	for {
		select {
		case m := <-s.unasked:
			text, _ := m.Append([]byte("data: "))
			_, _ = w.Write(append(text, "\n\n"...))
			http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}
