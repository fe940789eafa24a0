package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// Since 2026-07-28 a server tells of changes only where it was asked to listen. The client asks for what its handlers
// in Options.On are about, and for the resources of SubscribeResource, and listens again when that ends.

const (
	minListenDelay = time.Second
	maxListenDelay = 30 * time.Second
	// maxListenFailures bounds the subscriptions in a row that come to nothing. One that lasted ends the row, and so
	// does an outage.
	maxListenFailures = 5
)

// watches are the resources that are listened to for SubscribeResource.
type watches struct {
	mu   sync.Mutex
	stop map[string]context.CancelFunc
}

// watchLists listens for the handlers of list changes.
func (c *Client) watchLists() {
	on, server := &c.opts.On, &c.Server().Capabilities
	f := Filter{
		Tools:     on.ToolsChanged != nil && server.Tools != nil && server.Tools.ListChanged,
		Prompts:   on.PromptsChanged != nil && server.Prompts != nil && server.Prompts.ListChanged,
		Resources: on.ResourcesChanged != nil && server.Resources != nil && server.Resources.ListChanged,
	}
	if !f.IsZero() && c.session.Load().modern() {
		go c.keepListening(c.ctx(), nil, f)
	}
}

// watchResource listens for one resource. The first try is the caller's.
func (c *Client) watchResource(ctx context.Context, uri string) error {
	f := Filter{URIs: []string{uri}}
	sub, err := c.Listen(ctx, f)
	if err != nil {
		return err
	}
	if accepted := sub.Accepted(); !accepted.wants(Event{Kind: ResourceUpdated, URI: uri}) {
		_ = sub.Close()
		r := request{method: "subscriptions/listen", target: uri}
		return r.wrap(&CapabilityError{Capability: "resources.subscribe"})
	}
	life, stop := context.WithCancel(c.ctx())
	w := c.watches.get()
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.stop[uri]; before != nil {
		before()
	}
	if w.stop == nil {
		w.stop = make(map[string]context.CancelFunc)
	}
	w.stop[uri] = stop
	go c.keepListening(life, sub, f)
	return nil
}

func (c *Client) unwatchResource(uri string) {
	w := c.watches.get()
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.stop[uri]; stop != nil {
		stop()
		delete(w.stop, uri)
	}
}

// keepListening takes the events of a subscription to the handlers, and listens again when it ends: for as long as it
// takes if the server cannot be reached, and otherwise while that comes to something.
func (c *Client) keepListening(ctx context.Context, sub *Subscription, f Filter) {
	for tries, vain := 0, 0; vain <= maxListenFailures; tries++ {
		if tries > 0 && pause(ctx, min(minListenDelay<<min(tries-1, maxListenFailures), maxListenDelay)) != nil {
			return
		}
		if sub == nil {
			var err error
			var refusal *RPCError
			if sub, err = c.Listen(ctx, f); errors.As(err, &refusal) {
				break
			} else if err != nil {
				if vain++; unreachable(err) {
					vain = 0
				}
				continue
			}
			if tries > 0 {
				c.missed(f) // whatever happened meanwhile
			}
		}
		begun := time.Now()
		for e, err := range sub.Events(ctx) {
			if err == nil {
				c.changed(e)
			}
		}
		_ = sub.Close()
		sub = nil
		if vain++; time.Since(begun) > maxListenDelay {
			tries, vain = 0, 0
		}
	}
	if ctx.Err() == nil {
		c.log.Warn("changes will not be noticed: the server does not keep a subscription")
	}
}

// unreachable reports whether an error is about the way to the server, which says nothing about the server.
func unreachable(err error) bool {
	return errors.Is(err, transport.ErrUnavailable) || errors.Is(err, transport.ErrNoResponse) || transport.SafeToRetry(err)
}

// missed takes everything that a filter is about for changed.
func (c *Client) missed(f Filter) {
	for _, kind := range []EventKind{ToolsChanged, PromptsChanged, ResourcesChanged} {
		if e := (Event{Kind: kind}); f.wants(e) {
			c.noticed(e)
		}
	}
	for _, uri := range f.URIs {
		c.noticed(Event{Kind: ResourceUpdated, URI: uri})
	}
}

// noticed takes an event that belongs to no subscription in particular to whoever it concerns.
func (c *Client) noticed(e Event) {
	c.outdated(e)
	c.legacy.get().tell(e)
	c.changed(e)
}

// changed takes an event to its handler.
func (c *Client) changed(e Event) {
	on := &c.opts.On
	var handler func(context.Context)
	switch e.Kind {
	case ToolsChanged:
		handler = on.ToolsChanged
	case PromptsChanged:
		handler = on.PromptsChanged
	case ResourcesChanged:
		handler = on.ResourcesChanged
	case ResourceUpdated:
		if on.ResourceUpdated != nil {
			handler = func(ctx context.Context) { on.ResourceUpdated(ctx, e.URI) }
		}
	}
	c.enqueue(e, e.message(), handler)
}
