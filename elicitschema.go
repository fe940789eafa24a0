package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// ElicitSchema is what a server wants to be filled in (client/elicitation, section "Requested Schema").
type ElicitSchema struct {
	Fields []ElicitField // in the order in which the server listed them
}

// ElicitField is one field of a form.
type ElicitField struct {
	Name        string // the key of its value
	Title       string
	Description string
	Type        FieldType
	Required    bool
	// Default is what the field starts with, nil for nothing: a string, a [json.Number], a bool or a []string. A
	// default that the field itself would refuse is left out.
	Default any

	Options   []ElicitOption // of a choice, in order
	MinLength *int64         // of text, in characters
	MaxLength *int64
	Format    string      // of text: "email", "uri", "date", "date-time", or unknown
	Pattern   string      // of text: a regular expression, in the dialect of ECMAScript
	Minimum   json.Number // of a number, "" for none
	Maximum   json.Number
	MinItems  *int64 // of choices
	MaxItems  *int64

	Schema json.RawMessage // the whole as it was sent
}

// ElicitOption is something to choose.
type ElicitOption struct {
	Value string
	Title string // what to show; the value if the server gave nothing else
}

// FieldType is what a field of a form takes.
type FieldType string

// The types.
const (
	FieldText    FieldType = "text"
	FieldNumber  FieldType = "number"
	FieldInteger FieldType = "integer"
	FieldBoolean FieldType = "boolean"
	FieldChoice  FieldType = "choice"  // one of Options
	FieldChoices FieldType = "choices" // any of Options, as a []string
	FieldOther   FieldType = "other"   // beyond what the protocol allows: see Schema
)

// Label is what to call the field: the title, or else the name.
func (f *ElicitField) Label() string { return firstOf(f.Title, f.Name) }

// ParseElicitSchema reads a requested schema. It is lenient: a field of a kind that the protocol does not allow is of
// type [FieldOther], and keywords of the wrong type are ignored.
func ParseElicitSchema(schema json.RawMessage) (*ElicitSchema, error) {
	s, err := parseElicitSchema(schema)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return s, nil
}

func parseElicitSchema(schema json.RawMessage) (*ElicitSchema, error) {
	s, _, err := decodeResult[ElicitSchema](bytes.Clone(schema))
	if err != nil {
		return nil, fmt.Errorf("requested schema: %w", err)
	}
	return s, nil
}

func (s *ElicitSchema) decode(d *decoder) {
	var required []string
	index := make(map[string]int)
	for name := range d.members() {
		switch string(name) {
		case "properties":
			s.properties(d, index)
		case "required":
			required = texts[string](d)
		}
	}
	for _, name := range required {
		s.field(name, index).Required = true
	}
}

func (s *ElicitSchema) properties(d *decoder, index map[string]int) {
	if !d.is(jsonscan.Object) {
		return
	}
	patterns := patternBudget(maxPatternSize)
	for name := range d.members() {
		key := string(name)
		start := d.Decoder
		if !d.is(jsonscan.Object) {
			continue
		}
		var wire fieldSchema
		wire.decode(d)
		field := wire.field(key, &patterns)
		field.Schema = start.Raw()
		if field.Default == nil && wire.byDefault != nil {
			d.note("ignored a default that the field does not take")
		}
		*s.field(key, index) = field
	}
}

// field returns the field of a name, which it adds if there is none: a server may require what it does not describe.
func (s *ElicitSchema) field(name string, index map[string]int) *ElicitField {
	i, known := index[name]
	if !known {
		i = len(s.Fields)
		index[name] = i
		s.Fields = append(s.Fields, ElicitField{Name: name, Type: FieldOther})
	}
	return &s.Fields[i]
}

// fieldSchema is the subset of JSON Schema that forms are made of.
type fieldSchema struct {
	kind                 string
	title, description   string
	format, pattern      string
	minLength, maxLength *int64
	minItems, maxItems   *int64
	minimum, maximum     json.Number
	byDefault            json.RawMessage
	constant             *string
	enum, enumNames      []string
	alternatives         []fieldSchema // oneOf or anyOf
	items                *fieldSchema
}

