package mcp

import (
	"context"

	"github.com/seed62b61957/mcp/transport"
)

// A Cache keeps results for as long as the server says that they are fresh (2026-07-28, server/utilities/caching): the
// pages of lists, and what was read of resources. It is used by the clients that have it in their [Options]. Legacy
// revisions have no such thing: of their servers nothing is kept.
//
// A result is no longer fresh once its time is over, or when the server tells of a change, so listen for changes where
// they matter: with a handler in [Options].On, with SubscribeResource, or with Listen. Results that took input of the
// client's are never kept, nor are those of [Client.Request]. [WithCached] and [WithRefresh] change what a call does
// about the cache. Calls with [WithMeta] or [WithHeader] pass it by, since the answer may depend on those.
//
// Each page of a list has a time of its own. When the server no longer knows the cursor of one, all pages are
// forgotten: ListTools and the like then read the list anew, while a walk ends with the server's error.
//
// Each call gets a value of its own. Calls for the same thing that run at the same time may each ask the server. The
// methods may be called from any goroutine.
type Cache struct {
	store  *cacheStore
	server string
	owner  string
}

const defaultCacheBytes = 16 << 20

// NewCache returns an empty cache. It holds at most so many bytes, 16 MiB if maxBytes is not positive; what was used
// least recently goes first, and a result that is larger than all of it is not kept.
//
// Clients that are given the same cache share its size, and nothing that is in it: see [Cache.For].
func NewCache(maxBytes int) *Cache {
	if maxBytes <= 0 {
		maxBytes = defaultCacheBytes
	}
	return &Cache{store: newCacheStore(maxBytes)}
}

// For returns the part of the cache for clients of a server, which is known by any name, such as its URL. They share
// what the server marks as public, and also, if they have the same name for the authorization (such as the user's
// account), what it marks as private. A client without the one name or the other shares nothing of that kind. Only
// clients that introduce themselves alike, with the same capabilities and in the same revision, share anything.
//
// Use it for clients that come and go, or that act for different users. Names must tell servers apart: what one of them
// says is served to the clients of all that have its name. A client counts as one authorization, so one whose
// transport acts for different users in turn must not have a cache.
func (c *Cache) For(server, authorization string) *Cache {
	return &Cache{store: c.store, server: server, owner: authorization}
}

// clientCache is what a client sees of a cache. A nil one is that of a client without a cache.
type clientCache struct {
	store         *cacheStore
	server, owner cacheName
}

// join gives names to a client that has none.
func (c *Cache) join() *clientCache {
	if c == nil {
		return nil
	}
	own := cacheName{client: c.store.join()}
	v := &clientCache{store: c.store, server: own, owner: own}
	if c.server != "" {
		v.server = cacheName{given: c.server}
	}
	if c.owner != "" {
		v.owner = cacheName{given: c.owner}
	}
	return v
}

// cacheUse is what a request has to do with the cache, and what came of it.
type cacheUse struct {
	changes Event // what outdates its answer

	key  cacheKey
	kept bool // the answer came from the cache
	old  bool // and is no longer fresh
}

// cacheMode is what a call wants of the cache.
type cacheMode int

const (
	cacheFresh cacheMode = iota
	cacheAny
	cacheRefresh
)

// exchange returns what the cache has in answer to a request, or else what the server answers. Here each round of input
// is a request of its own, with other parameters.
func (c *Client) exchange(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	session := c.session.Load()
	if !c.cache.takes(r, o, session) {
		return c.exchangeAnew(ctx, r, o)
	}
	if ctx.Err() != nil {
		return nil, transport.Unsent(ended(ctx))
	}
	if err := c.cause(); err != nil {
		return nil, transport.Unsent(err)
	}
	use, store := r.cache, c.cache.store
	use.key = cacheKey{
		server: c.cache.server,
		owner:  c.cache.owner,
		common: session.commonMeta(),
		method: r.method,
		params: string(r.params),
	}
	if o.cache != cacheRefresh {
		if result, fresh := store.get(use.key, o.cache == cacheFresh); result != nil {
			use.kept, use.old = true, !fresh
			return &transport.Message{Result: result}, nil
		}
	}
	f := store.begin(use.key, use.changes)
	defer f.end()
	answer, err := c.exchangeAnew(ctx, r, o)
	if err == nil && c.session.Load() == session { // it may have been sent again, in another revision
		f.keep(answer.Result, hintsOf(answer.Result))
	}
	return answer, err
}

// takes reports whether a request is one for the cache. One that carries input is not: what it leads to depends on that
// (server/utilities/caching, Cache Key).
func (v *clientCache) takes(r *request, o *callOptions, s *session) bool {
	return v != nil && r.cache != nil && s.modern() && len(o.meta) == 0 && len(o.header) == 0 &&
		valueAt(r.params, []string{"inputResponses"}) == nil && valueAt(r.params, []string{"requestState"}) == nil
}

// unusable forgets an answer that turned out to be of no use.
func (v *clientCache) unusable(r *request) {
	if v != nil && r.cache != nil {
		v.store.drop(r.cache.key)
	}
}

// badCursor forgets the pages of a list: a cursor came to nothing, so that the others may be of another time as well
// (server/utilities/caching, Interaction with Pagination).
func (v *clientCache) badCursor(method string) {
	if v != nil {
		v.store.dropAll(v.server, method)
	}
}

// outdated takes note of a change. This is done where the notification arrives, in the order of what the server sends
// and before anybody hears of it: who asks because of it gets what is true now.
func (c *Client) outdated(e Event) {
	if e.Kind == ToolsChanged {
		c.tools.get().forget()
	}
	if c.cache != nil {
		c.cache.store.outdate(cacheTopic{c.cache.server, e})
	}
}
