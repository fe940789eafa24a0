package streamablehttp

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// A session is what the server made of one initialize.
type session struct {
	id string // "" if the server assigned none
}

func (s *session) hasID() bool { return s != nil && s.id != "" }

// sessions keeps the current session of a connection.
type sessions struct {
	mu      sync.Mutex
	current *session // nil before initialize, and after the server has forgotten it
	lost    bool     // there was a session, and there is no new one yet
	begun   bool     // there was one at some time
	version string   // the protocol version that was last sent

	opener        context.Context    // that of the first initialize, for its values; nil before
	stopListening context.CancelFunc // of the GET stream; nil if there is none
}

// enter returns the session that a message with the version belongs to, nil if there is none yet.
func (s *sessions) enter(m *transport.Message, version string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method == "initialize" {
		return nil, nil
	}
	if s.lost {
		return nil, transport.Unsent(transport.ErrSessionExpired)
	}
	if version != "" {
		s.version = version
	}
	return s.current, nil
}

// adopt takes the session from the response to initialize; any other response cannot change it.
func (s *sessions) adopt(ctx context.Context, header http.Header) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opener == nil {
		s.opener = ctx
	}
	s.stop()
	s.current = &session{id: header.Get(headerSession)}
	s.begun, s.lost = true, false
	return s.current
}

// forget is for a session that the server no longer knows, if it is still the current one.
func (s *sessions) forget(old *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == old {
		s.stop()
		s.current, s.lost = nil, true
	}
}

func (s *sessions) everBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// listening remembers what ends the GET stream of a session. It reports false if the session is no longer the current
// one, or has a stream.
func (s *sessions) listening(of *session, stop context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != of || s.stopListening != nil {
		return false
	}
	s.stopListening = stop
	return true
}

// unheard takes note that the GET stream of a session, which may not be the current one any more, is no more.
func (s *sessions) unheard(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == of {
		s.stopListening = nil
	}
}

// hears reports whether there is a GET stream, or may be one soon.
func (s *sessions) hears() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopListening != nil
}

func (s *sessions) stop() {
	if s.stopListening != nil {
		s.stopListening()
		s.stopListening = nil
	}
}

// values returns ctx, which belongs to the connection, with the values of the context in which that was opened: traces
// and credentials of a RoundTripper's, say, which requests that no caller waits for need as well.
func (s *sessions) values(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opener == nil {
		return ctx
	}
	return valued{ctx, s.opener}
}

// valued is a context with the values of another one besides its own. Its own come first, which also keeps package
// context from taking the other one's end for its own.
type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil {
		return value
	}
	return v.values.Value(key)
}

// take ends the current session on this side and returns it.
func (s *sessions) take() (current *session, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	current = s.current
	s.current, s.lost = nil, false
	return current, s.version
}

// setHeader says which session a request belongs to ("Session Management", "Protocol Version Header").
func (s *session) setHeader(h http.Header, version string) {
	if s.hasID() {
		h.Set(headerSession, s.id)
	}
	if version != "" {
		h.Set(headerVersion, version)
	}
}

// isLost reports whether a response to a POST says that the server does not know the session. The specification has 404
// for it. Some servers answer 400 or 401 instead, which only their words tell from other refusals.
func (s *session) isLost(e *StatusError) bool {
	if !s.hasID() {
		return false
	}
	switch e.StatusCode {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest:
		return blamesSession(e)
	case http.StatusUnauthorized:
		return e.Header.Get("WWW-Authenticate") == "" && blamesSession(e)
	}
	return false
}

func blamesSession(e *StatusError) bool {
	text := string(e.Body)
	if e.answer != nil {
		if e.answer.Error.Code == codeInvalidParams {
			return false // the server looked at what was asked, which may have a session of its own
		}
		text = e.answer.Error.Message
	}
	text = strings.ToLower(text)
	for _, phrase := range [...]string{
		"session id", "sessionid", "session-id", "invalid session", "unknown session", "no session", "no valid session",
		"session not found", "session expired", "session has expired", "session terminated",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

const codeInvalidParams = -32602 // JSON-RPC 2.0, section 5.1