func (s *fieldSchema) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "type":
			s.kind = schemaType(d)
		case "title":
			s.title = d.text()
		case "description":
			s.description = d.text()
		case "format":
			s.format = d.text()
		case "pattern":
			s.pattern = d.text()
		case "minLength":
			s.minLength = d.integer()
		case "maxLength":
			s.maxLength = d.integer()
		case "minItems":
			s.minItems = d.integer()
		case "maxItems":
			s.maxItems = d.integer()
		case "minimum":
			s.minimum = d.exactNumber()
		case "maximum":
			s.maximum = d.exactNumber()
		case "default":
			if d.Kind() != jsonscan.Null {
				s.byDefault = d.Raw()
			}
		case "const":
			if d.is(jsonscan.String) {
				text := d.Text()
				s.constant = &text
			}
		case "enum":
			s.enum = texts[string](d)
		case "enumNames":
			s.enumNames = texts[string](d)
		case "oneOf", "anyOf":
			s.alternatives = values[fieldSchema](d)
		case "items":
			s.items = optional[fieldSchema](d)
		}
	}
}

// schemaType reads a type. Of a list, which the protocol does not allow, it takes the one that is not null.
func schemaType(d *decoder) (kind string) {
	if d.Kind() != jsonscan.Array {
		return d.text()
	}
	for _, name := range texts[string](d) {
		if name != "null" {
			kind = name
		}
	}
	return kind
}

func (d *decoder) exactNumber() json.Number {
	if !d.is(jsonscan.Number) {
		return ""
	}
	return json.Number(d.Raw())
}

// field makes a field of the schema.
func (s *fieldSchema) field(name string, patterns *patternBudget) ElicitField {
	inner := s.unwrapped()
	f := ElicitField{
		Name:        name,
		Title:       firstOf(s.title, inner.title),
		Description: firstOf(s.description, inner.description),
		MinLength:   inner.minLength,
		MaxLength:   inner.maxLength,
		Format:      inner.format,
		Pattern:     inner.pattern,
		Minimum:     inner.minimum,
		Maximum:     inner.maximum,
		MinItems:    inner.minItems,
		MaxItems:    inner.maxItems,
	}
	f.Type, f.Options = inner.fieldType()
	if value := s.byDefault; value != nil && f.check(value, patterns) == "" {
		f.Default = plainValue(value)
	}
	return f
}

// unwrapped is the schema behind an optional value in the manner of generators: anyOf of something and null.
func (s *fieldSchema) unwrapped() *fieldSchema {
	if s.kind != "" {
		return s
	}
	var inner *fieldSchema
	for i := range s.alternatives {
		switch alternative := &s.alternatives[i]; {
		case alternative.kind == "null":
		case alternative.kind == "" || inner != nil:
			return s
		default:
			inner = alternative
		}
	}
	if inner == nil {
		return s
	}
	return inner
}

func (s *fieldSchema) fieldType() (FieldType, []ElicitOption) {
	switch s.kind {
	case "string", "":
		if options := s.options(); options != nil {
			return FieldChoice, options
		}
		if s.kind == "string" {
			return FieldText, nil
		}
	case "array":
		if s.items != nil {
			if options := s.items.options(); options != nil {
				return FieldChoices, options
			}
		}
	case "number":
		return FieldNumber, nil
	case "integer":
		return FieldInteger, nil
	case "boolean":
		return FieldBoolean, nil
	}
	return FieldOther, nil
}

// options are the values of an enum in any of its forms: enum, enum with enumNames (before 2025-11-25), and
// alternatives that are constants.
func (s *fieldSchema) options() (options []ElicitOption) {
	for i, value := range s.enum {
		option := ElicitOption{Value: value, Title: value}
		if i < len(s.enumNames) && s.enumNames[i] != "" {
			option.Title = s.enumNames[i]
		}
		options = append(options, option)
	}
	if options != nil {
		return options
	}
	for _, a := range s.alternatives {
		if a.constant != nil {
			options = append(options, ElicitOption{Value: *a.constant, Title: firstOf(a.title, *a.constant)})
		}
	}
	return options
}

// plainValue decodes a value that a field takes.
func plainValue(raw json.RawMessage) any {
	d := decoder{Decoder: jsonscan.New(raw)}
	switch d.Kind() {
	case jsonscan.String:
		return d.Text()
	case jsonscan.Bool:
		return d.Bool()
	case jsonscan.Number:
		return json.Number(raw)
	case jsonscan.Array:
		return texts[string](&d)
	}
	return nil
}
