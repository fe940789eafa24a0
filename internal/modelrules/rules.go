package modelrules

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed testdata/*.json
var files embed.FS

// Check reports where a definition breaks the rules of a dialect, which is named as llmcontent names it.
func Check(dialect string, definition []byte) error {
	file, parameters := dialect, "parameters"
	switch strings.TrimSuffix(dialect, "-strict") { // a definition says itself whether it is
	case "openai-chat":
		var outer struct{ Function json.RawMessage }
		if err := json.Unmarshal(definition, &outer); err != nil {
			return err
		}
		file, definition = "openai", outer.Function
	case "openai-responses":
		file = "openai"
	case "anthropic":
		parameters = "input_schema"
	}
	checker, err := compiled(file)
	if err != nil {
		return fmt.Errorf("the rules of %s: %w", dialect, err)
	}
	var value any
	if err := json.Unmarshal(definition, &value); err != nil {
		return err
	}
	if err := checker.Validate(value); err != nil {
		return err
	}
	members := parse(definition).(object)
	strict, _ := members.get("strict").(bool)
	schema, _ := members.get(parameters).(object) // which Gemini's functions need not have
	return names(schema, strict, dialect == "gemini")
}

var cache sync.Map // of compiled rules by the name of their file

func compiled(file string) (*jsonschema.Resolved, error) {
	if known, ok := cache.Load(file); ok {
		return known.(*jsonschema.Resolved), nil
	}
	rules, err := files.ReadFile("testdata/" + file + ".json")
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(rules, &schema); err != nil {
		return nil, err
	}
	checker, err := schema.Resolve(nil)
	if err == nil {
		cache.Store(file, checker)
	}
	return checker, err
}

// names checks what the rules cannot say: that names which are required are those of properties.
func names(schema object, strict, gemini bool) error {
	properties, _ := schema.get("properties").(object)
	required := stringsOf(schema.get("required"))
	for _, p := range properties {
		if strict && !slices.Contains(required, p.name) {
			return fmt.Errorf("%q is not required in strict mode", p.name)
		}
	}
	for _, name := range required {
		if (strict || gemini) && properties.get(name) == nil {
			return fmt.Errorf("%q is required and no property", name)
		}
	}
	for _, inner := range subschemas(schema) {
		if err := names(inner, strict, gemini); err != nil {
			return err
		}
	}
	return nil
}
