package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/seed62b61957/mcp/internal/schema"
)

// toolIndex remembers the output schemas of the tools that were listed.
type toolIndex struct {
	mu      sync.Mutex
	outputs map[string]*outputSchema // nil values are tools without a schema
	stale   bool                     // the list has changed since
}

// outputSchema is a schema that is compiled when it is first needed, and once.
type outputSchema struct {
	tool    string
	raw     json.RawMessage
	once    sync.Once
	checker *schema.Schema // nil if the schema cannot be used
}

// remember takes in a page of tools. A schema that did not change stays compiled.
func (x *toolIndex) remember(tools []*Tool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outputs == nil {
		x.outputs = make(map[string]*outputSchema, len(tools))
	}
	for _, t := range tools {
		switch known := x.outputs[t.Name]; {
		case t.OutputSchema == nil:
			x.outputs[t.Name] = nil
		case known == nil || !bytes.Equal(known.raw, t.OutputSchema):
			x.outputs[t.Name] = &outputSchema{tool: t.Name, raw: t.OutputSchema}
		}
	}
}

// forget has the next lookup list the tools again, since the server says that they changed.
func (x *toolIndex) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stale = true
}

// lookup returns the output schema of a tool, nil if it has none. It lists the tools if that was not done before.
func (x *toolIndex) lookup(ctx context.Context, c *Client, name string) (*outputSchema, error) {
	if output, known := x.get(name); known {
		return output, nil
	}
	x.mu.Lock()
	x.stale = false // before the list is asked for: a change that comes meanwhile counts
	x.mu.Unlock()
	if _, err := c.ListTools(ctx); err != nil {
		x.forget()
		return nil, err
	}
	output, known := x.get(name)
	if !known { // a tool that no list has: do not ask for it each time
		x.mu.Lock()
		x.outputs[name] = nil
		x.mu.Unlock()
	}
	return output, nil
}

func (x *toolIndex) get(name string) (output *outputSchema, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stale {
		return nil, false
	}
	output, known = x.outputs[name]
	return output, known
}

// check reports as an [*OutputError] that a result does not fit. Failures of the tool are not checked: their content is
// about the failure. A nil outputSchema accepts everything.
func (s *outputSchema) check(c *Client, result *CallToolResult) error {
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
	switch err := s.checker.Validate(content); {
	case errors.Is(err, schema.ErrTooComplex):
		c.log.Warn("a tool's result was not checked", slog.String("tool", s.tool), slog.Any("error", err))
		return nil
	case err != nil:
		return &OutputError{Result: result, Err: err}
	}
	return nil
}
