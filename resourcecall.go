package mcp

import (
	"context"
	"iter"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

var (
	resourceList = listing[Resource]{
		method:  "resources/list",
		changes: ResourcesChanged,
		offered: offersResources,
		decode:  decodeResourcesPage,
	}
	templateList = listing[ResourceTemplate]{
		method:  "resources/templates/list",
		changes: ResourcesChanged,
		offered: offersResources,
		decode:  decodeResourceTemplatesPage,
	}
)

func offersResources(s *ServerCapabilities) bool { return s.Resources != nil }

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
func (c *Client) ResourceTemplatesPage(
	ctx context.Context, cursor *string, opts ...CallOption,
) (*Page[ResourceTemplate], error) {
	return templateList.page(ctx, c, cursor, opts)
}

// ReadResource reads a resource. One that the server does not have is an [*RPCError] with [CodeResourceNotFound] or
// [CodeInvalidParams].
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOption) (*ReadResourceResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "resources/read", target: uri, params: uriParams(uri), renewable: true}
	r.mirror.Name = uri
	r.cache = &cacheUse{changes: Event{Kind: ResourceUpdated, URI: uri}}
	if err := c.requires(r, c.Server().Capabilities.Resources != nil, "resources"); err != nil {
		return nil, err
	}
	return callAs[ReadResourceResult](ctx, c, r, &o)
}

// SubscribeResource asks for a call of [Notifications].ResourceUpdated whenever the resource changes. [Client.Listen]
// gives the same as a value.
func (c *Client) SubscribeResource(ctx context.Context, uri string, opts ...CallOption) error {
	if c.session.Load().modern() {
		return c.watchResource(ctx, uri)
	}
	err := c.subscription(ctx, "resources/subscribe", uri, opts)
	if err == nil {
		c.legacy.get().change(uri, func(i *interest) { i.caller = true })
	}
	return err
}

// UnsubscribeResource ends what SubscribeResource began. Subscriptions of [Client.Listen] go on.
func (c *Client) UnsubscribeResource(ctx context.Context, uri string, opts ...CallOption) error {
	if c.session.Load().modern() {
		c.unwatchResource(uri)
		return nil
	}
	if !c.legacy.get().change(uri, func(i *interest) { i.caller = false }) {
		return nil
	}
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
