package mcp

import (
	"context"
	"iter"

	"github.com/seed62b61957/mcp/transport"
)

var promptList = listing[Prompt]{
	method:  "prompts/list",
	changes: PromptsChanged,
	offered: func(s *ServerCapabilities) bool { return s.Prompts != nil },
	decode:  decodePromptsPage,
}

// Prompts walks the server's prompts, as [Client.Tools] walks tools.
func (c *Client) Prompts(ctx context.Context, opts ...CallOption) iter.Seq2[*Prompt, error] {
	return promptList.walk(ctx, c, opts)
}

// ListPrompts returns all of the server's prompts, as [Client.ListTools] returns tools.
func (c *Client) ListPrompts(ctx context.Context, opts ...CallOption) ([]*Prompt, error) {
	return promptList.collect(ctx, c, opts)
}

// PromptsPage returns one page of the server's prompts: the first if cursor is nil.
func (c *Client) PromptsPage(ctx context.Context, cursor *string, opts ...CallOption) (*Page[Prompt], error) {
	return promptList.page(ctx, c, cursor, opts)
}

// GetPrompt has the server fill in a prompt.
func (c *Client) GetPrompt(
	ctx context.Context, name string, args map[string]string, opts ...CallOption,
) (*GetPromptResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "prompts/get", target: name, renewable: true, unshared: true}
	r.mirror.Name = name
	if err := c.requires(r, c.Server().Capabilities.Prompts != nil, "prompts"); err != nil {
		return nil, err
	}
	var err error
	if r.params, err = objectParams(struct {
		Name string            `json:"name"`
		Args map[string]string `json:"arguments,omitempty"`
	}{name, args}); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	return callAs[GetPromptResult](ctx, c, r, &o)
}
