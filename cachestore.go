package mcp

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"
	"time"
)

// cacheStore keeps answers, up to a number of bytes. What was used least recently goes first.
type cacheStore struct {
	limit int

	mu      sync.Mutex
	clients uint64 // how many there have been: the last one's number
	begun   uint64 // how many fetches there have been
	bytes   int
	entries map[cacheKey]*list.Element // of *cacheEntry
	recent  list.List                  // what was used last is in front
	topics  map[cacheTopic]*topic      // of the entries, and of the fetches that are under way
}

// cacheKey is everything that an answer depends on. Two requests with the same key are the same request.
type cacheKey struct {
	server cacheName
	owner  cacheName // whose authorization a private answer belongs to; none for a public one
	common string    // what goes with every request: the revision, the client and its capabilities
	method string
	params string
}

func (k cacheKey) public() cacheKey {
	k.owner = cacheName{}
	return k
}

// cacheName is a name that the caller gave, or else stands for one client alone.
type cacheName struct {
	given  string
	client uint64 // from 1 on
}

// cacheTopic is what a notification is about.
type cacheTopic struct {
	server  cacheName
	changes Event
}

// A topic knows which answers about it are outdated: those that were asked for in an earlier version.
type topic struct {
	about   cacheTopic
	version uint64
	users   int // entries and fetches
}

type cacheEntry struct {
	key      cacheKey
	result   json.RawMessage // never changed, never given away
	topic    *topic
	version  uint64 // of the topic, when the answer was asked for
	fetch    uint64 // the number of the fetch
	received time.Time
	ttl      time.Duration
}

// cacheOverhead is about what an entry takes beside its texts.
const cacheOverhead = 512

func (e *cacheEntry) size() int {
	return len(e.result) + len(e.key.params) + len(e.key.common) + cacheOverhead
}

// fresh reports whether the server still stands by the answer. A clock that was set back makes it stale.
func (e *cacheEntry) fresh(now time.Time) bool {
	age := now.Sub(e.received)
	return e.version == e.topic.version && age >= 0 && age < e.ttl
}

// wallClock is the time without its monotonic reading, which on some systems stands still while the machine sleeps.
func wallClock() time.Time { return time.Now().Round(0) }

func newCacheStore(limit int) *cacheStore {
	return &cacheStore{
		limit:   limit,
		entries: make(map[cacheKey]*list.Element),
		topics:  make(map[cacheTopic]*topic),
	}
}

// join numbers a client.
func (s *cacheStore) join() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients++
	return s.clients
}

// get returns a copy of the newest answer to a request, nil if there is none. With onlyFresh a stale one is none.
func (s *cacheStore) get(key cacheKey, onlyFresh bool) (result json.RawMessage, fresh bool) {
	e, fresh := s.find(key)
	if e == nil || onlyFresh && !fresh {
		return nil, false
	}
	return bytes.Clone(e.result), fresh
}

func (s *cacheStore) find(key cacheKey) (e *cacheEntry, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = s.entry(key)
	if other := s.entry(key.public()); e == nil || other != nil && other.fetch > e.fetch {
		e = other
	}
	if e == nil {
		return nil, false
	}
	s.recent.MoveToFront(s.entries[e.key])
	return e, e.fresh(wallClock())
}

func (s *cacheStore) entry(key cacheKey) *cacheEntry {
	if element := s.entries[key]; element != nil {
		return element.Value.(*cacheEntry)
	}
	return nil
}

// A fetch is a request whose answer is to be kept.
type fetch struct {
	store   *cacheStore
	key     cacheKey // of a private answer
	number  uint64
	topic   *topic
	version uint64
}

// begin begins a fetch. Changes that are told of from here on outdate its answer, which may have been on its way.
func (s *cacheStore) begin(key cacheKey, changes Event) *fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	about := cacheTopic{key.server, changes}
	t := s.topics[about]
	if t == nil {
		t = &topic{about: about}
		s.topics[about] = t
	}
	t.users++
	return &fetch{store: s, key: key, number: s.begun, topic: t, version: t.version}
}

// end ends a fetch, whatever came of it.
func (f *fetch) end() {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.leave(f.topic)
}

func (s *cacheStore) leave(t *topic) {
	if t.users--; t.users == 0 {
		delete(s.topics, t.about)
	}
}

// keep puts an answer in the place of older ones to the same request. One that may not be kept only removes them.
func (f *fetch) keep(result json.RawMessage, hints CacheHints) {
	e := &cacheEntry{
		key:      f.key,
		result:   bytes.Clone(result), // the caller's value shares the original
		topic:    f.topic,
		version:  f.version,
		fetch:    f.number,
		received: wallClock(),
		ttl:      hints.TTL(),
	}
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range []cacheKey{f.key, f.key.public()} {
		if e := s.entry(key); e != nil && e.fetch > f.number {
			return // this one was overtaken
		}
	}
	s.remove(f.key)
	s.remove(f.key.public())
	if e.ttl <= 0 || e.size() > s.limit {
		return
	}
	if f.isPublic(hints) {
		e.key = f.key.public()
	}
	s.bytes += e.size()
	s.entries[e.key] = s.recent.PushFront(e)
	e.topic.users++
	for s.bytes > s.limit {
		s.remove(s.recent.Back().Value.(*cacheEntry).key)
	}
}

// isPublic reports whether an answer may be shared. All pages of a list have the scope of the first one
// (server/utilities/caching, Interaction with Pagination), so one whose first page is not known to be public is not.
func (f *fetch) isPublic(hints CacheHints) bool {
	if hints.Scope != CachePublic {
		return false
	}
	first := f.key.public()
	first.params = ""
	return f.key.params == "" || f.topic.about.changes.Kind == ResourceUpdated || f.store.entry(first) != nil
}

func (s *cacheStore) remove(key cacheKey) {
	element := s.entries[key]
	if element == nil {
		return
	}
	e := s.recent.Remove(element).(*cacheEntry)
	delete(s.entries, key)
	s.bytes -= e.size()
	s.leave(e.topic)
}

// drop forgets the answers to a request.
func (s *cacheStore) drop(key cacheKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
	s.remove(key.public())
}

// dropAll forgets all answers of a server to a method.
func (s *cacheStore) dropAll(server cacheName, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.entries {
		if key.server == server && key.method == method {
			s.remove(key)
		}
	}
}

// outdate makes stale what a server has said about something, and what it may be saying right now.
func (s *cacheStore) outdate(about cacheTopic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[about]; t != nil {
		t.version++
	}
}
