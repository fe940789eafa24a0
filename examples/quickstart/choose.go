package main

import (
	"encoding/json"

	"github.com/seed62b61957/mcp"
)

// favourites are calls that report progress, by server and tool.
var favourites = map[[2]string]map[string]any{
	{"demo", "draw"}: {"size": 5},
	{"mcp-servers/everything", "trigger-long-running-operation"}: {"duration": 3, "steps": 3},
}

// choose stands in for a model: it returns a tool to call and the arguments, nil if there is none to call blindly. Of a
// server that it does not know it takes a tool that needs no arguments, if the tool says that it changes nothing.
func choose(server string, tools []*mcp.Tool) (*mcp.Tool, map[string]any) {
	for _, tool := range tools {
		if args, ok := favourites[[2]string{server, tool.Name}]; ok {
			return tool, args
		}
	}
	for _, tool := range tools {
		if readsOnly(tool) && !needsArguments(tool) && !needsTask(tool) {
			return tool, map[string]any{}
		}
	}
	return nil, nil
}

func readsOnly(t *mcp.Tool) bool {
	return t.Annotations != nil && t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
}

func needsArguments(t *mcp.Tool) bool {
	if t.InputSchema == nil {
		return false
	}
	var schema struct {
		Required []string `json:"required"`
	}
	return json.Unmarshal(t.InputSchema, &schema) != nil || len(schema.Required) > 0
}

// needsTask reports whether a plain call of the tool would be refused (2025-11-25, "Tasks").
func needsTask(t *mcp.Tool) bool { return t.Execution != nil && t.Execution.TaskSupport == "required" }
