package llmcontent

import (
	"encoding/json"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/llmcontent/internal/toolschema"
)

// A Dialect is the form in which a model's API takes the definition of a function. The package's documentation has a
// table of what each of them accepts.
type Dialect int

const (
	// Plain is what the APIs have in common, with JSON Schema that is as complete as the server's: for APIs and local
	// models that have no dialect of their own here. Title and annotations of a tool are members of their own.
	Plain Dialect = iota
	// OpenAIChat is an element of "tools" in OpenAI's Chat Completions API, and in the many that are compatible with
	// it.
	OpenAIChat
	// OpenAIChatStrict is OpenAIChat with OpenAI's strict mode where the schema allows it ([Function].Strict): the
	// model then gives arguments that fit. Not every API that is compatible in the rest knows it.
	OpenAIChatStrict
	// OpenAIResponses is an element of "tools" in OpenAI's Responses API.
	OpenAIResponses
	// OpenAIResponsesStrict is to OpenAIResponses what OpenAIChatStrict is to OpenAIChat.
	OpenAIResponsesStrict
	// Anthropic is an element of "tools" in Anthropic's Messages API.
	Anthropic
	// Gemini is an element of "functionDeclarations" in a tool of Google's Gemini API and of Vertex AI.
	Gemini
)

var dialectNames = [...]string{
	"plain", "openai-chat", "openai-chat-strict", "openai-responses", "openai-responses-strict", "anthropic", "gemini",
}

// String returns a name such as "openai-chat".
func (d Dialect) String() string {
	if d < 0 || int(d) >= len(dialectNames) {
		return "unknown"
	}
	return dialectNames[d]
}

func (d Dialect) target() toolschema.Target {
	switch d {
	case OpenAIChatStrict, OpenAIResponsesStrict:
		return toolschema.OpenAIStrict
	case Anthropic:
		return toolschema.Anthropic
	case Gemini:
		return toolschema.Gemini
	}
	return toolschema.Plain
}

// MarshalJSON writes the function in its dialect. The same tool always gives the same bytes.
func (f *Function) MarshalJSON() ([]byte, error) {
	switch f.Dialect {
	case OpenAIChat, OpenAIChatStrict:
		type inner struct {
			definition
			Strict bool `json:"strict,omitempty"`
		}
		return marshal(struct {
			Type     string `json:"type"`
			Function inner  `json:"function"`
		}{"function", inner{f.definition(), f.Strict}})
	case OpenAIResponses, OpenAIResponsesStrict:
		return marshal(struct {
			Type string `json:"type"`
			definition
			Strict bool `json:"strict"` // what is not given is true
		}{"function", f.definition(), f.Strict})
	case Anthropic:
		return marshal(struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			InputSchema json.RawMessage `json:"input_schema"`
		}{f.Name, f.Description, f.Parameters})
	case Gemini:
		return marshal(f.definition())
	}
	return marshal(struct {
		Name        string               `json:"name"`
		Title       string               `json:"title,omitempty"`
		Description string               `json:"description,omitempty"`
		Parameters  json.RawMessage      `json:"parameters"`
		Annotations *mcp.ToolAnnotations `json:"annotations,omitempty"`
	}{f.Name, f.title(), f.Description, f.Parameters, f.Tool.Annotations})
}

// definition is what most dialects have in common.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// definition leaves out the parameters where there are none and Gemini would refuse an object without properties.
func (f *Function) definition() definition {
	d := definition{f.Name, f.Description, f.Parameters}
	if f.Dialect == Gemini && len(propertyNames(d.Parameters)) == 0 {
		d.Parameters = nil
	}
	return d
}

// marshal leaves <, > and & as they are.
func marshal(v any) ([]byte, error) { return jsonscan.AppendValue(nil, v) }
