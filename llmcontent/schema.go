package llmcontent

import (
	"bytes"
	"encoding/json"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// InputSchema returns a tool's input schema as one of an object with properties, which is what model APIs insist on.
//
// A schema that is one already comes back byte for byte. In others the type and the properties are set, to none if they
// are not an object, and the other keywords are kept in their order. Without a schema, the tool takes an empty object.
func InputSchema(t *mcp.Tool) json.RawMessage {
	schema := bytes.Clone(t.InputSchema)
	var isObject, hasProperties bool
	properties, rest := json.RawMessage("{}"), []byte(nil)
	d := jsonscan.New(schema)
	for name := range d.Object() {
		key := string(name)
		switch kind := d.Kind(); {
		case key == "type":
			isObject = kind == jsonscan.String && d.Text() == "object"
		case key == "properties":
			if hasProperties = kind == jsonscan.Object; hasProperties {
				properties = d.Raw()
			}
		default:
			rest = append(jsonscan.AppendString(append(rest, ','), key), ':')
			rest = append(rest, d.Raw()...)
		}
	}
	switch {
	case d.End() != nil: // none, or not JSON
		return json.RawMessage(emptySchema)
	case isObject && hasProperties:
		return schema
	case !hasProperties:
		properties = json.RawMessage("{}")
	}
	schema = append([]byte(`{"type":"object","properties":`), properties...)
	return append(append(schema, rest...), '}')
}

const emptySchema = `{"type":"object","properties":{}}`
