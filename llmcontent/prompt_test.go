package llmcontent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp"
)

func TestFromPrompt(t *testing.T) {
	picture := Block{Image: &Image{MIMEType: "image/png", Data: png}}
	prompt := &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
		{Role: "user", Content: mcp.Text("Look:")},
		{Role: "user", Content: mcp.Image(png, "image/png")},
		{Role: "assistant", Content: mcp.Text("Nice.")},
		{Role: "assistant", Content: mcp.Text("")},
		{Role: "user", Content: mcp.Text(" \r\n")},
		{Role: "system", Content: mcp.Text("Go on.")},
		{Role: "user", Content: nil},
	}}
	assert.Equal(t, []Message{
		{"user", []Block{{Text: "Look:"}, picture}},
		{"assistant", []Block{{Text: "Nice."}}},
		{"user", []Block{{Text: "Go on."}, {Text: "[content without a type]"}}},
	}, FromPrompt(prompt))
	assert.Equal(t, []Block{{Text: "Look:\n[image, image/png, 8 bytes]"}},
		FromPrompt(prompt, WithJoinedText(), WithoutImages())[0].Blocks)
	assert.Empty(t, FromPrompt(&mcp.GetPromptResult{}))
}

func TestFromPromptLimitsAllMessagesTogether(t *testing.T) {
	prompt := &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
		{Role: "user", Content: mcp.Text(lines(20))},
		{Role: "assistant", Content: mcp.Text(lines(20))},
		{Role: "user", Content: mcp.Text(lines(20))},
	}}
	got := FromPrompt(prompt, WithLimit(Limit{Bytes: 200}))
	assert.Len(t, got, 2, "of the message in the middle nothing is left")
	assert.Regexp(t, cutLine, got[0].Blocks[0].Text)
	assert.LessOrEqual(t, len(got[0].Blocks[0].Text)+len(got[1].Blocks[0].Text), 200)
	assert.Len(t, FromPrompt(prompt, WithLimit(Limit{})), 3)
}

func TestFromResource(t *testing.T) {
	blob := "iVBORw0KGgo="
	resource := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: "file:///a.md", MIMEType: "text/markdown", Text: "# A"},
		{URI: "file:///a.png", MIMEType: "image/png", Blob: &blob},
		{URI: "file:///a.bin", Blob: &blob},
		{URI: "file:///empty"},
		{URI: "file:///empty", Text: "\n"},
		nil,
	}}
	assert.Equal(t, []Block{
		{Text: "[resource, file:///a.md, text/markdown]"}, {Text: "# A"},
		{Text: "[resource, file:///a.png, image/png]"}, {Image: &Image{MIMEType: "image/png", Data: png}},
		{Text: "[binary resource, file:///a.bin, 8 bytes]"},
		{Text: "[empty resource, file:///empty]"}, {Text: "[empty resource, file:///empty]"},
	}, FromResource(resource))
	assert.Equal(t, "[resource, file:///a.md, text/markdown]\n# A\n"+
		"[image resource, file:///a.png, image/png, 8 bytes]\n"+
		"[binary resource, file:///a.bin, 8 bytes]\n[empty resource, file:///empty]\n[empty resource, file:///empty]",
		FromResource(resource, WithoutImages(), WithJoinedText())[0].Text)
}
