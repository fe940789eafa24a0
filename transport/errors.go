package transport

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/seed62b61957/mcp/internal/oneline"
)

// Errors that a transport and the client share. They are matched with errors.Is.
var (
	// ErrClosed: the connection was closed, by either side.
	ErrClosed = errors.New("connection closed")
	// ErrMessageTooLarge: a message is over the limit of its connection. The connection lives on.
	ErrMessageTooLarge = errors.New("message too large")
	// ErrNoResponse: the exchange of a request ended without an answer. Whether the server acted on it is unknown.
	ErrNoResponse = errors.New("no response")
	// ErrSessionExpired: the server has forgotten the session that the message belongs to (Streamable HTTP until
	// 2025-11-25). With [SafeToRetry] the message was not executed, and the client makes a new session and sends it
	// again.
	ErrSessionExpired = errors.New("session expired")
	// ErrUnavailable: the server, or what stands before it, says that it cannot serve the request now (HTTP status 429,
	// 502, 503 and 504). Whether the server acted on it is unknown.
	ErrUnavailable = errors.New("unavailable")
	// ErrMissed, as a [Message]'s Fault: what the server sent unasked did not arrive for a while, and does again from
	// here on. The client takes everything for changed that it would have been told of.
	ErrMissed = errors.New("messages may have been missed")
	// ErrUnheard, as a [Message]'s Fault: what the server sends unasked does not arrive any more, although requests
	// still do. The client ends the subscriptions, unless it finds that the server has forgotten the session.
	ErrUnheard = errors.New("nothing is received unasked any more")
)

// Unsent marks err as one after which nothing of the message can have reached the server, so that [SafeToRetry] holds.
// It keeps the text of err and everything that errors.Is and errors.As find in it.
func Unsent(err error) error { return marked(err, true) }

// Sent marks err as one of an operation of which something has reached the server, so that [SafeToRetry] does not hold,
// even if err says so of one message of it. It keeps the rest of err as Unsent does.
func Sent(err error) error { return marked(err, false) }

func marked(err error, unsent bool) error {
	if err == nil {
		return nil
	}
	return &markedError{err, unsent}
}

// SafeToRetry reports whether err says that nothing reached the server: the message may be sent again, on this
// connection or another, without being executed twice.
func SafeToRetry(err error) bool {
	var mark *markedError // the outermost one, which knows best
	return errors.As(err, &mark) && mark.unsent
}

type markedError struct {
	err    error
	unsent bool
}

func (e *markedError) Error() string { return e.err.Error() }
func (e *markedError) Unwrap() error { return e.err }

// RPCError is an error response as the peer sent it (JSON-RPC 2.0, section 5.1). The client never makes one up for what
// happened on its own side.
type RPCError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error gives the message as one line, at most 1 KiB of it, and the code. Data stays out of it: it is of any size, and
// the peer's own.
func (e *RPCError) Error() string {
	const most = 1 << 10
	message := oneline.Of(e.Message, most)
	if message == "" {
		return "error " + strconv.FormatInt(e.Code, 10)
	}
	return message + " (" + strconv.FormatInt(e.Code, 10) + ")"
}

// A FaultError describes what arrived in place of a message.
type FaultError struct {
	Reason string // what is wrong with it
	Prefix string // its beginning, at most 256 bytes
}

func (e *FaultError) Error() string { return e.Reason }
