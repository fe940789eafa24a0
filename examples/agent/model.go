package main

import (
	"context"
	"encoding/json"

	"github.com/seed62b61957/mcp/llmcontent"
)

// model answers a conversation: with text, or with calls whose results it wants to see first.
type model interface {
	reply(ctx context.Context, conversation []message, functions []*llmcontent.Function) (message, error)
}

// message is one of a conversation, in the form of the Chat Completions API.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`   // of the assistant
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string   `json:"name"`
	Arguments jsonText `json:"arguments"`
}

// jsonText is JSON in a string, as it has to be sent. Some servers write the JSON itself, or nothing.
type jsonText string

func (t *jsonText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = jsonText(text)
		return nil
	}
	*t = jsonText(data)
	return nil
}
