package spectest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A difference is one between two JSON values.
type difference struct {
	path   string // member.member[].member
	before any    // absent if there was none
	after  any
}

// absent is the value of what is not there.
type absent struct{}

func (absent) String() string { return "nothing" }

func (d difference) String() string {
	return fmt.Sprintf("%s: %s became %s", d.path, shown(d.before), shown(d.after))
}

func shown(value any) string {
	if value == (absent{}) {
		return "nothing"
	}
	text, err := encode(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// differences compares two values that decode has read. Numbers are the same if their values are.
func differences(path string, before, after any) []difference {
	switch b := before.(type) {
	case object:
		if a, ok := after.(object); ok {
			return memberDifferences(path, b, a)
		}
	case []any:
		if a, ok := after.([]any); ok && len(a) == len(b) {
			var all []difference
			for i := range b {
				all = append(all, differences(path+"[]", b[i], a[i])...)
			}
			return all
		}
	case json.Number:
		if a, ok := after.(json.Number); ok && rational(a).Cmp(rational(b)) == 0 {
			return nil
		}
	default:
		if before == after && scalar(after) {
			return nil
		}
	}
	return []difference{{path, before, after}}
}

func memberDifferences(path string, before, after object) (all []difference) {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, wasThere := before[name]
		if !wasThere {
			b = absent{}
		}
		a, isThere := after[name]
		if !isThere {
			a = absent{}
		}
		at := name
		if path != "" {
			at = path + "." + name
		}
		all = append(all, differences(at, b, a)...)
	}
	return all
}

func scalar(value any) bool {
	switch value.(type) {
	case object, []any:
		return false
	}
	return true
}

func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("no number: " + n)
	}
	return r
}

func TestDifferences(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{`{"a":[1,{"b":"x"}]}`, `{"a":[1.0,{"b":"x"}]}`, `[]`},
		{`9007199254740993`, `9007199254740992`, `[: 9007199254740993 became 9007199254740992]`},
		{`{"a":{"b":1}}`, `{"a":{}}`, `[a.b: 1 became nothing]`},
		{`{"a":{}}`, `{"a":{"b":null}}`, `[a.b: nothing became null]`},
		{`[1,2]`, `[1]`, `[: [1,2] became [1]]`},
		{`[{"a":true}]`, `[{"a":false}]`, `[[].a: true became false]`},
		{`{"a":{}}`, `{"a":[]}`, `[a: {} became []]`},
		{`{"a":"1"}`, `{"a":1}`, `[a: "1" became 1]`},
		{`{"a":null}`, `{"a":{}}`, `[a: null became {}]`},
	} {
		got := differences("", parse(t, []byte(test.before)), parse(t, []byte(test.after)))
		assert.Equal(t, test.want, fmt.Sprint(got))
	}
}
