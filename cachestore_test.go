package mcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestFreshnessIsByTheClockOnTheWall(t *testing.T) {
	assert.NotContains(t, wallClock().String(), "m=", "a monotonic clock may stand still while the machine sleeps")
	received := wallClock()
	e := cacheEntry{received: received, ttl: time.Minute, topic: &topic{}}
	for age, fresh := range map[time.Duration]bool{
		-time.Nanosecond:              false, // the clock was set back
		0:                             true,
		time.Minute - time.Nanosecond: true,
		time.Minute:                   false,
		time.Duration(1<<63 - 1):      false,
		-1 * time.Duration(1<<63-1):   false,
	} {
		assert.Equal(t, fresh, e.fresh(received.Add(age)), age)
	}
}

func TestTheSizeOfACache(t *testing.T) {
	assert.Equal(t, 1, NewCache(1).store.limit)
	assert.Equal(t, 16<<20, NewCache(0).store.limit, "documented")
	assert.Equal(t, 16<<20, NewCache(-1).store.limit)
}

// Nothing is left of what is no longer there.
func TestAStoreForgetsTopics(t *testing.T) {
	s := newCacheStore(10_000)
	key := cacheKey{method: "resources/read", params: "a"}
	long := CacheHints{TTLMs: 60000}
	run := func(changes Event, end func(f *fetch)) {
		f := s.begin(key, changes)
		end(f)
		f.end()
	}
	a := Event{Kind: ResourceUpdated, URI: "a"}
	run(a, func(*fetch) {})
	assert.Empty(t, s.topics, "a fetch that came to nothing")
	run(a, func(f *fetch) { f.keep([]byte(`{}`), long) })
	run(a, func(f *fetch) { f.keep([]byte(`{}`), long) })
	assert.Len(t, s.topics, 1)
	assert.Equal(t, 1, s.recent.Len())
	s.outdate(cacheTopic{changes: Event{Kind: ResourceUpdated, URI: "b"}})
	assert.Len(t, s.topics, 1, "what nobody has asked about")
	run(a, func(f *fetch) { f.keep([]byte(`{}`), CacheHints{}) })
	assert.Empty(t, s.topics)
	assert.Empty(t, s.entries)
	assert.Zero(t, s.recent.Len())
	assert.Zero(t, s.bytes)
	run(a, func(f *fetch) { f.keep(make([]byte, 10_000), long) })
	assert.Empty(t, s.topics, "too large")

	run(a, func(f *fetch) { f.keep([]byte(`{}`), long) })
	s.drop(key)
	assert.Empty(t, s.entries)
	shared := CacheHints{TTLMs: 1, Scope: CachePublic}
	run(a, func(f *fetch) { f.keep([]byte(`{}`), shared) })
	s.drop(cacheKey{owner: cacheName{given: "me"}, method: key.method, params: key.params})
	assert.Empty(t, s.entries, "a public one")
	run(a, func(f *fetch) { f.keep([]byte(`{}`), shared) })
	s.dropAll(cacheName{}, "resources/read")
	assert.Empty(t, s.topics)
	assert.Empty(t, s.entries)
	assert.Zero(t, s.bytes)
}

func TestHintsOfAResult(t *testing.T) {
	r := roundTrip[ReadResourceResult](t, `{"contents":[],"ttlMs":9007199254740993,"cacheScope":"public"}`)
	assert.Equal(t, CacheHints{9007199254740993, CachePublic}, r.Cache)
	roundTrip[ReadResourceResult](t, `{"contents":[],"ttlMs":0,"cacheScope":"to come"}`)
	roundTrip[ReadResourceResult](t, `{"contents":[]}`)
	r, notes := read[ReadResourceResult](t, `{"contents":[],"ttlMs":-5,"cacheScope":5}`)
	assert.Zero(t, r.Cache)
	assert.Equal(t, []string{
		"ttlMs: negative, taken for 0", "cacheScope: ignored, expected a string, found a number",
	}, notes)
	assert.Zero(t, hintsOf([]byte(`{"ttlMs":5,`)))
	assert.Zero(t, hintsOf(nil))
}

// Whatever a server says about keeping a result is nothing, or some time that is not negative, and survives being
// written.
func FuzzCacheHints(f *testing.F) {
	f.Add([]byte(`{"ttlMs":60000,"cacheScope":"public","contents":[]}`))
	f.Add([]byte(`{"resultType":"complete","ttlMs":-1,"ttlMs":9e18,"cacheScope":"\ud800"}`))
	f.Add([]byte(`{"resultType":"input_required","ttlMs":1}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		hints := hintsOf(result)
		assert.GreaterOrEqual(t, hints.TTL(), time.Duration(0))
		assert.Equal(t, hints, hintsOf([]byte(written(t, ReadResourceResult{Cache: hints}))))
	})
}
