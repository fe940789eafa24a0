package llmcontent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/internal/schema"
	"github.com/seed62b61957/mcp/llmcontent/internal/toolschema"
)

// An ArgumentsError says what is wrong with the arguments that a model gave. It may quote from them.
type ArgumentsError struct {
	Function string // "" if it is not known
	Reason   string
}

func (e *ArgumentsError) Error() string {
	if e.Function == "" {
		return "llmcontent: arguments: " + e.Reason
	}
	return fmt.Sprintf("llmcontent: arguments of %s: %s", e.Function, e.Reason)
}

// ForModel is what to answer the model with, so that it can correct itself.
func (e *ArgumentsError) ForModel() string {
	return "The arguments are not valid: " + e.Reason + "\nCall the function again with corrected arguments."
}

// Arguments reads what a model wrote as the arguments of a call: JSON text (string, []byte or [json.RawMessage]), or a
// value that [json.Marshal] writes as an object. What comes back is JSON text as well, so that numbers stay exact; pass
// it to [mcp.Client.CallTool].
//
// Models that give no arguments write an empty text or null, which is taken for {}. An object that was written as JSON
// text within JSON text is taken out of it. Anything else is an [*ArgumentsError].
func Arguments(output any) (json.RawMessage, error) {
	text, err := textOf(output)
	if err != nil {
		return nil, &ArgumentsError{Reason: "They must be a JSON object, but cannot be written as JSON."}
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return json.RawMessage("{}"), nil
	}
	d := jsonscan.New(text)
	kind := d.Kind()
	switch kind {
	case jsonscan.Null:
		d.Skip()
		text = json.RawMessage("{}")
	case jsonscan.String:
		if inner := d.Text(); d.End() == nil && isObject(inner) {
			return json.RawMessage(inner), nil
		}
	default:
		d.Skip()
	}
	if err := d.End(); err != nil {
		reason := "They must be a JSON object, but are not valid JSON: " + clip(err.Error(), maxReason) + "."
		return nil, &ArgumentsError{Reason: reason}
	}
	if kind != jsonscan.Object && kind != jsonscan.Null {
		return nil, &ArgumentsError{Reason: "They must be a JSON object, but are " + kind.String() + "."}
	}
	return json.RawMessage(text), nil
}

func textOf(output any) ([]byte, error) {
	switch v := output.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(v), nil
	case []byte:
		return bytes.Clone(v), nil
	case json.RawMessage:
		return bytes.Clone(v), nil
	}
	return marshal(output)
}

func isObject(text string) bool {
	d := jsonscan.New([]byte(text))
	kind := d.Kind()
	d.Skip()
	return kind == jsonscan.Object && d.End() == nil
}

// Arguments reads what the model wrote, as the function of that name does, and restores it: see
// [Function.RestoreArguments].
func (f *Function) Arguments(output any) (json.RawMessage, error) {
	args, err := Arguments(output)
	if err == nil {
		args, err = f.RestoreArguments(args)
	}
	var bad *ArgumentsError
	if errors.As(err, &bad) {
		bad.Function = f.Name
	}
	return args, err
}

// RestoreArguments takes an object of arguments back to what the tool expects: properties that were renamed for the
// dialect get their names again, nulls that stand for optional properties in strict mode go, and what Gemini was asked
// to write as JSON text becomes what it says. Where the schema had none of that, args come back as they are.
func (f *Function) RestoreArguments(args json.RawMessage) (json.RawMessage, error) {
	restored, err := f.parameters.Restore(args)
	if err != nil {
		reason := "They are not valid JSON: " + clip(err.Error(), maxReason) + "."
		return nil, &ArgumentsError{Function: f.Name, Reason: reason}
	}
	return restored, nil
}

// CheckArguments checks restored arguments against the input schema of the tool, and returns an [*ArgumentsError] if
// they do not fit. It finds nothing wrong where the schema cannot be used, or would take too long: the server checks
// its arguments in any case.
func (f *Function) CheckArguments(args json.RawMessage) error {
	f.check.Do(func() {
		if len(f.Tool.InputSchema) > 0 {
			f.checker, _ = schema.Compile(forChecks(f.Tool.InputSchema)) // one that is broken is the server's affair
		}
	})
	if f.checker == nil {
		return nil
	}
	err := f.checker.Validate(args)
	if err == nil || errors.Is(err, schema.ErrTooComplex) {
		return nil
	}
	return &ArgumentsError{Function: f.Name, Reason: "They do not fit the schema: " + err.Error() + "."}
}

// forChecks returns the schema as it is, or in its plain form if it has OpenAPI's "nullable": JSON Schema knows no such
// keyword, and would refuse the null that the model was told of.
func forChecks(input json.RawMessage) json.RawMessage {
	if !bytes.Contains(input, []byte(`"nullable"`)) {
		return input
	}
	parsed, err := toolschema.Parse(input)
	if err != nil {
		return input
	}
	plain, err := parsed.Convert(toolschema.Plain)
	if err != nil {
		return input
	}
	return plain.JSON
}
