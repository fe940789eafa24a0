package mcp

import "encoding/json"

// ToolUseContent is a model's wish to call a tool, in a sampling message (2025-11-25).
type ToolUseContent struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // an object
	Meta  Meta            `json:"_meta,omitempty"`
}

// MarshalJSON adds the type. No input is an empty object.
func (c ToolUseContent) MarshalJSON() ([]byte, error) {
	type plain ToolUseContent
	if c.Input == nil {
		c.Input = json.RawMessage("{}")
	}
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"tool_use", plain(c)})
}

// UnmarshalJSON reads a block of type tool_use.
func (c *ToolUseContent) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*ToolUseContent) typeName() string { return "tool_use" }

func (c *ToolUseContent) member(d *decoder, name []byte) {
	switch string(name) {
	case "id":
		c.ID = d.mustText()
	case "name":
		c.Name = d.mustText()
	case "input":
		c.Input = d.object()
	case "_meta":
		c.Meta = d.objects()
	}
}

func (c *ToolUseContent) check(d *decoder) {
	if c.ID == "" || c.Name == "" {
		d.reject("has no id or no name")
	}
}

// ToolResultContent is what came of a [ToolUseContent], in a sampling message (2025-11-25).
type ToolResultContent struct {
	ToolUseID         string          `json:"toolUseId"`
	Content           []Content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"` // nil: absent; null is what was sent
	IsError           bool            `json:"isError,omitempty"`
	Meta              Meta            `json:"_meta,omitempty"`
}

// MarshalJSON adds the type.
func (c ToolResultContent) MarshalJSON() ([]byte, error) {
	type plain ToolResultContent
	c.Content = orEmpty(c.Content)
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"tool_result", plain(c)})
}

// UnmarshalJSON reads a block of type tool_result.
func (c *ToolResultContent) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*ToolResultContent) typeName() string { return "tool_result" }

func (c *ToolResultContent) member(d *decoder, name []byte) {
	switch string(name) {
	case "toolUseId":
		c.ToolUseID = d.mustText()
	case "content":
		d.inToolResult = true
		c.Content = d.contents()
		d.inToolResult = false
	case "structuredContent":
		c.StructuredContent = d.Raw()
	case "isError":
		c.IsError = d.bool()
	case "_meta":
		c.Meta = d.objects()
	}
}

func (c *ToolResultContent) check(d *decoder) {
	if c.ToolUseID == "" {
		d.reject("has no toolUseId")
	}
	c.Content = orEmpty(c.Content)
}
