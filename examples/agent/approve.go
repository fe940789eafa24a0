package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
)

var errRefused = errors.New("the user has refused this call")

// approve asks the user before a call that may change something. That a tool only reads is taken from its server, which
// is one that the user has put into the file: an agent for servers of strangers asks for these as well.
func (t *terminal) approve(ctx context.Context, call *host.Call) error {
	if call.Tool != nil && readsOnly(call.Tool) {
		return nil
	}
	release, err := t.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	what := quoted(fmt.Sprintf("%s/%s be called with %s", call.Server, call.Name, call.Args))
	yes, err := t.agrees(ctx, fmt.Sprintf("May %s? It %s.", what, effects(call.Tool)))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil || !yes: // nobody is there who could agree
		return errRefused
	}
	return nil
}

func readsOnly(t *mcp.Tool) bool {
	return t.Annotations != nil && isTrue(t.Annotations.ReadOnlyHint, false)
}

// effects says what a tool may do, by its annotations. What is not said has the specification's default: the worst.
func effects(t *mcp.Tool) string {
	var hints mcp.ToolAnnotations
	if t != nil && t.Annotations != nil {
		hints = *t.Annotations
	}
	effects := []string{"changes something"}
	if isTrue(hints.DestructiveHint, true) {
		effects = []string{"may destroy something"}
	}
	if isTrue(hints.OpenWorldHint, true) {
		effects = append(effects, "deals with the outside world")
	}
	return strings.Join(effects, ", and ")
}

func isTrue(hint *bool, otherwise bool) bool {
	if hint == nil {
		return otherwise
	}
	return *hint
}
