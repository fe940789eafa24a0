package main

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed62b61957/mcp/llmcontent"
)

// openAIChatTools are the tools of a request to the Chat Completions API.
func openAIChatTools(functions []*llmcontent.Function) ([]openai.ChatCompletionToolUnionParam, error) {
	var tools []openai.ChatCompletionToolUnionParam
	for _, f := range functions {
		parameters, err := members(f.Parameters)
		if err != nil {
			return nil, err
		}
		definition := shared.FunctionDefinitionParam{Name: f.Name, Parameters: parameters}
		if f.Description != "" {
			definition.Description = openai.String(f.Description)
		}
		if f.Strict {
			definition.Strict = openai.Bool(true)
		}
		tools = append(tools, openai.ChatCompletionFunctionTool(definition))
	}
	return tools, nil
}

// openAIResponsesTools are the tools of a request to the Responses API.
func openAIResponsesTools(functions []*llmcontent.Function) ([]responses.ToolUnionParam, error) {
	var tools []responses.ToolUnionParam
	for _, f := range functions {
		parameters, err := members(f.Parameters)
		if err != nil {
			return nil, err
		}
		tool := responses.FunctionToolParam{Name: f.Name, Parameters: parameters, Strict: openai.Bool(f.Strict)}
		if f.Description != "" {
			tool.Description = openai.String(f.Description)
		}
		tools = append(tools, responses.ToolUnionParam{OfFunction: &tool})
	}
	return tools, nil
}

// members takes a schema apart where an SDK wants a map. What is in the members stays as it is, so that properties keep
// their order.
func members(schema json.RawMessage) (map[string]any, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(schema, &raw); err != nil {
		return nil, err
	}
	all := make(map[string]any, len(raw))
	for name, value := range raw {
		all[name] = value
	}
	return all, nil
}
