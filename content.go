package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Content is one block of a result, a prompt or a sampling message. It is one of [*TextContent], [*ImageContent],
// [*AudioContent], [*ResourceLink], [*EmbeddedResource], [*ToolUseContent], [*ToolResultContent] and [*UnknownContent]:
// switch on its type, with a default for what comes later.
//
// Note that [json.Marshal] writes <, > and & as escapes in whatever it encodes; the client itself does not.
type Content interface {
	// typeName is the value of the member "type".
	typeName() string
	// member may read the value of a member.
	member(d *decoder, name []byte)
	// check rejects a block that lacks what it needs.
	check(d *decoder)
}

// TextContent is text.
type TextContent struct {
	Text        string       `json:"text"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// Text returns a block of text.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// MarshalJSON adds the type.
func (c TextContent) MarshalJSON() ([]byte, error) {
	type plain TextContent
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{"text", plain(c)})
}

// UnmarshalJSON reads a block of type text.
func (c *TextContent) UnmarshalJSON(data []byte) error { return unmarshal(data, block{c}) }

func (*TextContent) typeName() string { return "text" }

func (c *TextContent) member(d *decoder, name []byte) {
	switch string(name) {
	case "text":
		c.Text = d.mustText()
	case "annotations":
		c.Annotations = optional[Annotations](d)
	case "_meta":
		c.Meta = d.objects()
	}
}

func (c *TextContent) check(d *decoder) {
	if !d.found {
		d.reject("has no text")
	}
}

// UnknownContent is a block of a type that this package does not know, or one that lacks what its type needs. Nothing
// of it is lost.
type UnknownContent struct {
	Type string // "" if there was none
	Raw  json.RawMessage
}

// MarshalJSON returns the block as it came.
func (c UnknownContent) MarshalJSON() ([]byte, error) {
	if c.Raw == nil {
		return marshal(map[string]string{"type": c.Type})
	}
	return c.Raw, nil
}

// UnmarshalJSON takes any object.
func (c *UnknownContent) UnmarshalJSON(data []byte) error {
	read, err := UnmarshalContent(data)
	if err != nil {
		return err
	}
	*c = UnknownContent{Type: read.typeName(), Raw: append(json.RawMessage(nil), data...)}
	return nil
}

func (c *UnknownContent) typeName() string      { return c.Type }
func (*UnknownContent) member(*decoder, []byte) {}
func (*UnknownContent) check(*decoder)          {}

// UnmarshalContent reads a block of any type from JSON.
func UnmarshalContent(data []byte) (Content, error) {
	var c anyContent
	if err := unmarshal(data, &c); err != nil {
		return nil, err
	}
	if c.Content == nil {
		return nil, fmt.Errorf("mcp: expected an object, found null")
	}
	return c.Content, nil
}

// anyContent decodes a block of any type.
type anyContent struct{ Content }

func (c *anyContent) decode(d *decoder) {
	if d.must(jsonscan.Object) {
		c.Content = d.content()
	}
}

// block decodes a block whose type is known beforehand.
type block struct{ Content }

func (b block) decode(d *decoder) {
	for name := range d.members() {
		if string(name) != "type" {
			b.member(d, name)
		} else if d.text() != b.typeName() {
			d.reject("is of another type than " + b.typeName())
		}
	}
	b.check(d)
}

// content reads the block that comes next, which is an object. What cannot be used as what it claims to be is kept raw.
func (d *decoder) content() Content {
	start, outer := d.Decoder, d.bad
	d.bad, d.found = "", false
	var c Content
	for name := range d.members() {
		if c == nil {
			c = d.newContent(blockType(start, d, name))
		}
		c.member(d, name)
	}
	if c == nil {
		c = &UnknownContent{} // {}
	}
	c.check(d)
	reason := d.bad
	d.bad = outer
	if reason != "" {
		d.addNote(reason + ", kept as unknown content")
		c = &UnknownContent{Type: c.typeName()}
	}
	if unknown, ok := c.(*UnknownContent); ok {
		if reason == "" {
			d.note("content of unknown type")
		}
		unknown.Raw = d.Since(&start)
	}
	return c
}

// blockType returns the JSON text of a block's type. Where the type does not come first, as it usually does, another
// look at the block from its start finds it.
func blockType(start jsonscan.Decoder, d *decoder, first []byte) (text []byte) {
	if string(first) == "type" {
		return d.Raw()
	}
	for name := range start.Object() {
		if string(name) == "type" {
			text = start.Raw()
		}
	}
	return text
}

// newContent returns an empty block for the JSON text of its type.
func (d *decoder) newContent(text []byte) Content {
	switch string(text) {
	case `"text"`:
		return &TextContent{}
	case `"image"`:
		return &ImageContent{}
	case `"audio"`:
		return &AudioContent{}
	case `"resource_link"`:
		return &ResourceLink{}
	case `"resource"`:
		return &EmbeddedResource{}
	}
	if !d.inToolResult { // the schema has no tool blocks in there, and this bounds the nesting
		switch string(text) {
		case `"tool_use"`:
			return &ToolUseContent{}
		case `"tool_result"`:
			return &ToolResultContent{}
		}
	}
	name := jsonscan.New(text)
	if name.Kind() != jsonscan.String {
		return &UnknownContent{}
	}
	return &UnknownContent{Type: name.Text()}
}

// contents reads a list of blocks. One block alone is taken for a list of one.
func (d *decoder) contents() []Content {
	if d.Kind() == jsonscan.Object {
		d.note("expected an array, took the one block")
	}
	return d.oneOrMore()
}

// oneOrMore reads a block or a list of blocks. A string is taken for a block of text; null gives nil.
func (d *decoder) oneOrMore() []Content {
	switch d.Kind() {
	case jsonscan.Object:
		return []Content{d.content()}
	case jsonscan.String:
		d.note("expected content, took the string for text")
		return []Content{Text(d.Text())}
	}
	if !d.must(jsonscan.Array) {
		return nil
	}
	list := []Content{}
	for range d.entries() {
		switch d.Kind() {
		case jsonscan.Object:
			list = append(list, d.content())
		default:
			d.note("expected an object, found " + d.Kind().String() + ", set aside")
		}
	}
	return list
}
