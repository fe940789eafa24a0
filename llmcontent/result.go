package llmcontent

import (
	"encoding/json"

	"github.com/seed62b61957/mcp"
)

// failed opens the blocks of a result with IsError set.
const failed = "[the tool failed]"

// FromResult returns the blocks of a tool's result, in order.
//
// Text and images are passed on, those in embedded resources too. Images are PNG, JPEG, WebP or GIF, which their bytes
// decide and not the server's label, and keep to the limits ([WithImageLimits]). Whatever else there is, an image that
// is broken or too large included, becomes a line of text in brackets that says what was there; the rest is not
// affected. Text that is empty or white space is left out, since model APIs refuse it.
//
// Structured content comes last, as JSON text, unless a block of text says the same already: the same JSON, or what is
// the only member of an object named "result". Null beside other blocks says nothing.
//
// If the tool failed, the first block says so, since few APIs have a flag for it. Where yours has one, set it from
// IsError in addition.
func FromResult(result *mcp.CallToolResult, options ...ContentOption) []Block {
	r := newReader(options)
	if result.IsError {
		r.add(Block{Text: failed})
	}
	shown := false
	for _, c := range result.Content {
		b := r.content(c)
		shown = shown || !b.isBlank()
		r.add(b)
	}
	if text := result.StructuredContent; text != nil && !(shown && said(text, result.Content)) {
		r.add(Block{Text: string(text)})
	}
	return r.done()
}

func (r *reader) content(c mcp.Content) Block {
	switch c := c.(type) {
	case *mcp.TextContent:
		return Block{Text: c.Text}
	case *mcp.ImageContent:
		data, err := c.Bytes()
		return r.image(data, err, "image", c.MediaType())
	case *mcp.AudioContent:
		data, err := c.Bytes()
		return omitted(data, err, "audio", c.MediaType())
	case *mcp.ResourceLink:
		return remark("resource link", quoted(c.Name), c.URI)
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return r.resource(c.Resource)
		}
	}
	return unknown(c)
}

func (r *reader) resource(c *mcp.ResourceContents) Block {
	if c.Blob == nil {
		if isBlank(c.Text) {
			return remark("empty resource", c.URI)
		}
		return Block{Text: c.Text}
	}
	data, err := c.Bytes()
	if isImage(c.MediaType()) {
		return r.image(data, err, "image resource", c.URI, c.MediaType())
	}
	return omitted(data, err, "binary resource", c.URI, c.MediaType())
}

// unknown takes what this package does not know, and what lacks something that its type needs.
func unknown(c mcp.Content) Block {
	var head struct {
		Type string `json:"type"`
	}
	raw, err := json.Marshal(c)
	if err != nil || json.Unmarshal(raw, &head) != nil || head.Type == "" {
		return remark("content without a type")
	}
	return remark("content of type " + quoted(head.Type) + " that cannot be shown")
}
