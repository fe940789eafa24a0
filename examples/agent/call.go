package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/llmcontent"
)

// call makes a call and returns what to tell the model: whatever goes wrong is a result, with which it can go on.
func (a *agent) call(ctx context.Context, functions []*llmcontent.Function, call toolCall) string {
	f := llmcontent.Find(functions, call.Function.Name)
	if f == nil {
		return "There is no function of that name."
	}
	args, err := f.Arguments(string(call.Function.Arguments))
	if err == nil {
		err = f.CheckArguments(args) // before the user is asked to approve it
	}
	if bad, ok := errors.AsType[*llmcontent.ArgumentsError](err); ok {
		return bad.ForModel()
	}
	if err != nil {
		return err.Error()
	}

	result, err := a.host.CallTool(ctx, f.Name, args, mcp.WithProgress(func(p mcp.Progress) {
		a.out.printf("   %s/%s: %s\n", f.Server, f.Tool.Name, progressLine(p))
	}))
	if ctx.Err() != nil {
		return "The user has interrupted this call. It may have had an effect."
	}
	if refused, ok := errors.AsType[*host.RefusedError](err); ok {
		return fmt.Sprintf("Not called: %v.", refused.Err)
	}
	if err != nil {
		return fmt.Sprintf("The call failed: %v.", err)
	}
	// This API takes no images from tools.
	blocks := llmcontent.FromResult(result,
		llmcontent.WithoutImages(), llmcontent.WithJoinedText(), llmcontent.WithLimit(llmcontent.Limit{}))
	if len(blocks) == 0 {
		return "Done. There is nothing to show."
	}
	return blocks[0].Text
}

func progressLine(p mcp.Progress) string {
	line := fmt.Sprintf("%g", p.Progress)
	if p.Total != nil {
		line += fmt.Sprintf(" of %g", *p.Total)
	}
	if p.Message != "" {
		line += ", " + p.Message
	}
	return line
}

func describe(functions []*llmcontent.Function, call toolCall) string {
	return shortName(functions, call.Function.Name) + " " + firstLine(string(call.Function.Arguments))
}

// shortName is a function's name as its server and the user know it.
func shortName(functions []*llmcontent.Function, name string) string {
	if f := llmcontent.Find(functions, name); f != nil {
		return f.Server + "/" + f.Tool.Name
	}
	return name
}

// firstLine is for the screen. The model gets all of it.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > 200 {
		line, more = string(runes[:200]), true
	}
	if more {
		line += " ..."
	}
	return line
}
