package llmcontent

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The hashes are spelled out: a name that changes with a release breaks what hosts have stored.
func TestToolName(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	tests := map[string]struct{ server, tool, want string }{
		"plain":                 {"files", "read-file_2", "mcp__files__read-file_2"},
		"tool with a separator": {"a", "b__c", "mcp__a__b__c"},
		"tool that starts low":  {"a", "_b", "mcp__a___b"},
		"long enough":           {"s", long("t", 56), "mcp__s__" + long("t", 56)},
		"empty":                 {"", "", "mcp____"},

		"cleaned tool":   {"files", "read file", "mcp__files__read_file_e8c588a7f0d9"},
		"cleaned server": {"a.b/c", "tool", "mcp__a_b_c__tool_21b0678d46f9"},
		"other letters":  {"s", "größe", "mcp__s__gr__e_91074a2a5bab"},
		"only others":    {"日本", "語", "mcp________12b94fca08f9"},
		"not UTF-8":      {"s", "a\xff", "mcp__s__a__55ccc219782f"},

		"server with a separator":     {"a__b", "c", "mcp__a__b__c_bf3c0c39c6e3"},
		"server that ends low":        {"a_", "b", "mcp__a___b_dcd870fd1835"},
		"seems to have a hash":        {"a", "b_0123456789ab", "mcp__a__b_0123456789ab_c1a296c3866a"},
		"seems to be a hash":          {"a", "_0123456789ab", "mcp__a___0123456789ab_5894d23c565a"},
		"has a hash, but in capitals": {"a", "b_0123456789AB", "mcp__a__b_0123456789AB"},

		"too long":    {"files", long("t", 57), "mcp__files__" + long("t", 39) + "_7caf137fa494"},
		"long server": {long("s", 60), "search", "mcp__" + long("s", 38) + "__search_96bf5a06b076"},
		"both long":   {long("s", 60), long("t", 60), "mcp__" + long("s", 16) + "__" + long("t", 28) + "_181e06e551ea"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, ToolName(test.server, test.tool))
		})
	}
}

var (
	legalName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	geminiKey    = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)
)

func FuzzToolName(f *testing.F) {
	f.Add("files", "read", "files", "write")
	f.Add("a__b", "c", "a", "b__c")
	f.Add("a_", "b", "a", "_b")
	f.Add("a", "b c", "a", "b_c")
	f.Add("a", "b c", "a", ToolName("a", "b c")[len("mcp__a__"):])
	f.Add("ab", " ", "a", "b ")
	f.Add(strings.Repeat("s", 80), "t", strings.Repeat("s", 80), "u")
	f.Add("", "", "\x00", "語")
	f.Fuzz(func(t *testing.T, server, tool, otherServer, otherTool string) {
		name, other := ToolName(server, tool), ToolName(otherServer, otherTool)
		assert.Regexp(t, legalName, name)
		assert.Regexp(t, legalName, other)
		assert.Equal(t, name, ToolName(server, tool))
		if server != otherServer || tool != otherTool {
			assert.NotEqual(t, name, other, "%q %q and %q %q", server, tool, otherServer, otherTool)
		}
	})
}
