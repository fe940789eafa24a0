package config

import (
	"encoding/json"
	"maps"
	"slices"
)

// Schema returns a JSON Schema (draft-07, which editors know best) of the files that this package reads. It is the file
// schema.json of the package, too. It describes the spelling; that fields go together is checked by reading only.
func Schema() json.RawMessage {
	entry := object(serverRows, map[string]any{
		"not": map[string]any{
			"properties": map[string]any{"command": isText, "url": isText},
			"required":   []string{"command", "url"},
		},
	})
	servers := map[string]any{
		"type":                 []string{"object", "null"},
		"propertyNames":        map[string]any{"pattern": `^\S(.*\S)?$`},
		"additionalProperties": map[string]any{"$ref": "#/definitions/server"},
	}
	schema, _ := json.MarshalIndent(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#",
		"title":   "MCP servers",
		"type":    "object",
		"properties": map[string]any{
			"mcpServers": described("The servers, by name.", servers),
			"servers":    described("The servers, by name, as in VS Code.", servers),
			"inputs": described("What the user is asked for: ${input:id} refers to it.", map[string]any{
				"type":  []string{"array", "null"},
				"items": object(inputRows, map[string]any{"required": []string{"id"}}),
			}),
		},
		"definitions": map[string]any{"server": entry, "oauth": object(oauthRows, nil)},
	}, "", "  ")
	return append(schema, '\n')
}

var isText = map[string]any{"type": "string"}

// object describes an object with the fields of the rows, and any others.
func object[T any](rows []row[T], more map[string]any) map[string]any {
	properties := make(map[string]any, len(rows))
	for _, r := range rows {
		properties[r.name] = described(r.doc, shape(r.into(new(T))))
	}
	schema := map[string]any{"type": "object", "properties": properties}
	maps.Copy(schema, more)
	return schema
}

func described(doc string, schema map[string]any) map[string]any {
	schema = maps.Clone(schema)
	schema["description"] = doc
	return schema
}

// shape describes what the decoder reads into a pointer. Null is always one that is not set.
func shape(into any) map[string]any {
	scalar := []string{"string", "number", "boolean"}
	switch into.(type) {
	case *string:
		return map[string]any{"type": []string{"string", "null"}}
	case required:
		return map[string]any{"type": []string{"string", "null"}, "minLength": 1}
	case *bool, inverse:
		return map[string]any{"type": []string{"boolean", "null"}}
	case *[]string:
		return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": scalar}}
	case *map[string]string:
		values := map[string]any{"type": append(scalar, "null")}
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": values}
	case *Type:
		return words(types)
	case *Registration:
		return words(registrations)
	case **OAuth:
		return map[string]any{"anyOf": []any{map[string]any{"$ref": "#/definitions/oauth"}, map[string]any{"type": "null"}}}
	case seconds:
		return map[string]any{"type": []string{"number", "null"}, "exclusiveMinimum": 0}
	case port:
		return map[string]any{"type": []string{"integer", "null"}, "minimum": 1, "maximum": 65535}
	case scopes:
		list := map[string]any{"type": "array", "items": isText}
		return map[string]any{"anyOf": []any{map[string]any{"type": []string{"string", "null"}, "minLength": 1}, list}}
	case labels:
		option := map[string]any{
			"type": "object", "properties": map[string]any{"value": isText}, "required": []string{"value"},
		}
		return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"anyOf": []any{isText, option}}}
	}
	panic("config: a kind of field without a schema")
}

func words[T any](known map[string]T) map[string]any {
	list := []any{nil}
	for _, word := range slices.Sorted(maps.Keys(known)) {
		list = append(list, word)
	}
	return map[string]any{"enum": list}
}
