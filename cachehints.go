package mcp

import (
	"math"
	"time"
)

// CacheScope says who may share a result that is kept.
type CacheScope string

// The scopes. Any other value counts as private, and so does none: there is no safe default (SEP-2549).
const (
	CachePublic  CacheScope = "public"  // everybody
	CachePrivate CacheScope = "private" // who has the same authorization
)

// CacheHints are what a server says about keeping a result (2026-07-28, server/utilities/caching). The zero value is
// that of a server that says nothing, as all of the revisions before.
type CacheHints struct {
	// TTLMs is for how many milliseconds after its receipt the result is fresh; 0 means that it is stale at once.
	TTLMs int64 `json:"ttlMs"`
	// Scope is as it was sent, "" if it was not.
	Scope CacheScope `json:"cacheScope,omitempty"`
}

// TTL is TTLMs as a duration, or the longest one (292 years) if it is beyond that.
func (h CacheHints) TTL() time.Duration {
	return time.Duration(min(h.TTLMs, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// member reads a member of a result that may be one of the hints.
func (h *CacheHints) member(d *decoder, name []byte) {
	switch string(name) {
	case "ttlMs":
		if ms := d.integer(); ms != nil && *ms < 0 {
			d.note("negative, taken for 0") // server/utilities/caching, Time-to-Live (TTL) Field
		} else if ms != nil {
			h.TTLMs = *ms
		}
	case "cacheScope":
		h.Scope = CacheScope(d.text())
	}
}

// wire is what to embed where a result is written: the members, or nothing if there was nothing.
func (h CacheHints) wire() *CacheHints {
	if h == (CacheHints{}) {
		return nil
	}
	return &h
}

// keepable is what decides whether a result may be kept.
type keepable struct {
	kind  string // resultType
	hints CacheHints
}

func (k *keepable) decode(d *decoder) {
	for name := range d.members() {
		if string(name) == "resultType" {
			k.kind = d.text()
			continue
		}
		k.hints.member(d, name)
	}
}

// hintsOf returns the hints of a result that may be kept; those of one that may not have no TTL. What asks for input is
// no result yet (server/utilities/caching, Cacheable Results).
func hintsOf(result []byte) CacheHints {
	var k keepable
	if _, err := decodeInto(result, &k); err != nil || k.kind != "" && k.kind != "complete" {
		return CacheHints{}
	}
	return k.hints
}
