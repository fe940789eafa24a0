package llmcontent

import (
	"encoding/json"

	"github.com/seed62b61957/mcp"
)

// A Function is the definition of a function for a model. Its JSON is the core that the model APIs have in common.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// FunctionOf makes a function of a server's tool: see [ToolName] and [InputSchema]. Keep the functions' names in a map,
// to find the tool that a model calls.
func FunctionOf(server string, t *mcp.Tool) Function {
	return Function{Name: ToolName(server, t.Name), Description: t.Description, Parameters: InputSchema(t)}
}
