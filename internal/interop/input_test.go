package interop

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a tool needs from the client while it is called. The handlers are the same whether the server asks in rounds
// (2026-07-28) or sends requests of its own.

// answers are handlers that know everything.
func answers(fields map[string]any) mcp.Options {
	return mcp.Options{
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			form, err := r.Schema()
			if err != nil {
				return nil, err
			}
			content := map[string]any{}
			for _, field := range form.Fields {
				content[field.Name] = fields[field.Name]
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: content}, nil
		},
		ElicitURL: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
		CreateMessage: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Content: []mcp.Content{mcp.Text("forty-two")}, Model: "test-model"}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) {
			return []mcp.Root{{URI: "file:///first", Name: "First"}}, nil
		},
	}
}

// Two questions at once, then one more that depends on them, and the server keeps nothing in between.
func TestInput(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(answers(map[string]any{"name": "Ada", "city": "Basel"}))
		assert.Equal(t, "Ada, file:///first, Basel", c.text("register", nil))
		assert.Equal(t, "test-model says forty-two", c.text("summarise", nil))
		requests, _ := c.wire.heard()
		rounds := map[bool]int{true: 3 + 2, false: 1 + 1}[c.Server().Modern()]
		assert.Len(t, requests[len(c.opening.requests):], rounds, requests)
	})
}

func TestInputForTheGoSDK(t *testing.T) {
	o := answers(map[string]any{"random": "4"})
	o.Versions = []string{mcp.Version20251125}
	c := connect(t, goSDK, o)
	assert.Equal(t, "4", c.text("elicit (form)", nil))
	assert.Equal(t, "(elicitation pending)", c.text("elicit (url)", nil))
	assert.Equal(t, "forty-two", c.text("sample", nil))
	assert.Equal(t, "First:file:///first", c.text("roots", nil))
}

// The tools of that server do not know how to ask in rounds. That is a failed result, which a model can read.
func TestInputThatTheServerCannotAskFor(t *testing.T) {
	c := connect(t, goSDK, answers(nil))
	for _, tool := range []string{"elicit (form)", "elicit (url)", "sample", "roots"} {
		result, err := c.CallTool(c.ctx(), tool, nil)
		require.NoError(t, err)
		assert.True(t, result.IsError)
		assert.Contains(t, result.Text(), "2026-07-28")
	}
}

// The server does not expect a user who declines, and dies in the middle of the call.
func TestServerThatDiesOfAnAnswer(t *testing.T) {
	c := connect(t, goSDK, mcp.Options{
		Versions: []string{mcp.Version20251125},
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		},
	})
	_, err := c.CallTool(c.ctx(), "elicit (form)", nil)
	require.ErrorIs(t, err, mcp.ErrClosed)
	assert.ErrorContains(t, err, "exited with status 2")
	assert.ErrorContains(t, err, "stderr:")
	<-c.Done()
}

// oursModern ask in rounds alone.
var oursModern = []server{typescriptModern, typescriptModernHTTP, golangModern, golangModernHTTP}

// onModernServers runs a test on each of them.
func onModernServers(t *testing.T, test func(*testing.T, func(mcp.Options) *session)) {
	for _, s := range oursModern {
		t.Run(s.name, func(t *testing.T) {
			test(t, func(o mcp.Options) *session { return connect(t, s, o) })
		})
	}
}

// A caller may gather what is needed by itself, and call again whenever it has it.
func TestManualInput(t *testing.T) {
	onModernServers(t, manualInput)
}

func manualInput(t *testing.T, connect func(mcp.Options) *session) {
	c := connect(answers(nil))
	_, err := c.CallTool(c.ctx(), "register", nil, mcp.WithManualInput())
	var needed *mcp.InputRequiredError
	require.ErrorAs(t, err, &needed)
	require.Len(t, needed.Requests, 2)
	assert.Equal(t, "elicitation/create", needed.Requests["first"].Method)
	assert.Equal(t, "roots/list", needed.Requests["roots"].Method)

	_, err = c.CallTool(c.ctx(), "register", nil, mcp.WithInput(map[string]any{
		"first": mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}},
		"roots": json.RawMessage(`{"roots":[{"uri":"file:///second"}]}`),
	}, needed.State))
	require.ErrorAs(t, err, &needed)
	require.Len(t, needed.Requests, 1)
	require.NotNil(t, needed.State)

	assert.Equal(t, "Ada, file:///second, Basel", c.text("register", nil, mcp.WithInput(map[string]any{
		"second": mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"city": "Basel"}},
	}, needed.State)))
}

// A handler that fails fails the call that needed it, and no other.
func TestInputThatFails(t *testing.T) {
	onModernServers(t, func(t *testing.T, connect func(mcp.Options) *session) {
		o := answers(nil)
		broken := errors.New("nobody is there")
		o.CreateMessage = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, broken
		}
		c := connect(o)
		_, err := c.CallTool(c.ctx(), "summarise", nil)
		require.ErrorIs(t, err, broken)
		assert.Equal(t, typescript.call.text, c.text(typescript.call.name, typescript.call.args))
	})
}

// What the client has no handler for it does not declare, so that a server does not ask for it.
func TestInputThatIsNotDeclared(t *testing.T) {
	onModernServers(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		result, err := c.CallTool(c.ctx(), "summarise", nil)
		require.Nil(t, result)
		if c.Server().Info.Name == "interop-golang" { // which asks all the same
			require.ErrorContains(t, err, "did not declare")
			return
		}
		var refusal *mcp.RPCError
		require.ErrorAs(t, err, &refusal)
		assert.EqualValues(t, mcp.CodeMissingRequiredClientCapability, refusal.Code)
	})
}
