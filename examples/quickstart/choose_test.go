package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func TestChoose(t *testing.T) {
	const reads = `"annotations":{"readOnlyHint":true}`
	tests := map[string]struct{ server, tools, want, args string }{
		"favourite":      {"demo", `[{"name":"now",` + reads + `},{"name":"draw"}]`, "draw", `{"size":5}`},
		"of that server": {"other", `[{"name":"draw"}]`, "", ""},
		"first that needs nothing": {"x", `[
			{"name":"a",` + reads + `,"inputSchema":{"required":["q"]}},
			{"name":"b",` + reads + `,"execution":{"taskSupport":"required"}},
			{"name":"c",` + reads + `,"inputSchema":{"required":[],"properties":{"q":{}}}},
			{"name":"d",` + reads + `}
		]`, "c", `{}`},
		"without a schema":          {"x", `[{"name":"a",` + reads + `}]`, "a", `{}`},
		"schema that says nonsense": {"x", `[{"name":"a",` + reads + `,"inputSchema":{"required":"all"}}]`, "", ""},
		"none that says it reads":   {"x", `[{"name":"drop"},{"name":"wipe","annotations":{"readOnlyHint":false}}]`, "", ""},
		"hints, but not the one":    {"x", `[{"name":"a","annotations":{"idempotentHint":true}}]`, "", ""},
		"no tools":                  {"demo", `[]`, "", ""},
		"server-everything from npm": {"mcp-servers/everything", `[{"name":"trigger-long-running-operation"}]`,
			"trigger-long-running-operation", `{"duration":3,"steps":3}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var tools []*mcp.Tool
			require.NoError(t, json.Unmarshal([]byte(test.tools), &tools))
			tool, args := choose(test.server, tools)
			if test.want == "" {
				assert.Nil(t, tool)
				return
			}
			require.NotNil(t, tool)
			assert.Equal(t, test.want, tool.Name)
			assert.Equal(t, test.args, compact(args))
		})
	}
}
