package mcp

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

func offersResources(s *ServerCapabilities) bool { return s.Resources != nil }

var (
	resourceList = listing[Resource]{method: "resources/list", offered: offersResources, decode: decodeResourcesPage}
	templateList = listing[ResourceTemplate]{method: "resources/templates/list", offered: offersResources, decode: decodeResourceTemplatesPage}
	promptList   = listing[Prompt]{
		method:  "prompts/list",
		offered: func(s *ServerCapabilities) bool { return s.Prompts != nil },
		decode:  decodePromptsPage,
	}
)

// Resources walks the server's resources, as [Client.Tools] walks tools.
func (c *Client) Resources(ctx context.Context, opts ...CallOption) iter.Seq2[*Resource, error] {
	return resourceList.walk(ctx, c, opts)
}

// ListResources returns all of the server's resources, as [Client.ListTools] returns tools.
func (c *Client) ListResources(ctx context.Context, opts ...CallOption) ([]*Resource, error) {
	return resourceList.collect(ctx, c, opts)
}

// ResourcesPage returns one page of the server's resources: the first if cursor is nil.
func (c *Client) ResourcesPage(ctx context.Context, cursor *string, opts ...CallOption) (*Page[Resource], error) {
	return resourceList.page(ctx, c, cursor, opts)
}

// ResourceTemplates walks the server's resource templates, as [Client.Tools] walks tools.
func (c *Client) ResourceTemplates(ctx context.Context, opts ...CallOption) iter.Seq2[*ResourceTemplate, error] {
	return templateList.walk(ctx, c, opts)
}

// ListResourceTemplates returns all of the server's resource templates, as [Client.ListTools] returns tools.
func (c *Client) ListResourceTemplates(ctx context.Context, opts ...CallOption) ([]*ResourceTemplate, error) {
	return templateList.collect(ctx, c, opts)
}

// ResourceTemplatesPage returns one page of the server's resource templates: the first if cursor is nil.
func (c *Client) ResourceTemplatesPage(ctx context.Context, cursor *string, opts ...CallOption) (*Page[ResourceTemplate], error) {
	return templateList.page(ctx, c, cursor, opts)
}

// ReadResource reads a resource. One that the server does not have is an [*RPCError] with [CodeResourceNotFound] or
// [CodeInvalidParams].
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOption) (*ReadResourceResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "resources/read", target: uri, params: uriParams(uri), renewable: true}
	if err := c.requires(r, c.Server().Capabilities.Resources != nil, "resources"); err != nil {
		return nil, err
	}
	return callAs[ReadResourceResult](ctx, c, r, &o)
}

// SubscribeResource asks for a call of [Notifications].ResourceUpdated whenever the resource changes.
func (c *Client) SubscribeResource(ctx context.Context, uri string, opts ...CallOption) error {
	return c.subscription(ctx, "resources/subscribe", uri, opts)
}

// UnsubscribeResource ends what SubscribeResource began.
func (c *Client) UnsubscribeResource(ctx context.Context, uri string, opts ...CallOption) error {
	return c.subscription(ctx, "resources/unsubscribe", uri, opts)
}

func (c *Client) subscription(ctx context.Context, method, uri string, opts []CallOption) error {
	o := c.callOptions(opts)
	r := &request{method: method, target: uri, params: uriParams(uri)}
	resources := c.Server().Capabilities.Resources
	if err := c.requires(r, resources != nil && resources.Subscribe, "resources.subscribe"); err != nil {
		return err
	}
	_, err := c.call(ctx, r, &o)
	return err
}

func uriParams(uri string) []byte { return append(jsonscan.AppendString([]byte(`{"uri":`), uri), '}') }

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
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string, opts ...CallOption) (*GetPromptResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "prompts/get", target: name, renewable: true}
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

// Complete asks for values that could complete an argument of a prompt or of a resource template.
func (c *Client) Complete(ctx context.Context, ask *CompleteRequest, opts ...CallOption) (*CompleteResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "completion/complete", target: ask.Argument}
	// Revision 2024-11-05 has completion but no capability for it.
	offered := c.Server().Capabilities.Completions || c.version() == Version20241105
	if err := c.requires(r, offered, "completions"); err != nil {
		return nil, err
	}
	var err error
	if r.params, err = objectParams(ask); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	return callAs[CompleteResult](ctx, c, r, &o)
}

// SetLogLevel sets the least severe level of log messages that the server sends (see [Notifications]).
func (c *Client) SetLogLevel(ctx context.Context, level LogLevel, opts ...CallOption) error {
	o := c.callOptions(opts)
	r := &request{method: "logging/setLevel"}
	if err := c.requires(r, c.Server().Capabilities.Logging, "logging"); err != nil {
		return err
	}
	r.params = append(jsonscan.AppendString([]byte(`{"level":`), string(level)), '}')
	_, err := c.call(ctx, r, &o)
	return err
}

// requires returns a CapabilityError if the server does not offer what a request needs.
func (c *Client) requires(r *request, offered bool, capability string) error {
	if offered {
		return nil
	}
	return r.wrap(transport.Unsent(&CapabilityError{Capability: capability}))
}

// RootsChanged tells the server that what [Options].Roots returns has changed. Without that handler it is an error.
func (c *Client) RootsChanged(ctx context.Context) error {
	const method = "notifications/roots/list_changed"
	if c.opts.Roots == nil {
		return fmt.Errorf("mcp: %s: there is no Options.Roots", method)
	}
	return c.Notify(ctx, method, nil)
}
