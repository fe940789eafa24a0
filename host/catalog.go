package host

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
)

// A Catalog is what all servers of a host offer at one time. It does not change, and nothing in it must be changed: a
// server that offers something else leads to another Catalog, with everything new at once. The same lists give the same
// Catalog, in the same order, so that pointers can be compared.
type Catalog struct {
	// Generation counts the catalogs of the host, from 0 for the empty one that it begins with.
	Generation uint64

	// The lists are sorted by server, and then by name or URI.
	Tools     []Tool
	Prompts   []Prompt
	Resources []Resource
	Templates []ResourceTemplate

	offers []*offering
	byName map[string]int // the tools, by the model's name
}

// A Tool of a server.
type Tool struct {
	Name   string // for a model: see [llmcontent.ToolName]
	Server string
	Tool   *mcp.Tool // with the server's own name
}

// A Prompt of a server.
type Prompt struct {
	Name   string // for a model: see [llmcontent.ToolName]
	Server string
	Prompt *mcp.Prompt // with the server's own name
}

// A Resource of a server. Servers may use the same URI for different things.
type Resource struct {
	Server   string
	Resource *mcp.Resource
}

// A ResourceTemplate of a server.
type ResourceTemplate struct {
	Server   string
	Template *mcp.ResourceTemplate
}

// Lookup returns the tool that a model knows by a name.
func (c *Catalog) Lookup(name string) (Tool, bool) {
	i, ok := c.byName[name]
	if !ok {
		return Tool{}, false
	}
	return c.Tools[i], true
}

// Functions returns the tools as the API of a model takes them, in the order of Tools, and those that cannot be
// expressed there: see [llmcontent.Functions]. Without options, a server's functions are made once for each of its
// generations, and those of a server that has not changed are the same ones, with the same bytes. Call them by
// [Host.CallTool], unless [llmcontent.WithNamer] gives them other names.
func (c *Catalog) Functions(
	d llmcontent.Dialect, options ...llmcontent.FunctionOption,
) ([]*llmcontent.Function, []llmcontent.Skipped) {
	var functions []*llmcontent.Function
	var skipped []llmcontent.Skipped
	for _, o := range c.offers {
		f, s := o.convert(d, options)
		functions, skipped = append(functions, f...), append(skipped, s...)
	}
	return functions, skipped
}

// A functionCache has the functions of an offering, by dialect.
type functionCache struct {
	mu    sync.Mutex
	known map[llmcontent.Dialect]converted
}

type converted struct {
	functions []*llmcontent.Function
	skipped   []llmcontent.Skipped
}

func (o *offering) convert(
	d llmcontent.Dialect, options []llmcontent.FunctionOption,
) ([]*llmcontent.Function, []llmcontent.Skipped) {
	if len(options) > 0 {
		return llmcontent.Functions(o.server, o.tools, d, options...)
	}
	o.functions.mu.Lock()
	defer o.functions.mu.Unlock()
	c, known := o.functions.known[d]
	if !known {
		c.functions, c.skipped = llmcontent.Functions(o.server, o.tools, d)
		if o.functions.known == nil {
			o.functions.known = make(map[llmcontent.Dialect]converted)
		}
		o.functions.known[d] = c
	}
	return c.functions, c.skipped
}

// A board has the current catalog.
type board struct {
	current atomic.Pointer[Catalog]

	mu     sync.Mutex
	offers map[string]*offering // by server
}

// offer puts what a server offers, nil for nothing, in place of what it offered before.
func (b *board) offer(server string, o *offering) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o == nil {
		delete(b.offers, server)
	} else {
		b.offers[server] = o
	}
	offers := make([]*offering, 0, len(b.offers))
	for _, o := range b.offers {
		offers = append(offers, o)
	}
	slices.SortFunc(offers, func(a, b *offering) int { return cmp.Compare(a.server, b.server) })
	b.current.Store(newCatalog(b.current.Load().Generation+1, offers))
}

func newCatalog(generation uint64, offers []*offering) *Catalog {
	c := &Catalog{Generation: generation, offers: offers, byName: make(map[string]int)}
	for _, o := range offers {
		for _, t := range o.tools {
			name := llmcontent.ToolName(o.server, t.Name)
			c.byName[name] = len(c.Tools)
			c.Tools = append(c.Tools, Tool{name, o.server, t})
		}
		for _, p := range o.prompts {
			c.Prompts = append(c.Prompts, Prompt{llmcontent.ToolName(o.server, p.Name), o.server, p})
		}
		for _, r := range o.resources {
			c.Resources = append(c.Resources, Resource{o.server, r})
		}
		for _, t := range o.templates {
			c.Templates = append(c.Templates, ResourceTemplate{o.server, t})
		}
	}
	return c
}
