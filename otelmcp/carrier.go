package otelmcp

import "github.com/seed62b61957/mcp"

// carrier has a propagator read and write the members of a _meta object that are strings. It keeps the names as they
// are: the specification reserves those of W3C without a prefix (2026-07-28, basic, OpenTelemetry trace context).
type carrier mcp.Meta

// Get returns the text of a member, "" if there is none.
func (c carrier) Get(name string) (text string) {
	_, _ = mcp.Meta(c).Decode(name, &text)
	return text
}

// Set puts a member in place of one of the same name.
func (c carrier) Set(name, text string) {
	_ = mcp.Meta(c).Set(name, text) // a text can always be encoded
}

// Keys returns the names of all members.
func (c carrier) Keys() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	return names
}
