package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// The handlers of the server's requests that have a type of their own. Each decodes the params, checks them, calls what
// the caller set in Options, and checks what comes back.

func (o *Options) listRoots(ctx context.Context, _ json.RawMessage) (any, error) {
	roots, err := o.Roots(ctx)
	if err != nil {
		return nil, err
	}
	if roots == nil {
		roots = []Root{} // the schema wants a list
	}
	return struct {
		Roots []Root `json:"roots"`
	}{roots}, nil
}

func (o *Options) createMessage(ctx context.Context, params json.RawMessage) (any, error) {
	var request CreateMessageRequest
	if err := decodeParams(params, &request); err != nil {
		return nil, err
	}
	if (len(request.Tools) > 0 || request.ToolChoice != nil) && !o.CreateMessageTools {
		return nil, invalidParams("tools and toolChoice were not declared as supported") // client/sampling
	}
	result, err := o.CreateMessage(ctx, &request)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return nil, errNoResult
	}
	return result, nil
}

func (o *Options) elicit(ctx context.Context, params json.RawMessage) (any, error) {
	var request ElicitRequest
	if err := decodeParams(params, &request); err != nil {
		return nil, err
	}
	handler := o.Elicit
	if request.Mode == ElicitURL {
		handler = o.ElicitURL
	}
	if handler == nil || request.Mode != ElicitForm && request.Mode != ElicitURL {
		// client/elicitation, Error Handling
		return nil, invalidParams("the elicitation mode was not declared as supported")
	}
	result, err := handler(ctx, &request)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return nil, errNoResult
	}
	return result.forRequest(&request)
}

var errNoResult = errors.New("the handler returned neither a result nor an error")

// forRequest checks what a user answered, and gives it the form that the schema wants: content goes with an accepted
// form and with nothing else, and what the user left out of it has the defaults of the schema.
func (r *ElicitResult) forRequest(request *ElicitRequest) (*ElicitResult, error) {
	answer := &ElicitResult{Action: r.Action, Meta: r.Meta}
	switch r.Action {
	case ElicitDecline, ElicitCancel:
		return answer, nil
	case ElicitAccept:
	default:
		return nil, fmt.Errorf("unknown action %q", r.Action)
	}
	if request.Mode != ElicitForm {
		return answer, nil
	}
	var err error
	if answer.Content, err = request.complete(r.Content); err != nil {
		return nil, fmt.Errorf("the accepted content does not fit the requested schema: %w", err)
	}
	return answer, nil
}

func decodeParams(params json.RawMessage, into json.Unmarshaler) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if err := into.UnmarshalJSON(params); err != nil {
		return invalidParams(err.Error())
	}
	return nil
}

func invalidParams(message string) *RPCError {
	return &RPCError{Code: CodeInvalidParams, Message: message}
}
