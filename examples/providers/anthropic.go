package main

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/seed62b61957/mcp/llmcontent"
)

// anthropicTools are the tools of a request to the Messages API.
func anthropicTools(functions []*llmcontent.Function) ([]anthropic.ToolUnionParam, error) {
	var tools []anthropic.ToolUnionParam
	for _, f := range functions {
		var schema struct {
			Properties json.RawMessage `json:"properties"` // in its order
			Required   []string        `json:"required"`
		}
		if err := json.Unmarshal(f.Parameters, &schema); err != nil {
			return nil, err
		}
		more, err := members(f.Parameters)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"type", "properties", "required"} {
			delete(more, name)
		}
		tool := anthropic.ToolParam{Name: f.Name, InputSchema: anthropic.ToolInputSchemaParam{
			Properties: schema.Properties, Required: schema.Required, ExtraFields: more,
		}}
		if f.Description != "" {
			tool.Description = anthropic.String(f.Description)
		}
		tools = append(tools, anthropic.ToolUnionParam{OfTool: &tool})
	}
	return tools, nil
}
