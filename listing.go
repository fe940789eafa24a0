package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Page is one page of a list.
type Page[T any] struct {
	// Items are what the page holds; entries that could not be used are left out.
	Items []*T
	// NextCursor leads to the next page; nil is the end.
	NextCursor *string
	// Cache says for how long the page may be kept: each has a time of its own.
	Cache CacheHints
	Meta  Meta

	bytes int  // of the JSON that it was read from
	kept  bool // it came from the cache
	old   bool // and is no longer fresh
}

// A listing is one kind of list: how it is asked for and read.
type listing[T any] struct {
	method  string
	changes EventKind // what says that the list is no longer true
	offered func(*ServerCapabilities) bool
	decode  func(data json.RawMessage) (*Page[T], []string, error)
	sift    func(*Client, *Page[T])    // what is to be done with a page, if anything
	begin   func(*Client) (end func()) // what is to be done about a walk of the whole list, if anything
}

// page fetches one page. A server that does not offer the kind at all has an empty list, and is not asked.
func (l *listing[T]) page(ctx context.Context, c *Client, cursor *string, opts []CallOption) (*Page[T], error) {
	if !l.offered(&c.Server().Capabilities) {
		return &Page[T]{Items: []*T{}}, nil
	}
	o := c.callOptions(opts)
	r := &request{method: l.method, cache: &cacheUse{changes: Event{Kind: l.changes}}}
	if cursor != nil {
		r.params = append(jsonscan.AppendString([]byte(`{"cursor":`), *cursor), '}')
	}
	answer, err := c.call(ctx, r, &o)
	if err != nil {
		var rpc *RPCError
		switch refused := errors.As(err, &rpc); {
		case refused && cursor != nil:
			c.cache.badCursor(l.method)
		case refused && rpc.Code == CodeMethodNotFound:
			c.log.Warn("the server offers a list that it does not have", slog.String("method", l.method))
			return &Page[T]{Items: []*T{}}, nil
		}
		return nil, err
	}
	page, notes, err := l.decode(answer.Result)
	c.tolerated(l.method, notes)
	if err != nil {
		c.cache.unusable(r)
		return nil, r.wrap(fmt.Errorf("unusable result: %w", err))
	}
	page.bytes, page.kept, page.old = len(answer.Result), r.cache.kept, r.cache.old
	// Until 2025-11-25 an empty cursor is how some servers say that there is no more; later it is one like any other
	// (2026-07-28, server/utilities/pagination).
	if page.NextCursor != nil && *page.NextCursor == "" && !c.session.Load().modern() {
		page.NextCursor = nil
	}
	if l.sift != nil {
		l.sift(c, page)
	}
	return page, nil
}

// walk yields the items of all pages, fetching each when it is needed. It ends after the first error.
func (l *listing[T]) walk(ctx context.Context, c *Client, opts []CallOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range l.pages(ctx, c, opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// pages yields all pages, in the same way.
func (l *listing[T]) pages(ctx context.Context, c *Client, opts []CallOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		end, old := func() {}, false
		if l.begin != nil {
			end = l.begin(c)
		}
		var cursor *string
		bytes := 0
		seen := map[[sha256.Size]byte]bool{} // not the cursors, which may be as large as pages, and keep those
		for pages := 1; ; pages++ {
			page, err := l.page(ctx, c, cursor, opts)
			if err != nil {
				yield(nil, err)
				return
			}
			if bytes += page.bytes; bytes > c.opts.MaxListBytes {
				yield(nil, l.endless(&PageError{Pages: pages, Bytes: bytes}))
				return
			}
			if !yield(page, nil) {
				return
			}
			old = old || page.old
			if cursor = page.NextCursor; cursor == nil {
				if !old {
					end()
				}
				return
			}
			at := sha256.Sum256([]byte(*cursor))
			if repeated := seen[at]; repeated || pages >= c.opts.MaxPages {
				yield(nil, l.endless(&PageError{Pages: pages, Repeated: repeated}))
				return
			}
			seen[at] = true
		}
	}
}

func (l *listing[T]) endless(err *PageError) error {
	r := request{method: l.method}
	return r.wrap(err)
}

// collect returns the items of all pages, and none after an error. If it is the cursor of a page from the cache that
// the server does not know any longer, the list is read anew: all its pages are forgotten.
func (l *listing[T]) collect(ctx context.Context, c *Client, opts []CallOption) ([]*T, error) {
	items, kept, err := l.collectOnce(ctx, c, opts)
	var rpc *RPCError
	if kept && errors.As(err, &rpc) {
		items, _, err = l.collectOnce(ctx, c, opts)
	}
	return items, err
}

// collectOnce also reports whether there was a page from the cache.
func (l *listing[T]) collectOnce(ctx context.Context, c *Client, opts []CallOption) (_ []*T, kept bool, _ error) {
	items := []*T{}
	for page, err := range l.pages(ctx, c, opts) {
		if err != nil {
			return nil, kept, err
		}
		kept = kept || page.kept
		items = append(items, page.Items...)
	}
	return items, kept, nil
}
