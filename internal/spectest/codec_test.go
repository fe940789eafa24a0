package spectest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A codec reads an instance of a type of the protocol with what the library has for it, and writes it again.
type codec func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error)

// as is the codec of a Go type that reads and writes itself.
func as[T any]() codec {
	return func(_ testing.TB, _ string, instance json.RawMessage) (json.RawMessage, error) {
		var value T
		if err := json.Unmarshal(instance, &value); err != nil {
			return nil, err
		}
		return encode(value)
	}
}

// member is the codec of an object of which the library has a type for one member only. The others stay as they are.
func member(name string, inner codec) codec {
	return func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(instance, &members); err != nil {
			return nil, err
		}
		if members[name] == nil {
			return instance, nil
		}
		var err error
		if members[name], err = inner(t, revision, members[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return encode(members)
	}
}

// message is the codec of a JSON-RPC message of which the library has a type for the params, the result or the error.
// Most definitions until 2025-11-25 leave out the envelope.
func message(name string, inner codec) codec {
	return func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		var is struct{ JSONRPC string }
		err := json.Unmarshal(instance, &is)
		if err == nil && is.JSONRPC != "" {
			instance, err = envelope(t, revision, instance)
		}
		if err != nil {
			return nil, err
		}
		return member(name, inner)(t, revision, instance)
	}
}

// response is the codec of a response, which may ask for input.
func response(inner codec) codec {
	return message("result", func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		var is struct{ ResultType string }
		if err := json.Unmarshal(instance, &is); err != nil {
			return nil, err
		}
		if is.ResultType == "input_required" {
			return inputRequired(t, revision, instance)
		}
		return inner(t, revision, instance)
	})
}

// envelope is the codec of a message or a batch, with whatever is in it.
func envelope(_ testing.TB, _ string, instance json.RawMessage) (json.RawMessage, error) {
	var all [][]byte
	for m := range transport.Decode(bytes.Clone(instance)) {
		if m.Fault != nil {
			return nil, m.Fault
		}
		text, err := m.Append(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	if instance[0] != '[' {
		return all[0], nil
	}
	batch := append([]byte{'['}, bytes.Join(all, []byte{','})...)
	return append(batch, ']'), nil
}

// content is the codec of a block whose type is not known beforehand. All types of the schema have to be.
func content(_ testing.TB, _ string, instance json.RawMessage) (json.RawMessage, error) {
	block, err := mcp.UnmarshalContent(instance)
	if err != nil {
		return nil, err
	}
	if _, unknown := block.(*mcp.UnknownContent); unknown {
		return nil, errors.New("taken for unknown content")
	}
	return encode(block)
}

// capabilities is the codec of what a server offers, which also keeps the whole.
func capabilities(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	var c mcp.ServerCapabilities
	if err := json.Unmarshal(instance, &c); err != nil {
		return nil, err
	}
	if !bytes.Equal(c.Raw, instance) {
		return nil, fmt.Errorf("Raw is %s", c.Raw)
	}
	return encode(c)
}

// field is the codec of the schema of one field of a form.
func field(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	form, err := encode(object{"type": "object", "properties": map[string]json.RawMessage{"f": instance}})
	if err != nil {
		return nil, err
	}
	s, err := mcp.ParseElicitSchema(form)
	if err != nil {
		return nil, err
	}
	f := s.Fields[0]
	var plain struct {
		Title, Description string
		Items              struct{ Enum, AnyOf []json.RawMessage }
		Enum, OneOf        []json.RawMessage
	}
	if err := json.Unmarshal(instance, &plain); err != nil {
		return nil, err
	}
	choices := slices.Concat(plain.Items.Enum, plain.Items.AnyOf, plain.Enum, plain.OneOf)
	isChoice := f.Type == mcp.FieldChoice || f.Type == mcp.FieldChoices
	if isChoice != (len(choices) > 0) || len(f.Options) != len(choices) {
		return nil, fmt.Errorf("taken for a field of type %s with the options %v", f.Type, f.Options)
	}
	if f.Title != plain.Title || f.Description != plain.Description {
		return nil, fmt.Errorf("title %q, description %q", f.Title, f.Description)
	}
	if f.Default == nil { // or it is one that the field does not take
		return f.Schema, nil
	}
	return member("default", func(testing.TB, string, json.RawMessage) (json.RawMessage, error) {
		return encode(f.Default)
	})(t, revision, f.Schema)
}

// requiredElicitations is the codec of the error that asks for elicitations.
func requiredElicitations(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	elicitations := func(_ testing.TB, _ string, raw json.RawMessage) (json.RawMessage, error) {
		var rpc mcp.RPCError
		if err := json.Unmarshal(raw, &rpc); err != nil {
			return nil, err
		}
		data := func(testing.TB, string, json.RawMessage) (json.RawMessage, error) {
			required := mcp.RequiredElicitations(&rpc)
			if required == nil {
				required = []*mcp.ElicitRequest{}
			}
			return encode(required)
		}
		return member("data", member("elicitations", data))(t, revision, raw)
	}
	return message("error", elicitations)(t, revision, instance)
}

// inputResponse is the codec of an answer to a request for input, which does not say itself what it answers.
func inputResponse(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	var shape struct{ Action, Role string }
	if err := json.Unmarshal(instance, &shape); err != nil {
		return nil, err
	}
	switch {
	case shape.Action != "":
		return as[mcp.ElicitResult]()(t, revision, instance)
	case shape.Role != "":
		return as[mcp.CreateMessageResult]()(t, revision, instance)
	}
	return listedRoots(t, revision, instance)
}

// inputRequest is the codec of a request for input.
func inputRequest(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	var r mcp.InputRequest
	if err := json.Unmarshal(instance, &r); err != nil {
		return nil, err
	}
	inner := map[string]codec{
		"elicitation/create":     as[mcp.ElicitRequest](),
		"sampling/createMessage": as[mcp.CreateMessageRequest](),
	}[r.Method]
	if inner != nil {
		var err error
		if r.Params, err = inner(t, revision, r.Params); err != nil {
			return nil, err
		}
	}
	return encode(r)
}

// each is the codec of an object whose values have one.
func each(inner codec) codec {
	return func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(instance, &values); err != nil {
			return nil, err
		}
		for name := range values {
			var err error
			if values[name], err = inner(t, revision, values[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return encode(values)
	}
}

// progress is the codec of progress. The token, which says what call it belongs to, is not the caller's concern.
func progress(_ testing.TB, _ string, instance json.RawMessage) (json.RawMessage, error) {
	var token struct {
		Token json.RawMessage `json:"progressToken"`
	}
	var p mcp.Progress
	if err := errors.Join(json.Unmarshal(instance, &token), json.Unmarshal(instance, &p)); err != nil {
		return nil, err
	}
	return encode(struct {
		Token json.RawMessage `json:"progressToken"`
		mcp.Progress
	}{token.Token, p})
}
