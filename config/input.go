package config

import (
	"encoding/json"
	"strconv"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// An Input is something that the user is asked for, once, and to which entries refer as ${input:id}. This package asks
// nobody: a [Lookup] does, for the name "input:" and the ID. Nothing that formats it shows more than its ID.
type Input struct {
	ID          string
	Type        string // "promptString", "pickString", "command", or what else the application knows
	Description string
	Default     string   // what is offered
	Password    bool     // what is typed is to be hidden
	Options     []string // of a pickString

	Extra map[string]json.RawMessage // all other fields
}

// readInputs reads what the user is asked for.
func (f *File) readInputs(v value) Errors {
	switch kind := v.kind(); kind {
	case jsonscan.Null:
		return nil
	case jsonscan.Array:
	default:
		return Errors{v.fail("inputs", "must be an array, not "+kind.String())}
	}
	var errs Errors
	f.ids = make(map[string]spot)
	for i, element := range v.array() {
		field := "inputs[" + strconv.Itoa(i) + "]"
		input, err := decodeInput(field, element)
		if err == nil {
			if at, ok := f.ids[input.ID]; ok {
				err = duplicate(field+".id", at.place, element.place)
			} else {
				f.ids[input.ID] = spot{element.place, field}
				f.Inputs = append(f.Inputs, input)
			}
		}
		errs = errs.with(err)
	}
	return errs
}

func decodeInput(field string, v value) (Input, *Error) {
	d := &decoder{spots: make(map[string]spot)}
	if !d.is(field, v, jsonscan.Object) {
		return Input{}, d.err
	}
	var input Input
	input.Extra = decodeObject(d, field+".", v.object(), inputRows, &input)
	if input.ID == "" {
		d.fail(v.fail(field, "has no id"))
	}
	return input, d.err
}
