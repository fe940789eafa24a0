package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
)

// script plays a model, so that the program works without one. It knows the demo servers; of others it calls what
// needs no arguments and says that it only reads.
type script struct{}

type step struct{ server, tool, args string }

// plan has what the script calls, reply by reply.
var plan = [][]step{
	{{"kitchen", "recipes", `{}`}, {"pantry", "list", `{}`}},
	{{"kitchen", "cook", `{"dish": "onion soup"}`}},
	{{"pantry", "discard", `{"item": "old bread"}`}},
}

const maxBlind = 3 // calls to servers that the script does not know

func (script) reply(_ context.Context, past []message, functions []*llmcontent.Function) (message, error) {
	round, results := sinceQuestion(past)
	reply := message{Role: "assistant"}
	replies := planned(functions)
	if round < len(replies) {
		reply.ToolCalls = replies[round]
	}
	for i := range reply.ToolCalls {
		reply.ToolCalls[i].ID = fmt.Sprintf("call_%d_%d", len(past), i)
	}
	switch {
	case round == 0:
		reply.Content = inventory(functions)
	case len(reply.ToolCalls) == 0:
		reply.Content = "A script has no answer of its own. This is what the tools said:"
		for _, result := range results {
			reply.Content += "\n- " + firstLine(result)
		}
	}
	return reply, nil
}

// sinceQuestion counts the replies to the latest question, and returns what the tools have said.
func sinceQuestion(past []message) (round int, results []string) {
	for _, m := range past {
		switch m.Role {
		case "user":
			round, results = 0, nil
		case "assistant":
			round++
		case "tool":
			results = append(results, m.Content)
		}
	}
	return round, results
}

func inventory(functions []*llmcontent.Function) string {
	if len(functions) == 0 {
		return "I see no functions."
	}
	names := make([]string, len(functions))
	for i, f := range functions {
		names[i] = f.Name
	}
	return fmt.Sprintf("I see %d functions: %s", len(functions), strings.Join(names, ", "))
}

// planned returns the calls of each reply that has any.
func planned(functions []*llmcontent.Function) (replies [][]toolCall) {
	for _, steps := range plan {
		var calls []toolCall
		for _, s := range steps {
			if f := llmcontent.Find(functions, llmcontent.ToolName(s.server, s.tool)); f != nil {
				calls = append(calls, callOf(f, s.args))
			}
		}
		if calls != nil {
			replies = append(replies, calls)
		}
	}
	if replies != nil {
		return replies
	}
	var blind []toolCall
	for _, f := range functions {
		if len(blind) < maxBlind && readsOnly(f.Tool) && !needsArguments(f.Tool) {
			blind = append(blind, callOf(f, `{}`))
		}
	}
	return [][]toolCall{blind}
}

func callOf(f *llmcontent.Function, args string) toolCall {
	return toolCall{Type: "function", Function: functionCall{f.Name, jsonText(args)}}
}

func needsArguments(t *mcp.Tool) bool {
	var schema struct {
		Required []string `json:"required"`
	}
	return t.InputSchema != nil && (json.Unmarshal(t.InputSchema, &schema) != nil || len(schema.Required) > 0)
}
