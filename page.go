package mcp

import (
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

func decodeToolsPage(data json.RawMessage) (*Page[Tool], []string, error) {
	source := jsonscan.NewValid(data)
	source.ShareAll() // with the schemas
	return decodePage[Tool](source, "tools")
}

func decodeResourcesPage(data json.RawMessage) (*Page[Resource], []string, error) {
	return decodePage[Resource](jsonscan.NewValid(data), "resources")
}

func decodeResourceTemplatesPage(data json.RawMessage) (*Page[ResourceTemplate], []string, error) {
	return decodePage[ResourceTemplate](jsonscan.NewValid(data), "resourceTemplates")
}

func decodePromptsPage(data json.RawMessage) (*Page[Prompt], []string, error) {
	return decodePage[Prompt](jsonscan.NewValid(data), "prompts")
}

// decodePage reads a page whose items are under the name, and returns notes on what was tolerated.
func decodePage[T any, P decodable[T]](source jsonscan.Decoder, items string) (*Page[T], []string, error) {
	p := pageDecoder[T, P]{items: items}
	notes, err := decodeFrom(source, &p)
	if err != nil {
		return nil, notes, err
	}
	return &p.page, notes, nil
}

type pageDecoder[T any, P decodable[T]] struct {
	items string
	page  Page[T]
}

func (p *pageDecoder[T, P]) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case p.items:
			p.page.Items = mustList[T, P](d)
		case "nextCursor":
			if d.must(jsonscan.String) { // to ignore one that cannot be used would silently cut the list
				cursor := d.Text()
				p.page.NextCursor = &cursor
			}
		case "_meta":
			p.page.Meta = d.objects()
		default:
			p.page.Cache.member(d, name)
		}
	}
	if p.page.Items == nil {
		d.note("has no " + p.items)
		p.page.Items = []*T{}
	}
}
