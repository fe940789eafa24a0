package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// ServerCapabilities are what a server offers. A nil or false member is not offered.
type ServerCapabilities struct {
	Tools        *ToolsCapability
	Resources    *ResourcesCapability
	Prompts      *PromptsCapability
	Logging      bool
	Completions  bool
	Experimental map[string]json.RawMessage
	Extensions   map[string]json.RawMessage // 2026-07-28
	// Raw is the whole as it was sent, with what the other fields have no place for. It is not encoded.
	Raw json.RawMessage
}

// ToolsCapability says that there are tools.
type ToolsCapability struct {
	ListChanged bool `json:"listChanged,omitempty"` // the server says when the list changes
}

// ResourcesCapability says that there are resources.
type ResourcesCapability struct {
	Subscribe   bool `json:"subscribe,omitempty"`   // the server says when a resource changes, if asked to
	ListChanged bool `json:"listChanged,omitempty"` // the server says when the list changes
}

// PromptsCapability says that there are prompts.
type PromptsCapability struct {
	ListChanged bool `json:"listChanged,omitempty"` // the server says when the list changes
}

// present is the empty object that stands for a capability without settings.
func present(yes bool) *struct{} {
	if !yes {
		return nil
	}
	return &struct{}{}
}

// MarshalJSON writes the capabilities as a server sends them, from all fields but Raw.
func (c ServerCapabilities) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Tools        *ToolsCapability           `json:"tools,omitempty"`
		Resources    *ResourcesCapability       `json:"resources,omitempty"`
		Prompts      *PromptsCapability         `json:"prompts,omitempty"`
		Logging      *struct{}                  `json:"logging,omitempty"`
		Completions  *struct{}                  `json:"completions,omitempty"`
		Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
		Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
	}{
		c.Tools, c.Resources, c.Prompts, present(c.Logging), present(c.Completions), c.Experimental, c.Extensions,
	})
}

// UnmarshalJSON reads capabilities leniently: whatever is neither null nor false is offered.
func (c *ServerCapabilities) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

func (c *ServerCapabilities) decode(d *decoder) {
	start := d.Decoder
	if !d.is(jsonscan.Object) { // an empty array where a language has only one kind of empty collection
		return
	}
	for name := range d.members() {
		switch string(name) {
		case "tools":
			tools := ToolsCapability{}
			if d.capability(&tools.ListChanged, nil) {
				c.Tools = &tools
			}
		case "resources":
			resources := ResourcesCapability{}
			if d.capability(&resources.ListChanged, &resources.Subscribe) {
				c.Resources = &resources
			}
		case "prompts":
			prompts := PromptsCapability{}
			if d.capability(&prompts.ListChanged, nil) {
				c.Prompts = &prompts
			}
		case "logging":
			c.Logging = d.capability(nil, nil)
		case "completions":
			c.Completions = d.capability(nil, nil)
		case "experimental":
			c.Experimental = d.objects()
		case "extensions":
			c.Extensions = d.objects()
		}
	}
	c.Raw = bytes.Clone(start.Raw()) // the message is not kept for it
}

// capability reports whether a capability is there, and reads the settings that it may have.
func (d *decoder) capability(listChanged, subscribe *bool) bool {
	switch d.Kind() {
	case jsonscan.Object:
	case jsonscan.Null:
		return false
	case jsonscan.Bool:
		return d.Bool()
	default:
		d.note("expected an object, taken for an empty one")
		return true
	}
	for name := range d.members() {
		switch {
		case string(name) == "listChanged" && listChanged != nil:
			*listChanged = d.bool()
		case string(name) == "subscribe" && subscribe != nil:
			*subscribe = d.bool()
		}
	}
	return true
}

// clientCapabilities are what the client offers.
type clientCapabilities struct {
	Roots        *rootsCapability           `json:"roots,omitempty"`
	Sampling     *samplingCapability        `json:"sampling,omitempty"`
	Elicitation  *elicitationCapability     `json:"elicitation,omitempty"`
	Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
}

type rootsCapability struct {
	ListChanged bool `json:"listChanged,omitempty"` // until 2025-11-25
}

type samplingCapability struct {
	Context *struct{} `json:"context,omitempty"`
	Tools   *struct{} `json:"tools,omitempty"`
}

type elicitationCapability struct {
	Form *struct{} `json:"form,omitempty"`
	URL  *struct{} `json:"url,omitempty"`
}
