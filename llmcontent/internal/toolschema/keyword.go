package toolschema

import (
	"slices"
	"strconv"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// A keyword's form says what its value is, and so what is done with it. Keywords that are not in the table are left
// out: they mean nothing to a model.
type form int

const (
	formAny        form = iota + 1 // any value
	formText                       // a string
	formFlag                       // a boolean
	formCount                      // an integer of 0 or more
	formNumber                     // a number
	formPositive                   // a number above 0
	formValues                     // a list with elements
	formNames                      // a list of strings
	formNameLists                  // an object of such lists
	formSchema                     // a schema
	formSwitch                     // a schema that is often just true or false, and stays so
	formSchemas                    // a list of schemas
	formSchemaMap                  // an object of schemas; its names are not keywords
	formTypes                      // "type"
	formExclusive                  // a number; in draft 4 a boolean, which changes another keyword
	formItems                      // a schema; up to 2019-09 also a list of them
	formDependents                 // "dependencies", which became two keywords
)

var forms = map[string]form{
	"title": formText, "description": formText, "default": formAny, "examples": formValues,
	"deprecated": formFlag, "readOnly": formFlag, "writeOnly": formFlag,

	"type": formTypes, "enum": formValues, "const": formAny,
	"format": formText, "pattern": formText, "minLength": formCount, "maxLength": formCount,
	"contentEncoding": formText, "contentMediaType": formText,
	"minimum": formNumber, "maximum": formNumber, "multipleOf": formPositive,
	"exclusiveMinimum": formExclusive, "exclusiveMaximum": formExclusive,
	"items": formItems, "prefixItems": formSchemas, "contains": formSchema, "minItems": formCount,
	"maxItems":    formCount,
	"minContains": formCount, "maxContains": formCount, "uniqueItems": formFlag, "unevaluatedItems": formSwitch,
	"properties": formSchemaMap, "required": formNames, "additionalProperties": formSwitch,
	"patternProperties": formSchemaMap, "propertyNames": formSchema, "minProperties": formCount,
	"maxProperties": formCount, "unevaluatedProperties": formSwitch,
	"dependentRequired": formNameLists, "dependentSchemas": formSchemaMap, "dependencies": formDependents,
	"anyOf": formSchemas, "oneOf": formSchemas, "allOf": formSchemas, "not": formSchema,
	"if": formSchema, "then": formSchema, "else": formSchema,
}

// annotations say something about a value, and restrict it in no way.
var annotations = []string{"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

var typeNames = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// plainValue returns the value of a keyword without subschemas if it has the form that it should have, or else nil.
func plainValue(f form, v *node) *node {
	switch f {
	case formAny:
		return v
	case formText:
		return ofKind(v, jsonscan.String)
	case formFlag:
		return ofKind(v, jsonscan.Bool)
	case formNumber:
		return ofKind(v, jsonscan.Number)
	case formPositive:
		if v.kind != jsonscan.Number || number(v) <= 0 {
			return nil
		}
		return v
	case formCount:
		return count(v)
	case formValues:
		if v.kind != jsonscan.Array || len(v.list) == 0 {
			return nil
		}
		return v
	case formNames:
		if v.kind != jsonscan.Array {
			return nil
		}
		return newStrings(stringsOf(v))
	case formNameLists:
		return nameLists(v)
	}
	return nil
}

func ofKind(v *node, kind jsonscan.Kind) *node {
	if v.kind != kind {
		return nil
	}
	return v
}

// count also takes 2.0, and writes it as the integer that APIs insist on.
func count(v *node) *node {
	if v.kind != jsonscan.Number {
		return nil
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f < 0 || f >= 1<<53 || f != float64(int64(f)) {
		return nil
	}
	return &node{kind: jsonscan.Number, text: strconv.FormatInt(int64(f), 10)}
}

func nameLists(v *node) *node {
	if v.kind != jsonscan.Object {
		return nil
	}
	out := newObject()
	for _, m := range v.members {
		if m.value.kind == jsonscan.Array {
			out.members = append(out.members, member{m.name, newStrings(stringsOf(m.value))})
		}
	}
	return out
}

// typesOf returns the names in "type" that JSON Schema knows, in their order, each of them once.
func typesOf(v *node) []string {
	if v.is(jsonscan.String) {
		v = newArray(v)
	}
	var known []string
	for _, name := range stringsOf(v) {
		if slices.Contains(typeNames, name) {
			known = append(known, name)
		}
	}
	return known
}

func typeNode(names []string) *node {
	if len(names) == 1 {
		return newString(names[0])
	}
	return newStrings(names)
}
