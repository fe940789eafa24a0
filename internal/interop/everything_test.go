package interop

import (
	"context"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Progress comes in order, on the calling goroutine, and before the result.
func TestProgress(t *testing.T) {
	for _, test := range []struct {
		server server
		tool   string
	}{
		{everything, "trigger-long-running-operation"},
		{everything2024, "longRunningOperation"},
	} {
		t.Run(test.server.name, func(t *testing.T) {
			c := connect(t, test.server, mcp.Options{})
			var steps []float64
			text := c.text(test.tool, map[string]any{"duration": 0.2, "steps": 4}, mcp.WithProgress(func(p mcp.Progress) {
				steps = append(steps, p.Progress)
				require.NotNil(t, p.Total)
				assert.EqualValues(t, 4, *p.Total)
			}))
			assert.Contains(t, text, "Long running operation completed.")
			assert.Equal(t, []float64{1, 2, 3, 4}, steps)
		})
	}
}

// A call that its caller gave up ends at once, and no other call is disturbed.
func TestCancel(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	ctx, cancel := context.WithCancel(c.ctx())
	_, err := c.CallTool(ctx, "trigger-long-running-operation", map[string]any{"duration": 600, "steps": 6000},
		mcp.WithProgress(func(mcp.Progress) { cancel() }))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, everything.call.text, c.text(everything.call.name, everything.call.args))
}

func TestStructuredContent(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	type weather struct {
		Temperature float64 `json:"temperature"`
		Conditions  string  `json:"conditions"`
		Humidity    float64 `json:"humidity"`
	}
	got, err := mcp.CallToolAs[weather](c.ctx(), c.Client, "get-structured-content", map[string]any{"location": "Chicago"})
	require.NoError(t, err)
	assert.Equal(t, weather{36, "Light rain / drizzle", 82}, got)
}

