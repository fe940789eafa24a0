package skills

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/internal/yaml"
)

// A difference is the first field in which two frontmatters differ. What is not there is "nothing".
type difference struct{ field, want, got string }

const nothing = "nothing"

// compare looks for a difference between what a file says and the JSON value that its entry has.
func compare(field string, got *yaml.Node, want any) *difference {
	switch want := want.(type) {
	case map[string]any:
		if got.Kind == yaml.Mapping {
			return compareFields(field, got, want)
		}
	case []any:
		if got.Kind == yaml.Sequence {
			return compareItems(field, got, want)
		}
	default:
		if got.Kind == yaml.Scalar && agrees(got, want) {
			return nil
		}
	}
	return &difference{field, showJSON(want), showYAML(got)}
}

func compareFields(field string, got *yaml.Node, want map[string]any) *difference {
	known := map[string]bool{}
	for i, name := range got.Keys {
		known[name] = true
		value, ok := want[name]
		if !ok {
			return &difference{join(field, name), nothing, showYAML(&got.Items[i])}
		}
		if d := compare(join(field, name), &got.Items[i], value); d != nil {
			return d
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !known[name] {
			return &difference{join(field, name), showJSON(want[name]), nothing}
		}
	}
	return nil
}

func compareItems(field string, got *yaml.Node, want []any) *difference {
	for i := range max(len(got.Items), len(want)) {
		name := field + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(want):
			return &difference{name, nothing, showYAML(&got.Items[i])}
		case i >= len(got.Items):
			return &difference{name, showJSON(want[i]), nothing}
		}
		if d := compare(name, &got.Items[i], want[i]); d != nil {
			return d
		}
	}
	return nil
}

// agrees reports whether a scalar is one way to write a value: as a string its text, and without quotes also what YAML
// 1.1 or 1.2 makes of it.
func agrees(n *yaml.Node, want any) bool {
	switch want := want.(type) {
	case string:
		return n.Text == want
	case bool:
		return n.Plain && booleans[strings.ToLower(n.Text)] == strconv.FormatBool(want)
	case json.Number:
		return n.Plain && sameNumber(n.Text, string(want))
	case nil:
		return n.Plain && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, n.Text)
	}
	return false
}

var booleans = map[string]string{
	"true": "true", "yes": "true", "on": "true", "y": "true",
	"false": "false", "no": "false", "off": "false", "n": "false",
}

const maxDigits = 1000 // beyond which nobody writes one number in two ways

// sameNumber compares whole numbers exactly, in any notation, and others as far as a float64 goes.
func sameNumber(text, want string) bool {
	if text == want || max(len(text), len(want)) > maxDigits {
		return text == want
	}
	for _, base := range []int{0, 10} { // 010 is 8 in YAML 1.1, and 10 in YAML 1.2
		n, ok := new(big.Int).SetString(text, base)
		m, whole := new(big.Int).SetString(want, 10)
		if ok && whole && n.Cmp(m) == 0 {
			return true
		}
	}
	if strings.Trim(text+want, "0123456789+-") == "" {
		return false // both are whole
	}
	x, err1 := strconv.ParseFloat(text, 64)
	y, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && x == y
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

func showJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	const most = 100
	if len(data) > most {
		return strings.ToValidUTF8(string(data[:most]), "") + "..."
	}
	return string(data)
}

// showYAML writes a value as JSON, with every scalar a string.
func showYAML(n *yaml.Node) string { return showJSON(plainValue(n)) }

func plainValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.Sequence:
		list := []any{}
		for i := range n.Items {
			list = append(list, plainValue(&n.Items[i]))
		}
		return list
	case yaml.Mapping:
		m := map[string]any{}
		for i, key := range n.Keys {
			m[key] = plainValue(&n.Items[i])
		}
		return m
	}
	return n.Text
}
