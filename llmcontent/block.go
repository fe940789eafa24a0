package llmcontent

import (
	"fmt"
	"strings"
)

// A Block is a piece of content that a model can take: an image if Image is not nil, or else text.
type Block struct {
	Text  string `json:"text,omitempty"`
	Image *Image `json:"image,omitempty"`
}

// An Image is a picture as bytes, however the server encoded it.
type Image struct {
	MIMEType string `json:"mimeType"` // image/png, image/jpeg, image/webp or image/gif, by what the bytes are
	Data     []byte `json:"data"`
}

// A ContentOption changes what becomes of content.
type ContentOption func(*contentOptions)

type contentOptions struct {
	noImages         bool
	eachImage, total int
	join             bool
	limit            *Limit
}

// The limits of images, in bytes before any encoding, where no [WithImageLimits] sets others. Encoded they are the 5
// MiB that Anthropic takes for an image, and the 20 MiB that Gemini takes for a request.
const (
	DefaultImageBytes      = 15 << 18
	DefaultImageBytesTotal = 15 << 20
)

// WithoutImages has a line of text in place of each image, for a model that takes none.
func WithoutImages() ContentOption { return func(o *contentOptions) { o.noImages = true } }

// WithImageLimits sets the bytes that one image, and all of a result together, may have.
func WithImageLimits(each, total int) ContentOption {
	return func(o *contentOptions) { o.eachImage, o.total = each, total }
}

// WithJoinedText makes one block of texts that follow each other, with a line break between them.
func WithJoinedText() ContentOption { return func(o *contentOptions) { o.join = true } }

// WithLimit cuts the text: see [Limit]. It counts over all blocks together.
func WithLimit(l Limit) ContentOption { return func(o *contentOptions) { o.limit = &l } }

// A reader makes blocks of content, and keeps account of its images.
type reader struct {
	contentOptions
	blocks []Block
}

func newReader(options []ContentOption) *reader {
	r := &reader{contentOptions: contentOptions{eachImage: DefaultImageBytes, total: DefaultImageBytesTotal}}
	for _, option := range options {
		option(&r.contentOptions)
	}
	return r
}

// add adds a block. Empty text is left out, since APIs refuse it.
func (r *reader) add(b Block) {
	if b != (Block{}) {
		r.blocks = r.appended(r.blocks, b)
	}
}

// appended puts a block at the end, or text at the end of the last text.
func (r *reader) appended(blocks []Block, b Block) []Block {
	last := len(blocks) - 1
	if !r.join || b.Image != nil || last < 0 || blocks[last].Image != nil {
		return append(blocks, b)
	}
	blocks[last].Text += "\n" + b.Text
	return blocks
}

// done returns the blocks, with their text cut if that was asked for.
func (r *reader) done() []Block {
	if r.limit == nil {
		return r.blocks
	}
	return r.limit.Blocks(r.blocks)
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
