package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/seed62b61957/mcp"
)

// offers are what a server has of one kind, in the order in which it was added.
type offers[T any] struct {
	mu    sync.Mutex
	ever  bool // whether there ever was one
	items []offer[T]
}

type offer[T any] struct {
	name   string
	item   *T
	handle Handler
}

func (o *offers[T]) add(name string, item *T, h Handler) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ever = true
	added := offer[T]{name, item, h}
	if i := o.index(name); i >= 0 {
		o.items[i] = added
		return
	}
	o.items = append(o.items, added)
}

func (o *offers[T]) remove(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.index(name); i >= 0 {
		o.items = slices.Delete(o.items, i, i+1)
	}
}

func (o *offers[T]) index(name string) int {
	return slices.IndexFunc(o.items, func(known offer[T]) bool { return known.name == name })
}

func (o *offers[T]) offered() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ever
}

// find returns the handler of the first one whose name matches, nil if there is none.
func (o *offers[T]) find(matches func(name string) bool) Handler {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, known := range o.items {
		if matches(known.name) {
			return known.handle
		}
	}
	return nil
}

// page answers a request for a page of the list. A cursor is the number of items before the page.
func (o *offers[T]) page(call *Call, key string) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	from, err := call.offset()
	if err != nil || from > len(o.items) {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "unknown cursor"}
	}
	to, size := len(o.items), call.Session.server.PageSize
	page := map[string]any{}
	if size > 0 && from+size < to {
		to = from + size
		page["nextCursor"] = strconv.Itoa(to)
	}
	items := []*T{}
	for _, known := range o.items[from:to] {
		items = append(items, known.item)
	}
	page[key] = items
	return page, nil
}

func (c *Call) offset() (int, error) {
	var params struct {
		Cursor *string `json:"cursor"`
	}
	if err := json.Unmarshal(c.params(), &params); err != nil || params.Cursor == nil {
		return 0, err
	}
	n, err := strconv.ParseUint(*params.Cursor, 10, 31)
	return int(n), err
}

// typed makes a Handler of one with a result of its own type. No result is an empty one.
func typed[R any](h func(context.Context, *Call) (*R, error)) Handler {
	return func(ctx context.Context, call *Call) (any, error) {
		result, err := h(ctx, call)
		if result == nil {
			result = new(R)
		}
		return result, err
	}
}

// reportingFailure has the model see what went wrong (server/tools, Error Handling).
func reportingFailure(h Handler) Handler {
	return func(ctx context.Context, call *Call) (any, error) {
		result, err := h(ctx, call)
		var rpc *mcp.RPCError
		var needed *inputRequired
		if err == nil || errors.As(err, &rpc) || errors.As(err, &needed) || errors.Is(err, ErrNoAnswer) {
			return result, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(err.Error())}, IsError: true}, nil
	}
}
