package streamablehttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed62b61957/mcp/transport"
)

// Send posts one message. For a request it reads what comes back, on the calling goroutine, and returns once the answer
// was delivered, without waiting for the end of a stream. A response that breaks off before is resumed if the server
// gave its events ids, and else an error that wraps transport.ErrNoResponse.
//
// It returns nil without an answer if the server answered on another stream, or accepted the request and said nothing
// while there is a GET stream, on which the answer may come.
func (c *conn) Send(ctx context.Context, out transport.Outgoing) error {
	if ctx.Err() != nil {
		return transport.Unsent(context.Cause(ctx))
	}
	body, err := out.Message.Append(nil)
	if err != nil {
		return transport.Unsent(wrap(err))
	}
	var s *session
	if !isModern(out.Version) {
		s, err = c.stateful().sessions.enter(out.Message, out.Version)
	}
	if over := c.exchanges.ended(); over != nil {
		err = over // which came before the session was taken away
	}
	if err != nil {
		return transport.Unsent(wrap(err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange{conn: c, session: s, out: &out, cancel: cancel}
	c.exchanges.enter(x)
	defer c.exchanges.leave(x)
	return outcome(ctx, x.run(ctx, body))
}

// An exchange is one message and what the server says to it.
type exchange struct {
	conn    *conn
	session *session // that the message belongs to; nil before there is one
	out     *transport.Outgoing
	cancel  context.CancelCauseFunc
	waits   bool // guarded by the connection's exchanges

	answered bool
	fault    error // the latest thing on the exchange that was no usable message
}

func (x *exchange) run(ctx context.Context, body []byte) error {
	c, m := x.conn, x.out.Message
	if target := c.legacy.Load(); target != nil {
		return x.post(ctx, target, body, x.accepted)
	}
	err := x.post(ctx, c.url, body, x.answer)
	switch {
	case m.Method == "initialize" && c.mayFallBack(err):
		return x.fallBack(ctx, body, err)
	case m.Method == "notifications/initialized" && err == nil:
		c.listen(ctx, x.session, x.out.Version)
	}
	return err
}

// post sends the message to target and has a response with a good status handled. It ends as well when the answer comes
// on another stream.
func (x *exchange) post(
	ctx context.Context, target *url.URL, body []byte, handle func(context.Context, *reply) error,
) error {
	x.conn.exchanges.await(x, true)
	defer x.conn.exchanges.await(x, false)
	header := x.headers()
	header["Content-Type"], header["Accept"] = jsonType, jsonOrEvents
	r, err := x.conn.do(ctx, outbound{
		method:  http.MethodPost,
		target:  target,
		header:  header,
		body:    body,
		refresh: !x.out.Unattended,
	})
	switch {
	case err != nil:
		return err
	case !r.ok():
		return x.refused(r.statusError())
	}
	return handle(ctx, r)
}

// Values that most requests have. Nobody changes the elements of a header.
var (
	jsonType     = []string{"application/json"}
	jsonOrEvents = []string{"application/json, text/event-stream"}
)

// headers returns those of every request of the exchange. An initialize asks for a new session, under no version.
func (x *exchange) headers() http.Header {
	version := x.out.Version
	if x.out.Message.Method == "initialize" {
		version = ""
	}
	h := x.conn.headers(x.session, version, x.out.Header)
	if isModern(version) {
		mirror(h, x.out)
	}
	return h
}

// refused is for a response that is no success.
func (x *exchange) refused(e *StatusError) error {
	if x.session.isLost(e) {
		x.conn.stateful().sessions.forget(x.session)
		return transport.Unsent(fmt.Errorf("%w: %w", transport.ErrSessionExpired, e))
	}
	// Whoever has to sign in, or to wait, looks for the status, which an answer would hide.
	login := e.StatusCode == http.StatusUnauthorized || e.StatusCode == http.StatusForbidden
	telling := login || errors.Is(e, transport.ErrUnavailable)
	if x.out.Message.IsRequest() && e.answer != nil && !telling && !x.take(e.answer) {
		return nil
	}
	return e
}

// answer reads what a response says to the message.
func (x *exchange) answer(ctx context.Context, r *reply) error {
	m := x.out.Message
	if m.Method == "initialize" {
		x.session = x.conn.stateful().sessions.adopt(ctx, r.Header)
	}
	switch {
	case !m.IsRequest():
		x.conn.finish(r)
		return nil
	case r.StatusCode == http.StatusNoContent:
		x.conn.finish(r)
		return x.empty(r)
	case r.isEventStream():
		return x.stream(ctx, r)
	case m.Method == "subscriptions/listen":
		return x.jsonStream(ctx, r)
	}
	return x.body(r)
}

// accepted is for a server whose answer comes on another stream in any case.
func (x *exchange) accepted(_ context.Context, r *reply) error {
	x.conn.finish(r)
	return nil
}

// byteOrderMark begins what some libraries write as UTF-8.
var byteOrderMark = []byte("\ufeff")

// body reads a response that is no event stream. Some servers leave out the content type of JSON, or have a library
// guess it.
func (x *exchange) body(r *reply) error {
	data, err := r.readAll(x.conn.limit)
	r.abandon() // nothing is left after the end
	if err != nil {
		return err
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	media := r.media()
	isJSON := media == "application/json" || len(text) > 0 && (text[0] == '{' || text[0] == '[')
	switch {
	case len(text) == 0 || !isJSON && r.StatusCode == http.StatusAccepted:
		return x.empty(r)
	case !isJSON:
		return noResponse(contentTypeError(media))
	}
	for m := range transport.Decode(text) {
		x.take(m)
	}
	if x.answered {
		return nil
	}
	return x.unanswered(errors.New("the body has no answer"))
}

// empty is for a response that accepts a request and says nothing. Without a GET stream nothing can follow.
func (x *exchange) empty(r *reply) error {
	if x.conn.hears() || x.conn.exchanges.isAnswered(x) {
		return nil
	}
	return x.unanswered(fmt.Errorf("POST answered %s and nothing else", r.status()))
}

// take delivers a message that came on the exchange, and reports whether more are wanted.
func (x *exchange) take(m *transport.Message) (more bool) {
	id := x.out.Message.ID
	if m.Error != nil && !m.ID.IsValid() {
		m.ID = id // the exchange has one request that an error can be about
	}
	mine := m.Method == "" && canonical(m.ID) == canonical(id)
	switch {
	case mine:
		x.answered = true
	case m.Fault != nil:
		x.fault = m.Fault
	}
	if x.out.Deliver != nil {
		x.out.Deliver(m)
	}
	if !mine {
		x.conn.exchanges.answeredElsewhere(m)
	}
	// What is over the limit and cannot be told from the answer ends the exchange.
	unknown := errors.Is(m.Fault, transport.ErrMessageTooLarge) && m.Method == "" && !m.ID.IsValid()
	return !x.answered && !unknown
}

// unanswered is the error of an exchange that is over. What came in place of a message says more than why it ended.
func (x *exchange) unanswered(why error) error {
	switch {
	case errors.Is(x.fault, transport.ErrMessageTooLarge):
		return x.fault
	case x.fault != nil:
		why = x.fault
	}
	return noResponse(why)
}
