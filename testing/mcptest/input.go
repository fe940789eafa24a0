package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seed62b61957/mcp"
)

// Since 2026-07-28 a server does not send requests. It answers with what it needs, and the client sends the request
// again together with that (basic/patterns/mrtr).

// NeedInput is the error with which the handler of a tool, a resource or a prompt says what it needs of the client
// before it can answer. The handler is then called again, from its start, with a [Call] that has the answers by the
// same keys ([Call.Input]) and the state (its State); "" is no state. It has to name a request or a state.
//
// Until 2025-11-25 the server sends the requests on its own, in the order of their keys, and calls the handler again at
// once; a request that the client refuses is the end of the call.
func NeedInput(requests map[string]mcp.InputRequest, state string) error {
	return &inputRequired{Type: "input_required", Requests: requests, State: state}
}

// inputRequired is an error for the handler, and the result for the client.
type inputRequired struct {
	Type     string                      `json:"resultType"`
	Requests map[string]mcp.InputRequest `json:"inputRequests,omitempty"`
	State    string                      `json:"requestState,omitempty"`
}

func (e *inputRequired) Error() string {
	return fmt.Sprintf("mcptest: input needed that the handler should have asked for: %d requests", len(e.Requests))
}

// Input decodes the client's answer to a request of [NeedInput] into v, and reports whether there is one.
func (c *Call) Input(key string, v any) (bool, error) {
	raw, found := c.inputs[key]
	if !found {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("mcptest: input %q: %w", key, err)
	}
	return true, nil
}

// Elicit asks the client's user, in any revision. As long as there is no answer, it returns an error that the handler
// must return: see [NeedInput]. The handler must not use NeedInput itself, and must ask the same things in the same
// order each time that it is called; answers that it has got are kept in the state.
func (c *Call) Elicit(r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	result := new(mcp.ElicitResult)
	if err := c.ask("elicitation/create", r, result); err != nil {
		return nil, err
	}
	return result, nil
}

// CreateMessage asks the client's model, in the way of [Call.Elicit].
func (c *Call) CreateMessage(r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	if err := c.ask("sampling/createMessage", r, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Roots asks the client for its roots, in the way of [Call.Elicit].
func (c *Call) Roots() ([]mcp.Root, error) {
	var result listRootsResult
	err := c.ask("roots/list", nil, &result)
	return result.Roots, err
}

// ask decodes the answer to the next question, or returns an error that asks it.
func (c *Call) ask(method string, params, result any) error {
	if c.answers == nil {
		c.answers = make(map[string]json.RawMessage)
		if c.State != "" && json.Unmarshal([]byte(c.State), &c.answers) != nil {
			return &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "unknown requestState"}
		}
		maps.Copy(c.answers, c.inputs)
	}
	c.questions++
	key := strconv.Itoa(c.questions)
	if answer, found := c.answers[key]; found {
		if err := json.Unmarshal(answer, result); err != nil {
			return fmt.Errorf("mcptest: %s: unusable answer: %w", method, err)
		}
		return nil
	}
	raw, err := encodedParams(params)
	if err != nil {
		return fmt.Errorf("mcptest: %s: %w", method, err)
	}
	state, err := c.progressMade()
	if err != nil {
		return err
	}
	return NeedInput(map[string]mcp.InputRequest{key: {Method: method, Params: raw}}, state)
}

func (c *Call) progressMade() (string, error) {
	if len(c.answers) == 0 {
		return "", nil
	}
	state, err := encoded(c.answers)
	return string(state), err
}

// maxRounds bounds how often a legacy call asks, as clients bound the modern ones.
const maxRounds = 100

var errEndlessInput = errors.New("mcptest: the handler does not stop asking for input")

// run calls the handler, and again as long as it needs what the client can be asked for in between.
func (c *Call) run(ctx context.Context, h Handler) (any, error) {
	for range maxRounds {
		result, err := h(ctx, c)
		var needed *inputRequired
		if !errors.As(err, &needed) {
			return result, err
		}
		if c.modern {
			return needed, nil
		}
		if c, err = c.withInput(ctx, needed); err != nil {
			return nil, err
		}
	}
	return nil, errEndlessInput
}

// withInput returns the call together with what its handler needs.
func (c *Call) withInput(ctx context.Context, needed *inputRequired) (*Call, error) {
	next := *c
	next.State, next.answers, next.questions = needed.State, nil, 0
	next.inputs = make(map[string]json.RawMessage)
	for _, key := range slices.Sorted(maps.Keys(needed.Requests)) {
		var params any // a nil RawMessage would be sent as null
		if r := needed.Requests[key]; r.Params != nil {
			params = r.Params
		}
		answer, err := c.Session.Request(ctx, needed.Requests[key].Method, params)
		if err != nil {
			return nil, err
		}
		next.inputs[key] = answer
	}
	return &next, nil
}
