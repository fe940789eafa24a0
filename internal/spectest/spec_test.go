package spectest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

var revisions = []string{
	mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, mcp.Version20251125, mcp.Version20260728,
}

// object is a JSON object whose numbers are exact.
type object = map[string]any

// A spec is the schema of one revision.
type spec struct {
	revision string
	defs     object // by name
	keyword  string // what the definitions are under: it changed with the dialect
	document object
}

// specDir is the folder with what the specification's repository has.
func specDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MCP_SPEC_DIR")
	require.NotEmpty(t, dir, "MCP_SPEC_DIR has to name the folder with the protocol's schemas and examples")
	return dir
}

func loadSpec(t testing.TB, revision string) *spec {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(specDir(t), revision, "schema.json"))
	require.NoError(t, err)
	s := &spec{revision: revision, document: parse(t, text).(object)}
	for _, s.keyword = range []string{"definitions", "$defs"} {
		if defs, ok := s.document[s.keyword].(object); ok {
			s.defs = defs
			break
		}
	}
	require.NotEmpty(t, s.defs)
	return s
}

func (s *spec) def(name string) object {
	def, _ := s.defs[name].(object)
	return def
}

// refName is the definition that a schema refers to, "" if it is none of that kind.
func refName(schema object) string {
	ref, _ := schema["$ref"].(string)
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// members are the names of the definitions that a union consists of.
func (s *spec) members(union string) (names []string) {
	def := s.def(union)
	branches, isUnion := def["anyOf"].([]any)
	if !isUnion {
		return []string{union}
	}
	for _, branch := range branches {
		names = append(names, refName(branch.(object)))
	}
	return names
}

// A validator checks values against the definitions of a schema.
type validator struct {
	compiler *jsonschema.Compiler
	keyword  string
	compiled map[string]*jsonschema.Schema
}

func newValidator(t testing.TB, s *spec) *validator {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("schema.json", s.document))
	return &validator{compiler, s.keyword, make(map[string]*jsonschema.Schema)}
}

// check returns what is wrong with a value, as an instance of a definition.
func (v *validator) check(definition string, value any) error {
	schema := v.compiled[definition]
	if schema == nil {
		var err error
		schema, err = v.compiler.Compile("schema.json#/" + v.keyword + "/" + definition)
		if err != nil {
			return err
		}
		v.compiled[definition] = schema
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("as %s: %w", definition, err)
	}
	return nil
}

// parse reads JSON with exact numbers.
func parse(t testing.TB, text []byte) any {
	t.Helper()
	value, err := decode(text)
	require.NoError(t, err, "%s", text)
	return value
}

func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}
