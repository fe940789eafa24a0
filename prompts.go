package mcp

import "github.com/seed62b61957/mcp/internal/jsonscan"

// Prompt is a template for messages that a server offers, usually for people to choose.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Icons       []Icon           `json:"icons,omitempty"`
	Meta        Meta             `json:"_meta,omitempty"`
}

// DisplayName is what to show to people: the title, or else the name.
func (p *Prompt) DisplayName() string { return firstOf(p.Title, p.Name) }

// UnmarshalJSON reads a prompt leniently; only the name is required.
func (p *Prompt) UnmarshalJSON(data []byte) error { return unmarshal(data, p) }

func (p *Prompt) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "name":
			p.Name = d.mustText()
		case "title":
			p.Title = d.text()
		case "description":
			p.Description = d.text()
		case "arguments":
			p.Arguments = values[PromptArgument](d)
		case "icons":
			p.Icons = values[Icon](d)
		case "_meta":
			p.Meta = d.objects()
		}
	}
	if p.Name == "" {
		d.reject("has no name")
	}
}

// PromptArgument is an argument that a prompt takes.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// DisplayName is what to show to people: the title, or else the name.
func (a *PromptArgument) DisplayName() string { return firstOf(a.Title, a.Name) }

// UnmarshalJSON reads an argument leniently; only the name is required.
func (a *PromptArgument) UnmarshalJSON(data []byte) error { return unmarshal(data, a) }

func (a *PromptArgument) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "name":
			a.Name = d.mustText()
		case "title":
			a.Title = d.text()
		case "description":
			a.Description = d.text()
		case "required":
			a.Required = d.bool()
		}
	}
	if a.Name == "" {
		d.reject("has no name")
	}
}

// GetPromptResult is a prompt, filled in.
type GetPromptResult struct {
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	Meta        Meta            `json:"_meta,omitempty"`
}

// MarshalJSON writes the result as a server sends it.
func (r GetPromptResult) MarshalJSON() ([]byte, error) {
	type plain GetPromptResult
	r.Messages = orEmpty(r.Messages)
	return marshal(plain(r))
}

// UnmarshalJSON reads a result leniently: no messages are an empty list, and a message with a list of blocks, which the
// schema does not allow, becomes one message for each.
func (r *GetPromptResult) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

func (r *GetPromptResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "description":
			r.Description = d.text()
		case "messages":
			r.Messages = promptMessages(d)
		case "_meta":
			r.Meta = d.objects()
		}
	}
	r.Messages = orEmpty(r.Messages)
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    Role    `json:"role"`
	Content Content `json:"content"`
}

// UnmarshalJSON reads one message with one block.
func (m *PromptMessage) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }

func (m *PromptMessage) decode(d *decoder) {
	var wire wireMessage
	if wire.decode(d); len(wire.content) != 1 {
		d.reject("has no content, or more than one block")
		return
	}
	*m = PromptMessage{wire.role, wire.content[0]}
}

func promptMessages(d *decoder) []PromptMessage {
	messages := []PromptMessage{}
	if !d.must(jsonscan.Array) {
		return messages
	}
	for range d.entries() {
		var wire wireMessage
		if !d.try(&wire) {
			continue
		}
		for _, c := range wire.content {
			messages = append(messages, PromptMessage{wire.role, c})
		}
	}
	return messages
}

// wireMessage is a message whose content may be one block or a list of them.
type wireMessage struct {
	role    Role
	content []Content
	meta    Meta
}

func (m *wireMessage) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "role":
			m.role = Role(d.text())
		case "content":
			m.content = d.oneOrMore()
		case "_meta":
			m.meta = d.objects()
		}
	}
	if m.content == nil {
		d.reject("has no content")
	}
}