func TestContentBlocks(t *testing.T) {
	c := connect(t, everything, mcp.Options{})

	result, err := c.CallTool(c.ctx(), "get-tiny-image", nil)
	require.NoError(t, err)
	var image *mcp.ImageContent
	for _, block := range result.Content {
		if found, ok := block.(*mcp.ImageContent); ok {
			image = found
		}
	}
	require.NotNil(t, image)
	data, err := image.Bytes()
	require.NoError(t, err)
	assert.Equal(t, "image/png", image.MediaType())
	assert.Equal(t, "\x89PNG", string(data[:4]))

	result, err = c.CallTool(c.ctx(), "get-annotated-message", map[string]any{"messageType": "error"})
	require.NoError(t, err)
	text, ok := result.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	require.NotNil(t, text.Annotations)
	require.NotNil(t, text.Annotations.Priority)
	assert.EqualValues(t, 1, *text.Annotations.Priority)

	result, err = c.CallTool(c.ctx(), "get-resource-links", map[string]any{"count": 2})
	require.NoError(t, err)
	var links int
	for _, block := range result.Content {
		if link, ok := block.(*mcp.ResourceLink); ok {
			links++
			assert.NotEmpty(t, link.URI)
		}
	}
	assert.Equal(t, 2, links)

	result, err = c.CallTool(c.ctx(), "get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1})
	require.NoError(t, err)
	var embedded *mcp.EmbeddedResource
	for _, block := range result.Content {
		if found, ok := block.(*mcp.EmbeddedResource); ok {
			embedded = found
		}
	}
	require.NotNil(t, embedded)
	assert.NotEmpty(t, embedded.Resource.Text)
}

// Arguments that the tool does not take are a failed result that a model can read.
func TestToolThatFails(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	result, err := c.CallTool(c.ctx(), "get-sum", map[string]any{"a": "one"})
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.NotEmpty(t, result.Text())
}

func TestResources(t *testing.T) {
	c := connect(t, everything, mcp.Options{})

	resources, err := c.ListResources(c.ctx())
	require.NoError(t, err)
	require.NotEmpty(t, resources)
	read, err := c.ReadResource(c.ctx(), resources[0].URI)
	require.NoError(t, err)
	require.Len(t, read.Contents, 1)
	assert.Equal(t, resources[0].URI, read.Contents[0].URI)
	assert.NotEmpty(t, read.Contents[0].Text)

	templates, err := c.ListResourceTemplates(c.ctx())
	require.NoError(t, err)
	assert.Len(t, templates, 2)
	read, err = c.ReadResource(c.ctx(), "demo://resource/dynamic/blob/7")
	require.NoError(t, err)
	require.NotNil(t, read.Contents[0].Blob)
	data, err := read.Contents[0].Bytes()
	require.NoError(t, err)
	assert.Contains(t, string(data), "Resource 7")

	_, err = c.ReadResource(c.ctx(), "demo://resource/none")
	var refused *mcp.RPCError
	assert.ErrorAs(t, err, &refused)
}

func TestSubscription(t *testing.T) {
	const uri = "demo://resource/dynamic/text/1"
	updated := make(chan string, 1)
	c := connect(t, everything, mcp.Options{On: mcp.Notifications{
		ResourceUpdated: func(_ context.Context, uri string) { send(updated, uri) },
	}})
	require.NoError(t, c.SubscribeResource(c.ctx(), uri))
	c.text("toggle-subscriber-updates", nil)
	assert.Equal(t, uri, receive(t, updated))
	require.NoError(t, c.UnsubscribeResource(c.ctx(), uri))
}

func TestPrompts(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	prompts, err := c.ListPrompts(c.ctx())
	require.NoError(t, err)
	byName := map[string]*mcp.Prompt{}
	for _, prompt := range prompts {
		byName[prompt.Name] = prompt
	}
	require.Contains(t, byName, "args-prompt")
	require.Len(t, byName["args-prompt"].Arguments, 2)
	assert.True(t, byName["args-prompt"].Arguments[0].Required)

	got, err := c.GetPrompt(c.ctx(), "args-prompt", map[string]string{"city": "Basel"})
	require.NoError(t, err)
	require.Len(t, got.Messages, 1)
	assert.Equal(t, mcp.RoleUser, got.Messages[0].Role)
	assert.Equal(t, mcp.Text("What's weather in Basel?"), got.Messages[0].Content)

	_, err = c.GetPrompt(c.ctx(), "args-prompt", nil)
	var refused *mcp.RPCError // an argument is missing
	assert.ErrorAs(t, err, &refused)
}

func TestCompletion(t *testing.T) {
	c := connect(t, everything, mcp.Options{})
	got, err := c.Complete(c.ctx(), &mcp.CompleteRequest{
		Ref:      mcp.PromptRef("completable-prompt"),
		Argument: "department",
		Value:    "S",
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"Sales", "Support"}, got.Values)

	got, err = c.Complete(c.ctx(), &mcp.CompleteRequest{
		Ref:      mcp.PromptRef("completable-prompt"),
		Argument: "name",
		Context:  map[string]string{"department": "Support"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"John", "Kim", "Lee"}, got.Values)
}

func TestLogging(t *testing.T) {
	logged := make(chan *mcp.LogMessage, 1)
	c := connect(t, everything, mcp.Options{On: mcp.Notifications{
		Log: func(_ context.Context, m *mcp.LogMessage) { send(logged, m) },
	}})
	require.NoError(t, c.SetLogLevel(c.ctx(), mcp.LogInfo))
	// The server logs each subscription with level info.
	require.NoError(t, c.SubscribeResource(c.ctx(), "demo://resource/dynamic/text/2"))
	m := receive(t, logged)
	assert.Equal(t, mcp.LogInfo, m.Level)
	assert.Contains(t, string(m.Data), "demo://resource/dynamic/text/2")
}

// The server announces its tools once more after the handshake; a handler may list them.
func TestListChanged(t *testing.T) {
	listed := make(chan int, 1)
	connect(t, everything, mcp.Options{On: mcp.Notifications{
		ToolsChanged: func(ctx context.Context) {
			tools, err := mcp.ClientFromContext(ctx).ListTools(ctx)
			if assert.NoError(t, err) {
				send(listed, len(tools))
			}
		},
	}})
	assert.Positive(t, receive(t, listed))
}
