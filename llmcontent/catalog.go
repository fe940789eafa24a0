package llmcontent

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed62b61957/mcp"
)

// The limits of a [Page] and of what [Catalog.Describe] returns.
const (
	DefaultPageSize    = 20
	MaxPageSize        = 100
	MaxPageBytes       = 64 << 10 // of JSON, in UTF-8
	MaxDescriptorBytes = 1 << 20
)

// A Detail is how much a catalog says about each tool or prompt.
type Detail int

// The details. A page is made of full ones unless something else is asked for.
const (
	Full      Detail = iota // everything: the input schema, the arguments
	Brief                   // the name, and the first line of the description
	NamesOnly               // the name
)

// An Entry is what a catalog says about a tool or a prompt.
type Entry struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // the input schema of a tool
	Arguments   json.RawMessage `json:"arguments,omitempty"`  // of a prompt

	// DescriptorOmitted says that there is more than a page has room for. Ask for the one descriptor.
	DescriptorOmitted bool `json:"descriptorOmitted,omitempty"`
}

// A Page is a part of a catalog, to give to a model as JSON.
type Page struct {
	Entries    []Entry `json:"entries"`
	Total      int     `json:"total"`                // of the whole catalog
	Shown      int     `json:"shown"`                // on this page
	NextOffset *int    `json:"nextOffset,omitempty"` // where the next page starts; nil after the last
	Truncated  bool    `json:"truncated"`            // the page has fewer than were asked for, since it was full
}

// A Catalog lets a model find tools or prompts step by step, instead of having all of them in its prompt. It does not
// change; its methods may be called concurrently.
type Catalog struct {
	entries []Entry
	keys    [][]string // the names of the arguments of each
	index   *index
}

// NewToolCatalog makes a catalog of functions, in their order.
func NewToolCatalog(functions []*Function) *Catalog {
	c := new(Catalog)
	for _, f := range functions {
		e := Entry{Name: f.Name, Title: f.title(), Description: f.Description, Parameters: f.Parameters}
		c.add(e, propertyNames(f.Parameters))
	}
	c.index = newIndex(c)
	return c
}

// NewPromptCatalog makes a catalog of a server's prompts, in their order and with the names of [ToolName].
func NewPromptCatalog(server string, prompts []*mcp.Prompt) *Catalog {
	c := new(Catalog)
	for _, p := range prompts {
		e := Entry{Name: ToolName(server, p.Name), Description: p.Description}
		if p.DisplayName() != p.Name {
			e.Title = p.Title
		}
		var keys []string
		for _, a := range p.Arguments {
			keys = append(keys, a.Name)
		}
		if len(p.Arguments) > 0 {
			e.Arguments, _ = marshal(p.Arguments) // strings and booleans can always be written
		}
		c.add(e, keys)
	}
	c.index = newIndex(c)
	return c
}

func (c *Catalog) add(e Entry, keys []string) {
	c.entries = append(c.entries, e)
	c.keys = append(c.keys, keys)
}

// Page returns a page that starts at an offset and has at most limit entries, 1 to 100; 0 means 20. It ends before it
// has more than 64 KiB. A descriptor that is too large for a page of its own is named there, with the first line of its
// description: never a part of a schema.
//
// An offset or a limit out of range is an error; an offset at the end is an empty page.
func (c *Catalog) Page(offset, limit int, d Detail) (*Page, error) {
	p, err := page(c.entries, offset, limit, d)
	if err != nil {
		return nil, fmt.Errorf("llmcontent: page: %w", err)
	}
	return p, nil
}

// page fills a page with entries. What stands around them has room in reserve.
func page(entries []Entry, offset, limit int, d Detail) (*Page, error) {
	if limit == 0 {
		limit = DefaultPageSize
	}
	switch {
	case limit < 1 || limit > MaxPageSize:
		return nil, fmt.Errorf("limit %d is not between 1 and %d", limit, MaxPageSize)
	case offset < 0 || offset > len(entries):
		return nil, fmt.Errorf("offset %d is not between 0 and %d", offset, len(entries))
	}
	p := &Page{Entries: []Entry{}, Total: len(entries)}
	left := MaxPageBytes - reserve
	end := min(offset+limit, len(entries))
	for _, e := range entries[offset:end] {
		e = e.in(d)
		length := e.length()
		if length > MaxPageBytes-reserve {
			e = e.omitted()
			length = e.length()
		}
		if left -= length; left < 0 {
			p.Truncated = true
			break
		}
		p.Entries = append(p.Entries, e)
	}
	p.Shown = len(p.Entries)
	if next := offset + p.Shown; next < len(entries) {
		p.NextOffset = &next
	}
	return p, nil
}

const reserve = 256

// Describe returns everything about the tool or prompt with exactly this name. It is an error if there is none, or if
// it has more than 1 MiB.
func (c *Catalog) Describe(name string) (Entry, error) {
	i := slices.IndexFunc(c.entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, fmt.Errorf("llmcontent: there is no %q in the catalog", clip(name, maxSummary))
	}
	e := c.entries[i]
	if n := e.length(); n > MaxDescriptorBytes {
		return Entry{}, fmt.Errorf("llmcontent: %q has %d bytes, at most %d are shown", name, n, MaxDescriptorBytes)
	}
	return e, nil
}

// in returns the entry with less detail.
func (e Entry) in(d Detail) Entry {
	switch d {
	case Brief:
		return Entry{Name: e.Name, Description: Summary(e.Description, e.Title)}
	case NamesOnly:
		return Entry{Name: e.Name}
	}
	return e
}

func (e Entry) omitted() Entry {
	return Entry{Name: e.Name, Description: Summary(e.Description, e.Title), DescriptorOmitted: true}
}

// length is that of the JSON, as [json.Marshal] writes it, and of a comma.
func (e Entry) length() int {
	b, err := json.Marshal(e)
	if err != nil {
		return MaxDescriptorBytes + 1
	}
	return len(b) + 1
}
