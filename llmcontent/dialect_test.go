package llmcontent

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/modelrules"
)

var update = flag.Bool("update", false, "write what comes out to testdata/dialects.txt")

var dialects = []Dialect{
	Plain, OpenAIChat, OpenAIChatStrict, OpenAIResponses, OpenAIResponsesStrict, Anthropic, Gemini,
}

type trouble struct{ name, schema string }

// troubles are the schemas of testdata/schemas.txt.
func troubles(t testing.TB) []trouble {
	t.Helper()
	b, err := os.ReadFile("testdata/schemas.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[2:] // a comment and an empty line
	require.Zero(t, len(lines)%2)
	var all []trouble
	for i := 0; i < len(lines); i += 2 {
		all = append(all, trouble{lines[i], lines[i+1]})
	}
	return all
}

// function makes a function of a schema, in a dialect.
func function(t testing.TB, schema string, d Dialect, options ...FunctionOption) *Function {
	t.Helper()
	tool := &mcp.Tool{Name: "tool", Description: "Does it.", InputSchema: json.RawMessage(schema)}
	functions, skipped := Functions("server", []*mcp.Tool{tool}, d, options...)
	require.Empty(t, skipped)
	return functions[0]
}

// Every schema goes through every dialect as testdata/dialects.txt has it, is accepted by the rules that the provider
// publishes, keeps its properties, and takes arguments back exactly.
func TestDialects(t *testing.T) {
	var golden strings.Builder
	for _, c := range troubles(t) {
		t.Run(c.name, func(t *testing.T) {
			fmt.Fprintf(&golden, "%s\n", c.name)
			plain := function(t, c.schema, Plain)
			for _, d := range dialects {
				f := function(t, c.schema, d)
				definition, err := json.Marshal(f)
				require.NoError(t, err)
				assert.NoError(t, modelrules.Check(d.String(), definition), "%s: %s", d, definition)
				assert.Equal(t, c.schema, string(f.Tool.InputSchema), "the tool is not changed")
				assertProperties(t, plain, f)
				assertRoundTrip(t, plain, f)
				switch d {
				case OpenAIChat, OpenAIResponses: // without strict mode
					assert.Equal(t, string(plain.Parameters), string(f.Parameters))
				case OpenAIResponsesStrict: // which is the same as OpenAIChatStrict
				default:
					fmt.Fprintf(&golden, "\t%s: %s\n", shortName(f), f.Parameters)
				}
			}
		})
	}
	const file = "testdata/dialects.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(golden.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), golden.String(), "go test -update writes what comes out")
}

func shortName(f *Function) string {
	name := strings.TrimSuffix(f.Dialect.String(), "-strict")
	if f.Strict {
		name += ", strict"
	}
	return name
}

// assertProperties sees that the names of properties are those of the whole schema, apart from new ones for those that
// the dialect does not allow.
func assertProperties(t *testing.T, plain, f *Function) {
	t.Helper()
	want, got := modelrules.Properties(plain.Parameters), modelrules.Properties(f.Parameters)
	if f.Dialect != Anthropic && f.Dialect != Gemini {
		assert.Equal(t, want, got, f.Dialect)
		return
	}
	assert.Len(t, got, len(want), "%v: %q became %q", f.Dialect, want, got)
	for _, name := range want {
		if legalKey(f.Dialect, name) {
			assert.Contains(t, got, name)
		}
	}
}

func legalKey(d Dialect, name string) bool {
	if d == Anthropic {
		return anthropicKey.MatchString(name)
	}
	return geminiKey.MatchString(name)
}

func assertRoundTrip(t *testing.T, plain, f *Function) {
	t.Helper()
	for _, s := range modelrules.Samples(plain.Parameters, f.Parameters) {
		args, err := f.Arguments(string(s.Model))
		require.NoError(t, err)
		assert.Equal(t, string(s.Tool), string(args), "%v took back %s", f.Dialect, s.Model)
	}
}
