package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/seed62b61957/mcp/internal/schema"
)

// toolIndex remembers what calls need to know about the tools that were listed.
type toolIndex struct {
	mu    sync.Mutex
	tools map[string]*knownTool // those that there is something to know about
	bytes int                   // of their names and of what is known about them
	whole bool                  // a walk has come to its end: about all other tools there is nothing to know
	walks int                   // how many walks of the whole list have begun
	lossy int                   // the last one in which something was forgotten
	stale bool                  // the list has changed since
}

// maxIndexBytes and maxIndexed bound what a server can have remembered by inventing tools. Beyond that everything is
// forgotten, and listed again when it is needed.
const (
	maxIndexBytes = 16 << 20
	maxIndexed    = 10_000
)

// knownTool is what a call needs to know about a tool. The zero value is that of a tool that no list has.
type knownTool struct {
	output   *outputSchema // nil if it has none
	mirrored []mirrored
	walk     int // the last one that it was seen in
}

// size is about how much it takes to remember what is known about a tool of the name; 0 if that is nothing.
func (k *knownTool) size(name string) int {
	if k == nil {
		return 0
	}
	const fixed = 32 // of each small part
	size := fixed + len(name)
	if k.output != nil {
		size += len(k.output.raw) + len(k.output.tool)
	}
	for _, m := range k.mirrored {
		size += fixed + len(m.header)
		for _, step := range m.path {
			size += fixed + len(step)
		}
	}
	return size
}

// outputSchema is a schema that is compiled when it is first needed, and once.
type outputSchema struct {
	tool    string
	raw     json.RawMessage
	once    sync.Once
	checker *schema.Schema // nil if the schema cannot be used
}

// siftTools takes note of the tools of a page, and leaves out those that must not be used. What is known may be newer
// than a page that is no longer fresh.
func (c *Client) siftTools(page *Page[Tool]) {
	mirrors := c.session.Load().modern() && c.conn.Traits().MirrorsParams
	kept := page.Items[:0]
	for _, t := range page.Items {
		var params []mirrored
		if mirrors {
			var err error
			if params, err = mirroredParams(t.InputSchema); err != nil {
				c.log.Warn("left out a tool", slog.String("tool", t.Name), slog.Any("reason", err))
				continue
			}
		}
		if !page.old {
			c.tools.get().remember(t, params)
		}
		kept = append(kept, t)
	}
	page.Items = kept
}

// remember takes in a tool. An output schema that did not change stays compiled.
func (x *toolIndex) remember(t *Tool, params []mirrored) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.tools[t.Name]
	if t.OutputSchema == nil && len(params) == 0 {
		x.drop(t.Name)
		return
	}
	unchanged := before != nil && before.output.is(t.OutputSchema)
	if unchanged && len(params) == 0 && len(before.mirrored) == 0 {
		before.walk = x.walks
		return
	}
	name := strings.Clone(t.Name) // which may share the memory of the whole page
	known := &knownTool{mirrored: params}
	switch {
	case unchanged:
		known.output = before.output
	case t.OutputSchema != nil:
		// A copy, since the original keeps the whole page in memory.
		known.output = &outputSchema{tool: name, raw: bytes.Clone(t.OutputSchema)}
	}
	x.set(name, known)
}

// is reports whether it is the schema, or both are none.
func (s *outputSchema) is(raw json.RawMessage) bool {
	if s == nil {
		return raw == nil
	}
	return bytes.Equal(s.raw, raw)
}

func (x *toolIndex) set(name string, known *knownTool) {
	x.bytes += known.size(name) - x.tools[name].size(name)
	if x.bytes > maxIndexBytes || len(x.tools) >= maxIndexed {
		x.tools, x.bytes = nil, known.size(name)
		x.whole, x.lossy = false, x.walks
	}
	if x.tools == nil {
		x.tools = make(map[string]*knownTool)
	}
	known.walk = x.walks
	x.tools[name] = known
}

func (x *toolIndex) drop(name string) {
	if known := x.tools[name]; known != nil {
		x.bytes -= known.size(name)
		delete(x.tools, name)
	}
}

// begin begins a walk of the whole list. What is returned ends it: tools that it has not come across are gone.
func (x *toolIndex) begin() (end func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.walks++
	walk := x.walks
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		for name, known := range x.tools {
			if known.walk < walk {
				x.drop(name)
			}
		}
		x.whole = x.lossy < walk
	}
}

// forget has the next lookup list the tools again, since the server says that they changed.
func (x *toolIndex) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stale = true
}

// lookup returns what there is to know about a tool. It lists the tools if that was not done before.
func (x *toolIndex) lookup(ctx context.Context, c *Client, name string) (*knownTool, error) {
	if known := x.find(name); known != nil {
		return known, nil
	}
	x.mu.Lock()
	x.stale = false // before the list is asked for: a change that comes meanwhile counts
	x.mu.Unlock()
	if _, err := c.ListTools(ctx); err != nil {
		x.forget()
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.tools[name]; known != nil {
		return known, nil
	}
	return nothingKnown, nil
}

// find returns what is known about a tool, nil if it is not known or may have changed.
func (x *toolIndex) find(name string) *knownTool {
	x.mu.Lock()
	defer x.mu.Unlock()
	known := x.tools[name]
	switch {
	case x.stale:
		return nil
	case known == nil && x.whole:
		return nothingKnown
	}
	return known
}

// nothingKnown is what there is to know about most tools.
var nothingKnown = new(knownTool)

// validate checks content. A large one may take a while, which the caller need not wait for.
func (s *outputSchema) validate(ctx context.Context, content json.RawMessage) error {
	const quick = 32 << 10
	if len(content) <= quick {
		return s.checker.Validate(content)
	}
	checked := make(chan error, 1)
	go func() { checked <- s.checker.Validate(content) }()
	select {
	case err := <-checked:
		return err
	case <-ctx.Done():
		return ended(ctx)
	}
}

// check reports as an [*OutputError] that a result does not fit. Failures of the tool are not checked: their content is
// about the failure. A nil outputSchema accepts everything.
func (s *outputSchema) check(ctx context.Context, c *Client, result *CallToolResult) error {
	if s == nil || result.IsError {
		return nil
	}
	s.once.Do(func() {
		var err error
		if s.checker, err = schema.Compile(s.raw); err != nil {
			c.log.Warn("a tool's output schema cannot be used; its results are not checked",
				slog.String("tool", s.tool), slog.Any("error", err))
		}
	})
	if s.checker == nil {
		return nil
	}
	content := structured(result)
	if content == nil {
		return &OutputError{Result: result, Err: errNoStructure}
	}
	switch err := s.validate(ctx, content); {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, schema.ErrTooComplex):
		c.log.Warn("a tool's result was not checked", slog.String("tool", s.tool), slog.Any("error", err))
		return nil
	case err != nil:
		return &OutputError{Result: result, Err: fmt.Errorf("structured content does not fit the output schema: %w", err)}
	}
	return nil
}
