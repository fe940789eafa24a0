package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/seed62b61957/mcp/llmcontent"
)

// geminiTools are the tools of a request to the Gemini API or to Vertex AI: one, with all functions. The SDK's type has
// the very members that the dialect writes; one that it does not know would be an error.
func geminiTools(functions []*llmcontent.Function) ([]*genai.Tool, error) {
	tool := new(genai.Tool)
	for _, f := range functions {
		definition, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		declaration := new(genai.FunctionDeclaration)
		d := json.NewDecoder(bytes.NewReader(definition))
		d.DisallowUnknownFields()
		if err := d.Decode(declaration); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		tool.FunctionDeclarations = append(tool.FunctionDeclarations, declaration)
	}
	return []*genai.Tool{tool}, nil
}
