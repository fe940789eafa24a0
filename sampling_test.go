package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCreateMessageRequest(t *testing.T) {
	r := roundTrip[CreateMessageRequest](t, `{"messages":[{"role":"user","content":{"type":"text","text":"a"},
		"_meta":{"k":1}},
		{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"1","name":"n","input":{"x":1}}]},
		{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"c"}]}}],
		"modelPreferences":{"hints":[{"name":"h"},{}],"costPriority":0.1,"speedPriority":0,"intelligencePriority":1},
		"systemPrompt":"s","includeContext":"none","temperature":0,"maxTokens":100,"stopSequences":["x"],
		"metadata":{"n":9007199254740993},
		"tools":[{"name":"n","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"},"_meta":{"progressToken":1}}`)
	assert.Equal(t, ptr(0.0), r.Temperature)
	assert.IsType(t, &ToolResultContent{}, r.Messages[2].Content[0])

	r, _ = read[CreateMessageRequest](t, `{"messages":null,"maxTokens":"many","modelPreferences":[]}`)
	assert.JSONEq(t, `{"messages":[],"maxTokens":0}`, written(t, r))
}

func TestASamplingMessageIsNotLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		`{"messages":[{"role":"user","content":"a"},{"role":"user"}]}`: "messages[1]: has no content",
		`{"messages":[5]}`: "messages[0]: expected an object, found a number",
		`{"messages":{}}`:  "messages: expected an array, found an object",
	} {
		_, _, err := decodeResult[CreateMessageRequest]([]byte(text))
		require.EqualError(t, err, want)
	}
}

func TestCreateMessageResult(t *testing.T) {
	roundTrip[CreateMessageResult](t, `{"role":"assistant","content":{"type":"text","text":"a"},"model":"m",
		"stopReason":"endTurn","_meta":{"k":1}}`)
	roundTrip[CreateMessageResult](t, `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text",
		"text":"b"}],"model":"m"}`)
	assert.JSONEq(t, `{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}`,
		written(t, CreateMessageResult{Content: []Content{Text("a")}, Model: "m"}),
		"one block is an object, the role has a default")
	assert.JSONEq(t, `{"role":"user","content":[],"model":""}`, written(t, CreateMessageResult{Role: RoleUser}))

	b, err := json.Marshal(&SamplingMessage{Role: RoleUser, Content: []Content{Image([]byte{0}, "image/png")}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`, string(b))
	roundTrip[SamplingMessage](t, string(b))
}
