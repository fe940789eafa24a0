package streamablehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// stream reads the event stream that answers a request, over as many responses as the server makes of it ("Resumability
// and Redelivery").
func (x *exchange) stream(ctx context.Context, r *reply) error {
	cur := newCursor(x.conn.reconnect)
	cur.budget.MaxRetries = max(cur.budget.MaxRetries, 1)
	for {
		err := cur.read(sse.NewReader(r.Body, x.conn.limit), x.conn.limit, x.take)
		if err == io.EOF {
			x.takeRest(cur.rest)
		}
		if x.answered {
			x.conn.finish(r)
			return nil
		}
		r.abandon()
		switch {
		case err == nil:
			return x.unanswered(nil)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if r, err = x.resume(ctx, &cur, err); err != nil {
			return err
		}
	}
}

// takeRest takes an answer that lacks nothing but the end of its event.
func (x *exchange) takeRest(data []byte) {
	if !isVersioned(data) {
		return
	}
	for m := range transport.Decode(data) {
		if m.IsResponse() {
			x.take(m)
		}
	}
}

// resume asks for what is left of the stream that broke because of why.
func (x *exchange) resume(ctx context.Context, cur *cursor, why error) (*reply, error) {
	if why == io.EOF {
		why = cur.endedWithout()
	}
	if cur.lastID == "" || isModern(x.out.Version) {
		return nil, x.unanswered(why)
	}
	for {
		delay, ok := cur.budget.next(why, true)
		if !ok {
			return nil, x.unanswered(fmt.Errorf("gave up resuming the stream: %w", why))
		}
		if !sleep(ctx, delay) {
			return nil, context.Cause(ctx)
		}
		r, err := x.conn.openStream(ctx, x.headers(), cur.lastID, !x.out.Unattended)
		if err == nil {
			return r, nil
		}
		err = transport.Sent(err)
		var status *StatusError
		switch {
		case errors.As(err, &status) && status.StatusCode == http.StatusNotFound && x.session.hasID():
			return nil, fmt.Errorf("%w: %w", transport.ErrSessionExpired, err)
		case isFinal(err):
			return nil, x.unanswered(fmt.Errorf("the stream cannot be resumed: %w", err))
		}
		why = err
	}
}
