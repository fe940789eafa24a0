package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// answering is a client that answers whatever it is asked.
func answering(o *mcp.Options) *mcp.Options {
	o.Roots = func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///r"}}, nil }
	o.CreateMessage = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("!")}}, nil
	}
	o.Elicit = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"ok": r.Message}}, nil
	}
	return o
}

const okSchema = `{"type":"object","properties":{"ok":{"type":"string"}}}`

func TestACallAsksTheClient(t *testing.T) {
	inEachEra(t, func(t *testing.T, o *mcp.Options) {
		s := new(mcptest.Server)
		calls := 0
		s.AddTool(&mcp.Tool{Name: "ask"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
			calls++
			roots, err := call.Roots()
			if err != nil {
				return nil, err
			}
			sampled, err := call.CreateMessage(&mcp.CreateMessageRequest{
				MaxTokens: 5,
				Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("?")}}},
			})
			if err != nil {
				return nil, fmt.Errorf("wrapped: %w", err)
			}
			text := roots[0].URI + " " + sampled.Model
			for _, message := range []string{"a", "b"} {
				answer, err := call.Elicit(&mcp.ElicitRequest{Message: message, RequestedSchema: json.RawMessage(okSchema)})
				if err != nil {
					return nil, err
				}
				text += fmt.Sprint(" ", answer.Action, " ", answer.Content["ok"])
			}
			return mcptest.Text(text), nil
		})
		client := mcptest.Connect(t, s, answering(o))
		res, err := client.CallTool(t.Context(), "ask", nil)
		require.NoError(t, err)
		assert.Equal(t, "file:///r m accept a accept b", res.Text())
		assert.Equal(t, 5, calls)
		if client.Server().Modern() {
			assert.Len(t, s.Received("tools/call"), 5)
			assert.Len(t, s.Received(), 6, "and no answers to requests")
		} else {
			assert.Len(t, s.Received("tools/call"), 1)
		}
	})
}

// everyKind offers a tool, a resource and a prompt that need the same before they say what they got.
func everyKind() *mcptest.Server {
	ask := func(call *mcptest.Call) (string, error) {
		var answer mcp.ElicitResult
		switch found, err := call.Input("who", &answer); {
		case err != nil:
			return "", err
		case !found:
			return "", mcptest.NeedInput(map[string]mcp.InputRequest{
				"who": {
					Method: "elicitation/create",
					Params: json.RawMessage(`{"message":"x","requestedSchema":` + okSchema + `}`),
				},
				"where": {Method: "roots/list"},
			}, "s <1>")
		}
		var roots struct{ Roots []mcp.Root }
		if _, err := call.Input("where", &roots); err != nil {
			return "", err
		}
		return fmt.Sprint(call.State, " ", answer.Content["ok"], " ", roots.Roots[0].URI), nil
	}
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "t"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		text, err := ask(call)
		return mcptest.Text(text), err
	})
	s.AddResource(&mcp.Resource{URI: "a:b"}, func(_ context.Context, call *mcptest.Call) (*mcp.ReadResourceResult, error) {
		text, err := ask(call)
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "a:b", Text: text}}}, err
	})
	s.AddPrompt(&mcp.Prompt{Name: "p"}, func(_ context.Context, call *mcptest.Call) (*mcp.GetPromptResult, error) {
		text, err := ask(call)
		return &mcp.GetPromptResult{Description: text}, err
	})
	return s
}

func TestNeedInput(t *testing.T) {
	inEachEra(t, func(t *testing.T, o *mcp.Options) {
		const want = "s <1> x file:///r"
		client := mcptest.Connect(t, everyKind(), answering(o))
		tool, err := client.CallTool(t.Context(), "t", nil)
		require.NoError(t, err)
		assert.Equal(t, want, tool.Text())
		resource, err := client.ReadResource(t.Context(), "a:b")
		require.NoError(t, err)
		assert.Equal(t, want, resource.Contents[0].Text)
		prompt, err := client.GetPrompt(t.Context(), "p", nil)
		require.NoError(t, err)
		assert.Equal(t, want, prompt.Description)
	})
}

func TestNeedInputOnTheWire(t *testing.T) {
	w := dial(t, everyKind())
	const asks = `{"resultType":"input_required","requestState":"s <1>",` + serverMeta + `,"inputRequests":{
		"where":{"method":"roots/list"},
		"who":{"method":"elicitation/create","params":{"message":"x","requestedSchema":` + okSchema + `}}}}`
	assert.JSONEq(t, asks, w.modern("tools/call", `"name":"t"`))
	assert.JSONEq(t, asks, w.modern("resources/read", `"uri":"a:b"`), "without what is for caches")
	call := func(members string) string { return w.modern("tools/call", `"name":"t","requestState":"z",`+members) }
	assert.JSONEq(t, asks, call(`"inputResponses":{"other":5}`), "once more")
	assert.Contains(t, call(`"inputResponses":{"who":5}`), `mcptest: input \"who\"`)
	assert.Contains(t, call(`"inputResponses":{"who":{"content":{"ok":"y"}},"where":{"roots":[{"uri":"a:"}]}}`),
		`"text":"z y a:"`)
}

func TestAnswersOfNoUse(t *testing.T) {
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "t"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		_, err := call.Roots()
		return nil, err
	})
	w := dial(t, s)
	assert.Contains(t, w.modern("tools/call", `"name":"t","inputResponses":{"1":5}`), "unusable answer")
	assert.Equal(t, "unknown requestState (-32602)", w.modern("tools/call", `"name":"t","requestState":"forged"`))
}

func TestARefusalEndsALegacyCall(t *testing.T) {
	s := everyKind()
	s.AddTool(&mcp.Tool{Name: "endless"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return nil, mcptest.NeedInput(nil, "again")
	})
	client := mcptest.Connect(t, s, &mcp.Options{Versions: []string{mcp.Version20251125}})
	_, err := client.CallTool(t.Context(), "t", nil)
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.EqualValues(t, mcp.CodeMethodNotFound, rpc.Code)
	_, err = client.CallTool(t.Context(), "endless", nil)
	require.ErrorContains(t, err, "does not stop asking")
}

func TestAUserWhoSaysNo(t *testing.T) {
	fail := errors.New("no")
	client := mcptest.Connect(t, everyKind(), &mcp.Options{
		Roots:  func(context.Context) ([]mcp.Root, error) { return nil, nil },
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, fail },
	})
	_, err := client.CallTool(t.Context(), "t", nil)
	require.ErrorIs(t, err, fail)
}
