package llmcontent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp"
)

// A Block is a piece of a result that a model can take: an image if Image is not nil, or else text.
type Block struct {
	Text  string `json:"text,omitempty"`
	Image *Image `json:"image,omitempty"`
}

// An Image is a picture as bytes, however the server encoded it.
type Image struct {
	MIMEType string `json:"mimeType,omitempty"` // as the server gave it; may be empty
	Data     []byte `json:"data"`
}

// failed opens the blocks of a result with IsError set.
const failed = "[the tool failed]"

// FromResult returns the blocks of a tool's result, in order.
//
// Text and images are passed on, those in embedded resources too. Whatever else there is, an image that cannot be
// decoded included, becomes a line of text in brackets that says what was there. Text that is empty is left out, since
// model APIs refuse it. Structured content is added as JSON text if there would be nothing else.
//
// If the tool failed, the first block says so, since few APIs have a flag for it. Where yours has one, set it from
// IsError in addition.
func FromResult(r *mcp.CallToolResult) []Block {
	var blocks []Block
	for _, c := range r.Content {
		if b := fromContent(c); b != (Block{}) {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 && r.StructuredContent != nil {
		blocks = []Block{{Text: string(r.StructuredContent)}}
	}
	if r.IsError {
		blocks = append([]Block{{Text: failed}}, blocks...)
	}
	return blocks
}

func fromContent(c mcp.Content) Block {
	switch c := c.(type) {
	case *mcp.TextContent:
		return Block{Text: c.Text}
	case *mcp.ImageContent:
		data, err := c.Bytes()
		return image(data, err, "image", c.MediaType())
	case *mcp.AudioContent:
		data, err := c.Bytes()
		return omitted(data, err, "audio", c.MediaType())
	case *mcp.ResourceLink:
		return remark("resource link", quoted(c.Name), c.URI)
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return fromResource(c.Resource)
		}
	}
	return unknown(c)
}

func fromResource(r *mcp.ResourceContents) Block {
	if r.Blob == nil {
		if r.Text == "" {
			return remark("empty resource", r.URI)
		}
		return Block{Text: r.Text}
	}
	data, err := r.Bytes()
	if isImage(r.MediaType()) {
		return image(data, err, "image resource", r.URI, r.MediaType())
	}
	return omitted(data, err, "binary resource", r.URI, r.MediaType())
}

// isImage also takes types in capitals (RFC 2045, section 5.1).
func isImage(mediaType string) bool {
	const image = "image/"
	return len(mediaType) > len(image) && strings.EqualFold(mediaType[:len(image)], image)
}

// image returns an image whose type is the last of the facts, or a remark with all of them if there is none.
func image(data []byte, err error, facts ...string) Block {
	if err != nil || len(data) == 0 {
		return omitted(data, err, facts...)
	}
	return Block{Image: &Image{MIMEType: facts[len(facts)-1], Data: data}}
}

// omitted stands for data that is not passed on. What is wrong with it in detail is of no use to a model.
func omitted(data []byte, err error, facts ...string) Block {
	if err != nil {
		return remark(append(facts, "cannot be decoded")...)
	}
	return remark(append(facts, size(len(data)))...)
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

func size(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// quoted keeps what a server made up in one piece.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

// remark is a line of text in place of what a model cannot take.
func remark(facts ...string) Block {
	var known []string
	for _, fact := range facts {
		if fact != "" {
			known = append(known, fact)
		}
	}
	return Block{Text: "[" + strings.Join(known, ", ") + "]"}
}
