package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "serve" {
		leakcheck.Main(m)
		return
	}
	server := &mcptest.Server{Info: mcp.Implementation{Name: "clock", Version: "1"}}
	server.AddTool(&mcp.Tool{Name: "now", Description: "Tells the time."},
		func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) { return mcptest.Text("noon"), nil })
	if err := server.ServeStdio(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// troubles are tools with the schemas of llmcontent's table.
func troubles(t *testing.T) []*mcp.Tool {
	t.Helper()
	b, err := os.ReadFile("../../llmcontent/testdata/schemas.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[2:]
	var tools []*mcp.Tool
	for i := 0; i < len(lines); i += 2 {
		tools = append(tools, &mcp.Tool{
			Name: fmt.Sprintf("tool%d", i/2), Description: lines[i], InputSchema: json.RawMessage(lines[i+1]),
		})
	}
	require.Greater(t, len(tools), 60)
	return tools
}

// The types of the SDKs take every schema of the table, and write what the dialect says.
func TestTheSDKsTakeWhatTheDialectsSay(t *testing.T) {
	all := troubles(t)
	for d, tools := range map[llmcontent.Dialect]func([]*llmcontent.Function) (any, error){
		llmcontent.OpenAIChat:            func(f []*llmcontent.Function) (any, error) { return openAIChatTools(f) },
		llmcontent.OpenAIChatStrict:      func(f []*llmcontent.Function) (any, error) { return openAIChatTools(f) },
		llmcontent.OpenAIResponses:       func(f []*llmcontent.Function) (any, error) { return openAIResponsesTools(f) },
		llmcontent.OpenAIResponsesStrict: func(f []*llmcontent.Function) (any, error) { return openAIResponsesTools(f) },
		llmcontent.Anthropic:             func(f []*llmcontent.Function) (any, error) { return anthropicTools(f) },
		llmcontent.Gemini: func(f []*llmcontent.Function) (any, error) {
			tools, err := geminiTools(f)
			if err != nil {
				return nil, err
			}
			return tools[0].FunctionDeclarations, nil
		},
	} {
		t.Run(d.String(), func(t *testing.T) {
			functions, skipped := llmcontent.Functions("server", all, d)
			require.Empty(t, skipped)
			ofSDK, err := tools(functions)
			require.NoError(t, err)
			written, err := json.Marshal(ofSDK)
			require.NoError(t, err)
			var list []json.RawMessage
			require.NoError(t, json.Unmarshal(written, &list))
			require.Len(t, list, len(functions))
			for i, f := range functions {
				want, err := json.Marshal(f)
				require.NoError(t, err)
				assert.Equal(t, value(t, d, want), value(t, d, list[i]), "%s", f.Description)
			}
		})
	}
}

// value reads JSON. The types of genai have float64 for numbers, and leave out empty objects, which is the same to the
// API.
func value(t *testing.T, d llmcontent.Dialect, text []byte) any {
	t.Helper()
	if d == llmcontent.Gemini {
		text = bytes.ReplaceAll(text, []byte(`,"properties":{}`), nil)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if d != llmcontent.Gemini {
		decoder.UseNumber()
	}
	var v any
	require.NoError(t, decoder.Decode(&v))
	return v
}

func TestPropertiesKeepTheirOrder(t *testing.T) {
	tools := []*mcp.Tool{{Name: "t", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z"]}`)}}
	var out bytes.Buffer
	require.NoError(t, show(&out, "server", tools))
	for line := range strings.Lines(out.String()) {
		z, a := strings.Index(line, `"z"`), strings.Index(line, `"a"`)
		if strings.Contains(line, "propertyOrdering") {
			assert.Contains(t, line, `"propertyOrdering":["z","a"]`)
			continue
		}
		assert.True(t, 0 <= z && z < a, line)
	}
}

func TestRun(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, self, []string{"serve"}))
	assert.Equal(t, 4, strings.Count(out.String(), `"name":"mcp__clock__now"`))
}
