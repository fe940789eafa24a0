package streamablehttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/internal/oneline"
	"github.com/seed62b61957/mcp/transport"
)

// maxErrorBody is how much of a response's body a [StatusError] keeps.
const maxErrorBody = 8 << 10

// A StatusError is a response with a status that refuses the request, and whose body is not simply the JSON-RPC error
// that answers it. If the body is such an error all the same, errors.As finds it as a [*transport.RPCError]: that is so
// for 401 and 403, and where the status says that it may pass (429, 502, 503, 504), which [transport.ErrUnavailable]
// matches. A request is not sent again on that account.
type StatusError struct {
	Method     string // of the request
	StatusCode int
	Status     string // with the code: "502 Bad Gateway"
	Header     http.Header
	Body       []byte // the first 8 KiB

	answer *transport.Message // the JSON-RPC error response that the body is, nil if it is something else
	cause  error              // what the Authorizer says
}

// Error gives the status and a short excerpt of the body, nothing of the request.
func (e *StatusError) Error() string {
	text := e.Method + " answered " + e.Status
	if e.cause != nil {
		return text + ": " + e.cause.Error()
	}
	if e.answer != nil {
		return text + ": " + e.answer.Error.Error()
	}
	if excerpt := excerpt(e.Body); excerpt != "" {
		return text + ": " + excerpt
	}
	return text
}

// Unwrap returns the error of the Authorizer, or what the peer sent.
func (e *StatusError) Unwrap() error {
	switch {
	case e.cause != nil:
		return e.cause
	case e.answer != nil:
		return e.answer.Error
	}
	return nil
}

// Is has errors.Is find [transport.ErrUnavailable] where the status says that it may pass.
func (e *StatusError) Is(target error) bool {
	if target != transport.ErrUnavailable {
		return false
	}
	switch e.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// RetryAfter is how long the response asks to be left alone (Retry-After, RFC 9110, section 10.2.3): 0 if it does not
// ask, or no longer. It is as long as the server likes.
func (e *StatusError) RetryAfter() time.Duration {
	value := e.Header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

const maxExcerpt = 200

// excerpt makes one short line of a body; nothing of an HTML page, which says little in its first lines.
func excerpt(body []byte) string {
	line := oneline.Of(string(body), maxExcerpt)
	if strings.HasPrefix(line, "<") {
		return ""
	}
	return line
}

// rpcError returns the JSON-RPC error response that a body holds, nil if it holds anything else. Many an API has errors
// that look alike, so the member jsonrpc is required here.
func rpcError(body []byte) *transport.Message {
	body = bytes.TrimPrefix(body, byteOrderMark)
	if !isVersioned(body) {
		return nil
	}
	for m := range transport.Decode(body) {
		if m.Fault == nil && m.Error != nil {
			return m
		}
	}
	return nil
}

// isVersioned reports whether text is a whole JSON object that says that it is JSON-RPC.
func isVersioned(text []byte) bool {
	d := jsonscan.New(text)
	if d.Kind() != jsonscan.Object {
		return false
	}
	versioned := false
	for name := range d.Object() {
		versioned = versioned || string(name) == "jsonrpc"
		d.Skip()
	}
	return d.End() == nil && versioned
}

// wrap names the package, once, at the boundary.
func wrap(err error) error { return fmt.Errorf("streamablehttp: %w", err) }

// noResponse is the end of an exchange without the answer.
func noResponse(why error) error { return fmt.Errorf("%w: %w", transport.ErrNoResponse, why) }

// sendFailed classifies an error of the Doer.
func sendFailed(method string, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // without the URL, which may hold a secret
	}
	if neverConnected(err) {
		return transport.Unsent(fmt.Errorf("%s: %w", method, err))
	}
	return noResponse(fmt.Errorf("%s: %w", method, err))
}

// neverConnected reports whether err comes from before the first byte of a request.
func neverConnected(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record)
}

// outcome is what an exchange under ctx, which was cancelled for a reason of the connection's own or of the caller's,
// came to.
func outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	unsent := transport.SafeToRetry(err)
	switch cause := context.Cause(ctx); {
	case ctx.Err() == nil:
		err = wrap(err)
	case cause == errAnswered:
		return nil
	case errors.Is(cause, errConnEnded):
		err = wrap(cause)
	default:
		err = cause
	}
	if unsent {
		return transport.Unsent(err)
	}
	return err
}

// errConnEnded marks the causes of the end of a connection. It reads as transport.ErrClosed and matches it.
var errConnEnded = fmt.Errorf("%w", transport.ErrClosed)

func contentTypeError(contentType string) error {
	return errors.New("the body is neither JSON nor an event stream, but of type " + strconv.Quote(contentType))
}
