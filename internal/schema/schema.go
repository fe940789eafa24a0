package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Limits of a schema; see the package's documentation.
const (
	maxText    = 1 << 20
	maxNesting = 128
	maxSchemas = 10_000
	maxPattern = 4 << 10
	maxProgram = 20_000
	// The library keeps the path of each subschema, so that a long name with many subschemas below it multiplies.
	maxPaths = 16 << 20
)

// ErrTooComplex is what [Schema.Validate] wraps when it has refused to check the instance: it may match or not.
var ErrTooComplex = errors.New("too complex to check")

// A Schema is compiled and does not change. All its methods may be called concurrently.
type Schema struct {
	checker *jsonschema.Resolved
	nodes   []*node // by number; the root is the first
	profile profile
}

// Compile prepares the schema for many validations. It shares no memory with raw.
func Compile(raw json.RawMessage) (s *Schema, err error) {
	defer recovered(&err)
	if len(raw) > maxText {
		return nil, fmt.Errorf("schema has %d bytes, at most %d are accepted", len(raw), maxText)
	}
	doc, shape, err := decode(bytes.Clone(raw)) // strings share memory with what they were read from
	if err != nil {
		return nil, fmt.Errorf("schema is not usable: %w", err)
	}
	if depth := len(shape); depth > maxNesting {
		return nil, fmt.Errorf("schema is nested %d levels deep, at most %d are accepted", depth, maxNesting)
	}
	nodes, err := translate(doc)
	if err != nil {
		return nil, fmt.Errorf("schema is not usable: %s", clip(err.Error()))
	}
	order, err := inPlaceOrder(nodes)
	if err != nil {
		return nil, err
	}
	checker, err := nodes[0].lib.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema is not usable: %s", clip(err.Error()))
	}
	return &Schema{checker: checker, nodes: nodes, profile: newProfile(nodes, order)}, nil
}

// Validate returns nil when the instance, one JSON value, matches. An error says where it does not and why, in at most
// about 500 bytes; it wraps [ErrTooComplex] when nothing was checked. Where it names one of several failures, which
// one may differ from call to call.
func (s *Schema) Validate(instance json.RawMessage) (err error) {
	defer recovered(&err)
	value, shape, err := decode(instance)
	if err != nil {
		return err
	}
	if err := s.profile.admit(shape); err != nil {
		return err
	}
	if err := s.checker.Validate(value); err != nil {
		return s.explain(err)
	}
	return nil
}

// recovered turns a panic of the library into an error. (A stack overflow would end the process; the cost model is what
// keeps that from happening.)
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("checking failed: %s", clip(fmt.Sprint(p)))
	}
}
