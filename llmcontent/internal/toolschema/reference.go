package toolschema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// unescapeFragment decodes the escapes of a URI. What has none that are right is taken as it is.
func unescapeFragment(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

// step goes one token down a JSON pointer.
func step(n *node, token string) *node {
	if n.kind != jsonscan.Array {
		return n.get(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(n.list) {
		return nil
	}
	return n.list[i]
}

// anchor finds the schema that gives itself a name: with $anchor, or with an $id that is a fragment (draft 6 and 7).
func (b *builder) anchor(name string) *node {
	if b.anchors == nil {
		b.anchors = map[string]*node{}
		b.collectAnchors(b.root)
	}
	return b.anchors[name]
}

func (b *builder) collectAnchors(n *node) {
	for _, keyword := range []string{"$anchor", "$dynamicAnchor", "$id", "id"} {
		name := stringOf(n.get(keyword))
		if (keyword == "$id" || keyword == "id") && !strings.HasPrefix(name, "#") {
			continue
		}
		if name = strings.TrimPrefix(name, "#"); name != "" && b.anchors[name] == nil {
			b.anchors[name] = n
		}
	}
	for _, m := range n.members {
		b.collectAnchors(m.value)
	}
	for _, e := range n.list {
		b.collectAnchors(e)
	}
}
