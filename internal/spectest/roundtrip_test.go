package spectest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// Every definition has a codec, or a reason why not, and neither is for one that no revision has.
func TestEveryDefinitionIsAccountedFor(t *testing.T) {
	known := make(map[string]bool)
	for _, revision := range revisions {
		for name := range loadSpec(t, revision).defs {
			known[name] = true
			_, coded := codecs[name]
			_, excused := without[name]
			assert.True(t, coded != excused, "%s of %s: codec %t, reason %t", name, revision, coded, excused)
		}
	}
	for name := range codecs {
		assert.True(t, known[name], "no revision has %s", name)
	}
	for name := range without {
		assert.True(t, known[name], "no revision has %s", name)
	}
}

// What the revisions' own examples and instances of their definitions say is not lost.
func TestRoundTrip(t *testing.T) {
	used := make(map[*allowance]bool)
	t.Run("examples", func(t *testing.T) { testExamples(t, used) })
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			s := loadSpec(t, revision)
			for _, name := range slices.Sorted(maps.Keys(s.defs)) {
				if codecs[name] != nil {
					t.Run(name, func(t *testing.T) { testDefinition(t, s, name, used) })
				}
			}
		})
	}
	if t.Failed() {
		return
	}
	for i := range allowances {
		assert.True(t, used[&allowances[i]], "nothing needs this: %+v", allowances[i])
	}
}

func testExamples(t *testing.T, used map[*allowance]bool) {
	folder := filepath.Join(specDir(t), mcp.Version20260728, "examples")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if without[name] != "" {
			continue
		}
		t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
			require.NotNil(t, codecs[name], "no codec, and no reason why not")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			roundTrip(t, mcp.Version20260728, name, parse(t, text), used)
		})
	}
}

func testDefinition(t *testing.T, s *spec, name string, used map[*allowance]bool) {
	g := generator{s}
	forms := g.forms(s.def(name))
	require.NotEmpty(t, forms)
	for _, instance := range forms {
		if t.Failed() {
			return // one is enough
		}
		if instance = sensible(name, instance, s.revision); instance != nil {
			roundTrip(t, s.revision, name, instance, used)
		}
	}
}

// sensible makes an instance one that the specification's text allows as well as its schema does; none if that is not
// possible.
func sensible(definition string, instance any, revision string) any {
	if list, isList := instance.([]any); isList && len(list) == 0 {
		return nil // JSON-RPC 2.0, section 6: a batch has at least one message
	}
	o, isObject := instance.(object)
	if !isObject {
		return instance
	}
	o = maps.Clone(o)
	for name, value := range o {
		switch name {
		case "protocolVersion":
			o[name] = revision
		case "supportedVersions":
			o[name] = []any{revision}
		case "resultType":
			o[name] = "complete"
		case "action":
			if value != "accept" {
				delete(o, "content") // client/elicitation, Response Actions
			}
		case "result": // of one of several definitions
			if o[name] = sensible("", value, revision); o[name] == nil {
				return nil
			}
		}
	}
	return asking(definition, o)
}

// asking has a result that asks for input say so. It has to ask for some, or have a state (basic/patterns/mrtr).
func asking(definition string, o object) any {
	if o["resultType"] == nil {
		return o
	}
	if o["inputRequests"] != nil || o["requestState"] != nil {
		o["resultType"] = "input_required"
		return o
	}
	if definition == "InputRequiredResult" || definition == "" && len(o) == 1 {
		return nil
	}
	return o
}

func roundTrip(t *testing.T, revision, definition string, instance any, used map[*allowance]bool) {
	t.Helper()
	before, err := encode(instance)
	require.NoError(t, err)
	text, err := codecs[definition](t, revision, json.RawMessage(before))
	require.NoError(t, err, "%.1000s", before)
	for _, d := range differences("", instance, parse(t, text)) {
		if a := allowed(revision, d); a != nil {
			used[a] = true
			continue
		}
		t.Errorf("%s: %.500s", definition, d)
	}
}
