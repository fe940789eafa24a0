package llmcontent

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/schema"
	"github.com/seed62b61957/mcp/llmcontent/internal/toolschema"
)

// A Function is a tool as the API of a model takes it. [json.Marshal] writes its definition; those who use an SDK with
// types of its own copy name, description and parameters. It must not be changed once it is in use; its methods may
// then be called concurrently.
type Function struct {
	Name        string          // for the model: legal in every dialect, with at most 64 characters
	Description string          // of the tool, or else its title
	Parameters  json.RawMessage // the input schema in the dialect; for Gemini only if it has properties
	Strict      bool            // OpenAI's strict mode is on: see [OpenAIChatStrict]

	Server  string    // as it was given to Functions
	Tool    *mcp.Tool // as it was given to Functions; its name is the one to call
	Dialect Dialect

	parameters *toolschema.Parameters
	check      sync.Once
	checker    *schema.Schema // nil before check, and for a schema that cannot be used
}

// Skipped is a tool that could not be expressed, and the reason.
type Skipped struct {
	Tool *mcp.Tool
	Err  error
}

// A FunctionOption changes what [Functions] does.
type FunctionOption func(*functionOptions)

type functionOptions struct{ namer *Namer }

// WithNamer has the functions named by n, instead of by [ToolName].
func WithNamer(n *Namer) FunctionOption { return func(o *functionOptions) { o.namer = n } }

// Functions makes functions of a server's tools, in their order. server is the name by which the host knows the server,
// which becomes a part of the functions' names. For several servers, call it for each and join the lists.
//
// A tool that cannot be expressed costs the others nothing: it is in the second list, with a reason. That is one whose
// input schema is not JSON, has more than 1 MiB or 128 levels, or becomes larger than 4 MiB in the dialect; one without
// a name; and one with the name of an earlier one.
//
// The tools are not changed, but kept: see [Function.Tool].
func Functions(server string, tools []*mcp.Tool, d Dialect, options ...FunctionOption) ([]*Function, []Skipped) {
	var o functionOptions
	for _, option := range options {
		option(&o)
	}
	functions, skipped := make([]*Function, 0, len(tools)), []Skipped(nil)
	seen := make(map[string]bool, len(tools))
	for _, tool := range tools {
		f, err := newFunction(server, tool, d, o)
		if err == nil && seen[f.Name] {
			err = fmt.Errorf("llmcontent: tool %q: an earlier one has the same name", clip(tool.Name, maxSummary))
		}
		if err != nil {
			skipped = append(skipped, Skipped{tool, err})
			continue
		}
		seen[f.Name] = true
		functions = append(functions, f)
	}
	return functions, skipped
}

const maxReason = 300

func newFunction(server string, tool *mcp.Tool, d Dialect, o functionOptions) (*Function, error) {
	if tool == nil || tool.Name == "" {
		return nil, errors.New("llmcontent: a tool has no name")
	}
	f := &Function{Description: tool.Description, Server: server, Tool: tool, Dialect: d}
	if f.Name = ToolName(server, tool.Name); o.namer != nil {
		f.Name = o.namer.Name(server, tool.Name)
	}
	if f.Description == "" {
		f.Description = f.title()
	}
	parsed, err := toolschema.Parse(tool.InputSchema)
	if err == nil {
		f.parameters, err = parsed.Titled(f.schemaTitle()).Convert(d.target())
	}
	if err != nil {
		name, reason := clip(tool.Name, maxSummary), clip(err.Error(), maxReason) // it may quote from the schema
		return nil, fmt.Errorf("llmcontent: tool %q: its input schema cannot be expressed: %s", name, reason)
	}
	f.Parameters, f.Strict = f.parameters.JSON, f.parameters.Strict
	return f, nil
}

// title is what the server calls the tool for people, "" if that is nothing but its name.
func (f *Function) title() string {
	if title := f.Tool.DisplayName(); title != f.Tool.Name {
		return title
	}
	return ""
}

// schemaTitle is the title for the schema, where a dialect has no other place for it.
func (f *Function) schemaTitle() string {
	if title := f.title(); f.Dialect != Plain && title != f.Description {
		return title
	}
	return ""
}

// Find returns the function that a model calls by a name, nil if there is none.
func Find(functions []*Function, name string) *Function {
	for _, f := range functions {
		if f.Name == name {
			return f
		}
	}
	return nil
}
