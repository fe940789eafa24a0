package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// errNotAcknowledged says that a server ended a subscription before it had begun.
var errNotAcknowledged = errors.New("the server ended the subscription before it acknowledged it")

// Listen subscribes to changes. ctx bounds the time until the server has agreed; the subscription lives until it is
// closed. There may be any number of them.
//
// Since 2026-07-28 each is a request of its own (subscriptions/listen). Before, the server tells of lists on its own,
// and is asked for resources one by one; what it does not offer, like tasks, is missing in [Subscription.Accepted].
func (c *Client) Listen(ctx context.Context, f Filter) (*Subscription, error) {
	f.URIs, f.TaskIDs = slices.Clone(f.URIs), slices.Clone(f.TaskIDs)
	if c.session.Load().modern() {
		return c.listen(ctx, f)
	}
	return c.listenLegacy(ctx, f)
}

// A listener is a subscriptions/listen request that is under way.
type listener struct {
	client       *Client
	asked        Filter
	sub          *Subscription
	acknowledged chan struct{}
	once         sync.Once
}

func (c *Client) listen(ctx context.Context, f Filter) (*Subscription, error) {
	r := &request{method: "subscriptions/listen"}
	params, err := jsonscan.AppendValue([]byte(`{"notifications":`), f)
	if err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	r.params = append(params, '}')
	life, stop := context.WithCancel(c.onBehalf(ctx))
	over := make(chan struct{})
	l := &listener{client: c, asked: f, acknowledged: make(chan struct{})}
	l.sub = &Subscription{wake: make(chan struct{}, 1), stop: func() { stop(); <-over }}
	r.listener = l
	go func() {
		defer close(over)
		err := r.wrap(goexit.Err)
		defer func() { l.sub.end(err) }()
		err = c.runListener(life, r)
	}()
	wait, cancel := c.boundedBy(ctx, r.method)
	defer cancel()
	select {
	case <-l.acknowledged:
		return l.sub, nil
	case <-over:
		select {
		case <-l.acknowledged:
			return l.sub, nil // it was, and then ended at once: Events tells
		default:
		}
		_, _, err := l.sub.take()
		if err == nil {
			err = r.wrap(errNotAcknowledged)
		}
		return nil, err
	case <-wait.Done():
		_ = l.sub.Close()
		return nil, r.wrap(ended(wait))
	}
}

// runListener sends the request and returns when it has ended: with nil if that was in order.
func (c *Client) runListener(ctx context.Context, r *request) error {
	o := callOptions{} // without limits: it is meant to last
	answer, err := c.exchange(ctx, r, &o)
	switch {
	case err == nil && answer.Error != nil:
		return r.wrap(answer.Error)
	case err != nil && c.cause() != nil:
		return r.wrap(c.cause())
	case err != nil && ctx.Err() != nil:
		return nil // closed by the caller
	case err != nil:
		return r.wrap(err)
	}
	return nil
}

// notified takes a notification of the subscription.
func (l *listener) notified(m *transport.Message) {
	if m.Method == "notifications/subscriptions/acknowledged" {
		l.once.Do(func() {
			var params struct {
				Notifications Filter `json:"notifications"`
			}
			if json.Unmarshal(m.Params, &params) == nil {
				l.sub.accepted = l.asked.and(&params.Notifications)
			}
			close(l.acknowledged)
		})
		return
	}
	e, ok := eventOf(m.Method, m.Params)
	if !ok {
		return
	}
	l.outdated(e)
	// A resource that nobody asked about may be a part of one that somebody did.
	if !l.asked.wants(e) && (e.Kind != ResourceUpdated || len(l.asked.URIs) == 0) {
		return
	}
	if !l.sub.push(e) {
		l.client.log.Warn("dropped a change, the subscription's events are not taken")
	}
}

// outdated takes note of a change. A resource that nobody asked about is a part of one that somebody did, and does not
// say of which (schema, ResourceUpdatedNotificationParams).
func (l *listener) outdated(e Event) {
	l.client.outdated(e)
	select {
	case <-l.acknowledged:
	default:
		return
	}
	if accepted := &l.sub.accepted; e.Kind == ResourceUpdated && !accepted.wants(e) {
		for _, uri := range accepted.URIs {
			l.client.outdated(Event{Kind: ResourceUpdated, URI: uri})
		}
	}
}

// listenerOf returns the subscription that a notification says that it belongs to.
func (c *Client) listenerOf(params json.RawMessage) *listener {
	d := jsonscan.New(params)
	var id transport.ID
	for name := range d.Object() {
		if string(name) != "_meta" || d.Kind() != jsonscan.Object {
			continue
		}
		for name := range d.Object() {
			if string(name) == metaSubscriptionID {
				id, _ = transport.ParseID(d.Raw())
			}
		}
	}
	n, ok := id.Int64()
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[n]; p != nil {
		return p.listener
	}
	return nil
}

// endListener ends a subscription that the server cancelled, and reports whether there is one with the id.
func (c *Client) endListener(id transport.ID) bool {
	n, ok := id.Int64()
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[n]
	if !ok || p == nil || p.listener == nil {
		return false
	}
	delete(c.pending, n)
	p.resolve(&transport.Message{ID: id, Result: json.RawMessage("{}")}, nil)
	return true
}
