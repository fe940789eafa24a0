package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// CompleteRef names what an argument is completed for: see [PromptRef] and [ResourceRef].
type CompleteRef struct {
	Type  string `json:"type"` // "ref/prompt" or "ref/resource"
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"` // of a prompt, for people (2025-06-18)
	URI   string `json:"uri,omitempty"`
}

// PromptRef names a prompt.
func PromptRef(name string) CompleteRef { return CompleteRef{Type: "ref/prompt", Name: name} }

// ResourceRef names a resource template, by its URI template.
func ResourceRef(uriTemplate string) CompleteRef {
	return CompleteRef{Type: "ref/resource", URI: uriTemplate}
}

// CompleteRequest asks for values that could complete an argument.
type CompleteRequest struct {
	Ref      CompleteRef
	Argument string            // its name
	Value    string            // what there is of its value
	Context  map[string]string // the arguments that have a value already (2025-06-18)
}

type wireCompleteRequest struct {
	Ref      CompleteRef `json:"ref"`
	Argument struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"argument"`
	Context struct {
		Arguments map[string]string `json:"arguments,omitempty"`
	} `json:"context,omitzero"`
}

// MarshalJSON writes the params of completion/complete.
func (r CompleteRequest) MarshalJSON() ([]byte, error) {
	wire := wireCompleteRequest{Ref: r.Ref}
	wire.Argument.Name, wire.Argument.Value = r.Argument, r.Value
	if len(r.Context) > 0 {
		wire.Context.Arguments = r.Context
	}
	return marshal(wire)
}

// UnmarshalJSON reads the params of completion/complete.
func (r *CompleteRequest) UnmarshalJSON(data []byte) error {
	var wire wireCompleteRequest
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	*r = CompleteRequest{wire.Ref, wire.Argument.Name, wire.Argument.Value, wire.Context.Arguments}
	return nil
}

// CompleteResult is what a server suggests for an argument.
type CompleteResult struct {
	Values  []string // the best first; the protocol allows 100
	Total   *int64   // how many there are; nil if the server did not say
	HasMore *bool    // whether there are more than Values; nil if the server did not say
	Meta    Meta
}

type wireCompletion struct {
	Values  []string `json:"values"`
	Total   *int64   `json:"total,omitempty"`
	HasMore *bool    `json:"hasMore,omitempty"`
}

// MarshalJSON writes the result as a server sends it.
func (r CompleteResult) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Completion wireCompletion `json:"completion"`
		Meta       Meta           `json:"_meta,omitempty"`
	}{wireCompletion{orEmpty(r.Values), r.Total, r.HasMore}, r.Meta})
}

// UnmarshalJSON reads a result leniently: no completion is one without values.
func (r *CompleteResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *CompleteResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "completion":
			if d.must(jsonscan.Object) {
				r.completion(d)
			}
		case "_meta":
			r.Meta = d.objects()
		}
	}
	r.Values = orEmpty(r.Values)
}

func (r *CompleteResult) completion(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "values":
			r.Values = texts[string](d)
		case "total":
			r.Total = d.integer()
		case "hasMore":
			r.HasMore = d.flag()
		}
	}
}

// Complete asks for values that could complete an argument of a prompt or of a resource template.
func (c *Client) Complete(ctx context.Context, ask *CompleteRequest, opts ...CallOption) (*CompleteResult, error) {
	o := c.callOptions(opts)
	if ask == nil {
		ask = new(CompleteRequest)
	}
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
