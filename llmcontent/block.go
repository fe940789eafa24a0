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

// add adds a block, unless it is blank.
func (r *reader) add(b Block) {
	if !b.isBlank() {
		r.blocks = append(r.blocks, b)
	}
}

// done returns the blocks, with their text joined and cut if that was asked for.
func (r *reader) done() []Block {
	blocks := r.joined(r.blocks)
	if r.limit == nil {
		return blocks
	}
	return r.limit.Blocks(blocks)
}

// joined makes one block of texts that follow each other, if that was asked for.
func (r *reader) joined(blocks []Block) []Block {
	if !r.join {
		return blocks
	}
	var out []Block
	var texts []string
	flush := func() {
		if len(texts) > 0 {
			out = append(out, Block{Text: strings.Join(texts, "\n")})
			texts = nil
		}
	}
	for _, b := range blocks {
		if b.Image == nil {
			texts = append(texts, b.Text)
			continue
		}
		flush()
		out = append(out, b)
	}
	flush()
	return out
}

// isBlank reports whether there is nothing to see, which APIs refuse: no text, or white space only.
func (b Block) isBlank() bool { return b.Image == nil && isBlank(b.Text) }

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func size(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// quoted keeps what a server made up in one piece.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

// remark is a line of text in place of what a model cannot take. It stays one line, whatever is in a URI.
func remark(facts ...string) Block {
	var known []string
	for _, fact := range facts {
		if fact = oneLine(fact); fact != "" {
			known = append(known, fact)
		}
	}
	return Block{Text: "[" + strings.Join(known, ", ") + "]"}
}
