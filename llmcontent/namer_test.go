package llmcontent

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp"
)

func TestNamerKnowsTheNamesThatItGave(t *testing.T) {
	var n Namer
	assert.Equal(t, ToolName("files", "read file"), n.Name("files", "read file"))
	assert.Equal(t, "mcp__files__list", n.Name("files", "list"))
	n.Name("other", "list")
	server, tool, ok := n.Lookup(ToolName("files", "read file"))
	assert.True(t, ok)
	assert.Equal(t, []string{"files", "read file"}, []string{server, tool})
	_, _, ok = n.Lookup("mcp__files__write")
	assert.False(t, ok, "a name that was not given")

	n.Forget("files")
	_, _, ok = n.Lookup("mcp__files__list")
	assert.False(t, ok)
	_, _, ok = n.Lookup("mcp__other__list")
	assert.True(t, ok)
	assert.Equal(t, "mcp__files__list", n.Name("files", "list"))

	functions, _ := Functions("files", []*mcp.Tool{{Name: "a.b"}}, Plain, WithNamer(&Namer{Identifiers: true}))
	assert.Regexp(t, "^files__a_b_[0-9a-f]{8}$", functions[0].Name)
}

// The hashes are spelled out: a name that changes with a release breaks what hosts have stored.
func TestIdentifiers(t *testing.T) {
	long := strings.Repeat("t", 80)
	for name, test := range map[string]struct{ server, tool, want string }{
		"plain":            {"files", "read_file2", "files__read_file2"},
		"hyphen":           {"my-files", "read", "my_files__read_460d74f0"},
		"space":            {"files", "read file", "files__read_file_e8c588a7"},
		"digit first":      {"2nd", "read", "_2nd__read_434ad283"},
		"long":             {"s", long, "s__" + long[:52] + "_32613ea3"},
		"separator":        {"a__b", "c", "a__b__c_bf3c0c39"},
		"seems hashed":     {"a", "b_01234567", "a__b_01234567_c59dee1b"},
		"hashed otherwise": {"a", "b_0123456789ab", "a__b_0123456789ab"},
		"empty":            {"", "", "__"},
	} {
		t.Run(name, func(t *testing.T) {
			n := Namer{Identifiers: true}
			assert.Equal(t, test.want, n.Name(test.server, test.tool))
		})
	}
}

func TestIdentifiersThatAreTaken(t *testing.T) {
	taken := map[string]bool{"a__b": true}
	n := Namer{Identifiers: true, IsTaken: func(name string) bool { return taken[name] }}
	hashed := "a__b_" + hash("a", "b")[:8]
	assert.Equal(t, hashed, n.Name("a", "b"))
	taken[hashed] = true
	assert.Equal(t, hashed, n.Name("a", "b"), "a name that was given stays")

	again := Namer{Identifiers: true, IsTaken: n.IsTaken}
	assert.Equal(t, hashed+"_2", again.Name("a", "b"))
	taken[hashed+"_2"] = true
	again.Forget("a")
	assert.Equal(t, hashed+"_3", again.Name("a", "b"))

	never := Namer{Identifiers: true, IsTaken: func(string) bool { return true }}
	assert.NotEqual(t, never.Name("a", "b"), never.Name("a", "c"))

	full := Namer{Identifiers: true, IsTaken: func(name string) bool { return !strings.HasSuffix(name, "_12") }}
	assert.Len(t, full.Name("s", strings.Repeat("t", 99)), 64)
}

func TestNamerForManyGoroutines(t *testing.T) {
	var n Namer
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, tool := range []string{"a", "b c", "d"} {
				server, got, ok := n.Lookup(n.Name("s", tool))
				assert.Equal(t, []any{"s", tool, true}, []any{server, got, ok})
			}
		})
	}
	wg.Wait()
}

func TestNamespace(t *testing.T) {
	long := strings.Repeat("s", 60)
	for server, want := range map[string]string{
		"files": "mcp__files",
		"a.b":   "mcp__a_b_" + hash("a.b", ""),
		"a__b":  "mcp__a__b_" + hash("a__b", ""),
		long:    "mcp__" + long[:34] + "_" + hash(long, ""),

		long[:47]: "mcp__" + long[:47],
		long[:48]: "mcp__" + long[:34] + "_" + hash(long[:48], ""),
	} {
		assert.Equal(t, want, Namespace(server))
		assert.LessOrEqual(t, len(Namespace(server)), 52)
	}
	assert.True(t, strings.HasPrefix(ToolName("files", "read"), Namespace("files")+"__"))
}

func TestSummary(t *testing.T) {
	assert.Equal(t, "My files.", Summary(" My  files.\nMore.", "Use it."))
	assert.Equal(t, "Use it.", Summary(" \n", "\n\n\tUse it.\r\nNow."))
	assert.Empty(t, Summary("", "\n"))
	assert.Equal(t, strings.Repeat("ü", 199)+"…", Summary(strings.Repeat("ü", 201), ""))
	assert.Equal(t, strings.Repeat("ü", 200), Summary(strings.Repeat("ü", 200), ""))
}

var identifierName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

func FuzzNamer(f *testing.F) {
	f.Add("files", "read", "files", "write")
	f.Add("a__b", "c", "a", "b__c")
	f.Add("a-b", "c", "a_b", "c")
	f.Add("1", "2", "_1", "2")
	f.Add(strings.Repeat("s", 80), "t", strings.Repeat("s", 80), "u")
	f.Fuzz(func(t *testing.T, server, tool, otherServer, otherTool string) {
		n, reversed := Namer{Identifiers: true}, Namer{Identifiers: true}
		name, other := n.Name(server, tool), n.Name(otherServer, otherTool)
		assert.Regexp(t, identifierName, name)
		assert.Regexp(t, identifierName, other)
		if server != otherServer || tool != otherTool {
			assert.NotEqual(t, name, other)
		}
		assert.Equal(t, other, reversed.Name(otherServer, otherTool), "the order does not matter")
		assert.Equal(t, name, reversed.Name(server, tool))
		gotServer, gotTool, ok := n.Lookup(name)
		assert.Equal(t, []any{server, tool, true}, []any{gotServer, gotTool, ok})
	})
}
