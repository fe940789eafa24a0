package interop

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What servers ask of the client.

// hasTool waits for a tool, since the server registers those that need the client only after the handshake.
func (s *session) hasTool(name string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		for tool, err := range s.Tools(s.ctx()) {
			if err == nil && tool.Name == name {
				return true
			}
		}
		return false
	}, wait, 50*time.Millisecond)
}

func TestSampling(t *testing.T) {
	asked := make(chan *mcp.CreateMessageRequest, 1)
	c := connect(t, everything, mcp.Options{
		CreateMessage: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			send(asked, r)
			return &mcp.CreateMessageResult{Content: []mcp.Content{mcp.Text("forty-two")}, Model: "test-model"}, nil
		},
	})
	c.hasTool("trigger-sampling-request")
	text := c.text("trigger-sampling-request", map[string]any{"prompt": "what is it?", "maxTokens": 17})
	assert.Contains(t, text, "forty-two")
	assert.Contains(t, text, "test-model")
	r := receive(t, asked)
	assert.EqualValues(t, 17, r.MaxTokens)
	assert.Equal(t, "You are a helpful test server.", r.SystemPrompt)
	require.Len(t, r.Messages, 1)
	assert.Equal(t, mcp.RoleUser, r.Messages[0].Role)
}

// A handler that fails fails what needed it and nothing else, and its error does not leave the host.
func TestSamplingThatFails(t *testing.T) {
	c := connect(t, everything, mcp.Options{
		CreateMessage: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("the model's address is secret")
		},
	})
	c.hasTool("trigger-sampling-request")
	result, err := c.CallTool(c.ctx(), "trigger-sampling-request", map[string]any{"prompt": "x"})
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.NotContains(t, result.Text(), "secret")
	assert.Equal(t, everything.call.text, c.text(everything.call.name, everything.call.args))
}

// The server of 2024-11-05 asks for a message before it answers the subscription that made it ask.
func TestSamplingInTheMiddleOfACall(t *testing.T) {
	asked := make(chan *mcp.CreateMessageRequest, 1)
	c := connect(t, everything2024, mcp.Options{
		CreateMessage: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			send(asked, r)
			return &mcp.CreateMessageResult{Content: []mcp.Content{mcp.Text("noted")}, Model: "test-model"}, nil
		},
	})
	require.NoError(t, c.SubscribeResource(c.ctx(), "test://static/resource/1"))
	require.Len(t, asked, 1, "the answer came before the question")
	assert.Len(t, receive(t, asked).Messages, 1)
}

func TestElicitation(t *testing.T) {
	asked := make(chan *mcp.ElicitRequest, 1)
	var answer mcp.ElicitResult
	c := connect(t, everything, mcp.Options{
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			send(asked, r)
			return &answer, nil
		},
	})
	c.hasTool("trigger-elicitation-request")

	// What is left out gets the defaults of the form.
	answer = mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada", "integer": 7}}
	text := c.text("trigger-elicitation-request", nil)
	assert.Contains(t, text, "- Name: Ada")
	assert.Contains(t, text, "- Favorite Integer: 7")
	assert.Contains(t, text, "- Favorite Number: 3.14")
	assert.Contains(t, text, `"titledSingleSelectEnum": "hero-1"`)
	assert.Contains(t, text, "It was a dark and stormy night.")
	form, err := receive(t, asked).Schema()
	require.NoError(t, err)
	require.NotEmpty(t, form.Fields)
	assert.Equal(t, "name", form.Fields[0].Name)
	assert.True(t, form.Fields[0].Required)
	assert.Len(t, form.Fields, 13)

	answer = mcp.ElicitResult{Action: mcp.ElicitDecline}
	assert.Contains(t, c.text("trigger-elicitation-request", nil), "declined")
	answer = mcp.ElicitResult{Action: mcp.ElicitCancel}
	assert.Contains(t, c.text("trigger-elicitation-request", nil), "cancelled")

	// What does not fit the form is never sent.
	answer = mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada", "integer": 1000}}
	result, err := c.CallTool(c.ctx(), "trigger-elicitation-request", nil)
	require.NoError(t, err)
	assert.True(t, result.IsError)
}

// The capabilities that a client without handlers advertises are none: the server offers no tool that needs one.
func TestZeroOptionsAdvertiseNothing(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	tools, err := c.ListTools(c.ctx())
	require.NoError(t, err)
	for _, tool := range tools {
		switch tool.Name {
		case "get-roots-list", "trigger-elicitation-request", "trigger-url-elicitation", "trigger-sampling-request":
			assert.Fail(t, "advertised what "+tool.Name+" needs")
		}
	}
}

func TestRoots(t *testing.T) {
	roots := []mcp.Root{{URI: "file:///first", Name: "First"}}
	c := connect(t, everything, mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) { return roots, nil },
	})
	c.hasTool("get-roots-list")
	text := c.text("get-roots-list", nil)
	assert.Contains(t, text, "file:///first")
	assert.Contains(t, text, "First")
}

// The filesystem server takes the client's roots for the folders that it may touch, and asks again when they change.
func TestRootsThatChange(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	root := make(chan string, 1)
	current := first
	asked := make(chan string, 1)
	c := connect(t, filesystem, mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) {
			select {
			case current = <-root:
			default:
			}
			r, err := mcp.FileRoot(current)
			asked <- current
			return []mcp.Root{r}, err
		},
	})
	require.Equal(t, first, receive(t, asked))
	allowed := func(folder string) func() bool {
		return func() bool { return strings.Contains(c.text("list_allowed_directories", nil), folder) }
	}
	require.Eventually(t, allowed(first), wait, 20*time.Millisecond)

	root <- second
	require.NoError(t, c.RootsChanged(c.ctx()))
	require.Equal(t, second, receive(t, asked))
	require.Eventually(t, allowed(second), wait, 20*time.Millisecond)
	assert.False(t, allowed(first)())

	file := filepath.Join(second, "note.txt")
	c.text("write_file", map[string]any{"path": file, "content": "grüezi\n"})
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "grüezi\n", string(data))
	result, err := c.CallTool(c.ctx(), "read_text_file", map[string]any{"path": filepath.Join(first, "x")})
	require.NoError(t, err)
	assert.True(t, result.IsError)
}

// The raw way out: any method, and its result as it came.
func TestRawRequest(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	raw, err := c.Request(c.ctx(), "tools/list", nil)
	require.NoError(t, err)
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	require.NoError(t, json.Unmarshal(raw, &list))
	assert.NotEmpty(t, list.Tools)

	_, err = c.Request(c.ctx(), "no/such/method", map[string]any{"x": 1})
	var refused *mcp.RPCError
	require.ErrorAs(t, err, &refused)
	assert.EqualValues(t, mcp.CodeMethodNotFound, refused.Code)
}
