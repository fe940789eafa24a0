package mcp

import (
	"encoding/json"
	"strings"
)

// Tool is what a server offers to a model.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// InputSchema and OutputSchema are JSON Schema objects, exactly as they were sent; nil if there was none, which
	// does happen to input schemas. Package llmcontent makes the input schema one that models accept.
	InputSchema  json.RawMessage  `json:"inputSchema"`
	OutputSchema json.RawMessage  `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	Execution    *ToolExecution   `json:"execution,omitempty"`
	Icons        []Icon           `json:"icons,omitempty"`
	Meta         Meta             `json:"_meta,omitempty"`
}

// ToolAnnotations are hints on what a tool does. They come from the server, so trust them as far as you trust it. A nil
// hint was not given.
type ToolAnnotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`    // changes nothing; false if not given
	DestructiveHint *bool  `json:"destructiveHint,omitempty"` // may destroy, unless read-only; true if not given
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`  // a second call has no further effect; false if not given
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`   // reaches beyond a closed domain; true if not given
}

// ToolExecution says how a tool may be run (2025-11-25).
type ToolExecution struct {
	TaskSupport string `json:"taskSupport,omitempty"` // "forbidden", "optional" or "required"; "" is forbidden
}

// DisplayName is what to show to people: the title, the title in the annotations, or else the name.
func (t *Tool) DisplayName() string {
	if t.Title == "" && t.Annotations != nil {
		return firstOf(t.Annotations.Title, t.Name)
	}
	return firstOf(t.Title, t.Name)
}

// MarshalJSON writes an input schema that takes any object where there is none.
func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	return marshal(plain(t))
}

// UnmarshalJSON reads a tool leniently; only the name is required.
func (t *Tool) UnmarshalJSON(data []byte) error { return unmarshal(data, t) }

func (t *Tool) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "name":
			t.Name = d.mustText()
		case "title":
			t.Title = d.text()
		case "description":
			t.Description = d.text()
		case "inputSchema":
			t.InputSchema = d.object()
		case "outputSchema":
			t.OutputSchema = d.object()
		case "annotations":
			t.Annotations = optional[ToolAnnotations](d)
		case "execution":
			t.Execution = optional[ToolExecution](d)
		case "icons":
			t.Icons = values[Icon](d)
		case "_meta":
			t.Meta = d.objects()
		}
	}
	if t.Name == "" {
		d.reject("has no name")
	}
}

// UnmarshalJSON reads annotations leniently: what is of the wrong type stays empty.
func (a *ToolAnnotations) UnmarshalJSON(data []byte) error { return unmarshal(data, a) }

func (a *ToolAnnotations) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "title":
			a.Title = d.text()
		case "readOnlyHint":
			a.ReadOnlyHint = d.flag()
		case "destructiveHint":
			a.DestructiveHint = d.flag()
		case "idempotentHint":
			a.IdempotentHint = d.flag()
		case "openWorldHint":
			a.OpenWorldHint = d.flag()
		}
	}
}

// UnmarshalJSON reads it leniently: what is of the wrong type stays empty.
func (e *ToolExecution) UnmarshalJSON(data []byte) error { return unmarshal(data, e) }

func (e *ToolExecution) decode(d *decoder) {
	for name := range d.members() {
		if string(name) == "taskSupport" {
			e.TaskSupport = d.text()
		}
	}
}

// CallToolResult is what a tool answered.
type CallToolResult struct {
	Content []Content `json:"content"`
	// StructuredContent is any JSON value, exactly as it was sent: nil if there was none, and the text null if that was
	// sent.
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	// IsError says that the tool failed. Content then tells the model why.
	IsError bool `json:"isError,omitempty"`
	Meta    Meta `json:"_meta,omitempty"`
}

// Text joins the blocks of text, one a line.
func (r *CallToolResult) Text() string {
	var texts []string
	for _, c := range r.Content {
		if text, ok := c.(*TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// MarshalJSON writes the result as a server sends it.
func (r CallToolResult) MarshalJSON() ([]byte, error) {
	type plain CallToolResult
	r.Content = orEmpty(r.Content)
	return marshal(plain(r))
}

// UnmarshalJSON reads a result leniently: no content is an empty list, and a block that lacks what it needs is an
// [*UnknownContent].
func (r *CallToolResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *CallToolResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "content":
			r.Content = d.contents()
		case "structuredContent":
			r.StructuredContent = d.Raw()
		case "isError":
			r.IsError = d.bool()
		case "_meta":
			r.Meta = d.objects()
		}
	}
	r.Content = orEmpty(r.Content)
}
