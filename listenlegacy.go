package mcp

import (
	"context"
	"slices"
	"sync"
)

// legacyListeners are the subscriptions on a connection of a legacy revision, where all notifications come to
// everybody.
type legacyListeners struct {
	mu        sync.Mutex
	subs      map[*Subscription]bool
	interests map[string]*interest // by URI
}

// interest is who wants to know about a resource: so many subscriptions, and the caller of SubscribeResource.
type interest struct {
	subscriptions int
	caller        bool
}

func (c *Client) listenLegacy(ctx context.Context, f Filter) (*Subscription, error) {
	s := &Subscription{wake: make(chan struct{}, 1), accepted: c.Server().Capabilities.offer(f)}
	held := 0
	release := func() {
		for _, uri := range s.accepted.URIs[:held] {
			c.releaseResource(uri, func(i *interest) { i.subscriptions-- })
		}
	}
	for _, uri := range s.accepted.URIs {
		if err := c.subscription(ctx, "resources/subscribe", uri, nil); err != nil {
			release()
			return nil, err
		}
		c.legacy.get().change(uri, func(i *interest) { i.subscriptions++ })
		held++
	}
	forget := context.AfterFunc(c.ctx(), func() { s.end(c.Err()) })
	s.stop = sync.OnceFunc(func() {
		forget()
		c.legacy.get().remove(s)
		release()
	})
	c.legacy.get().add(s)
	return s, nil
}

// announced is everything that a server of a legacy revision tells of.
func (c *Client) announced() Filter {
	all := Filter{Tools: true, Prompts: true, Resources: true, URIs: c.legacy.get().uris()}
	return c.Server().Capabilities.offer(all)
}

// offer is the part of a filter that a server of a legacy revision offers.
func (s *ServerCapabilities) offer(f Filter) Filter {
	accepted := Filter{
		Tools:     f.Tools && s.Tools != nil && s.Tools.ListChanged,
		Prompts:   f.Prompts && s.Prompts != nil && s.Prompts.ListChanged,
		Resources: f.Resources && s.Resources != nil && s.Resources.ListChanged,
	}
	if s.Resources != nil && s.Resources.Subscribe {
		accepted.URIs = f.URIs
	}
	return accepted
}

// releaseResource ends an interest in a resource. If it was the last one, the server is told, without waiting longer
// than for a notice; if that fails it may go on telling, and nobody listens.
func (c *Client) releaseResource(uri string, end func(*interest)) {
	if !c.legacy.get().change(uri, end) || c.cause() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx(), noticeTimeout)
	defer cancel()
	_ = c.subscription(ctx, "resources/unsubscribe", uri, nil)
}

func (l *legacyListeners) add(s *Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subs == nil {
		l.subs = make(map[*Subscription]bool)
	}
	l.subs[s] = true
}

func (l *legacyListeners) remove(s *Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.subs, s)
}

// tell takes an event to the subscriptions that want it.
func (l *legacyListeners) tell(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subs {
		if s.accepted.wants(e) {
			s.push(e) // there are no more different ones than it asked for
		}
	}
}

// end ends all subscriptions. The resources stay subscribed to until each is closed.
func (l *legacyListeners) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subs {
		s.end(err)
	}
}

// change applies a change to the interest in a resource, and reports whether none is left.
func (l *legacyListeners) change(uri string, apply func(*interest)) (none bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.interests[uri]
	if i == nil {
		i = new(interest)
	}
	apply(i)
	if *i == (interest{}) {
		delete(l.interests, uri)
		return true
	}
	if l.interests == nil {
		l.interests = make(map[string]*interest)
	}
	l.interests[uri] = i
	return false
}

// uris are the resources that somebody is interested in.
func (l *legacyListeners) uris() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var uris []string
	for uri := range l.interests {
		uris = append(uris, uri)
	}
	slices.Sort(uris)
	return uris
}
