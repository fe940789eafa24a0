package toolschema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var targets = []Target{Plain, OpenAIStrict, Anthropic, Gemini}

// dialects are those of dialects that are made for the targets.
var dialects = map[Target]string{
	Plain: "plain", OpenAIStrict: "openai-responses-strict", Anthropic: "anthropic", Gemini: "gemini",
}

// repeat joins what make returns for 0 to n-1.
func repeat(n int, separator string, text func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = text(i)
	}
	return strings.Join(parts, separator)
}

var hostile = map[string]string{
	"bomb of references": `{"properties":{"a":{"$ref":"#/$defs/0"}},"$defs":{` + repeat(64, ",", func(i int) string {
		next := fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i+1)
		return fmt.Sprintf(`"%d":{"properties":{"x":%s,"y":%s,"z":%s}}`, i, next, next, next)
	}) + `}}`,
	"all refer to all": `{"$ref":"#/$defs/0","$defs":{` + repeat(40, ",", func(i int) string {
		return fmt.Sprintf(`"%d":{"properties":{%s}}`, i, repeat(40, ",", func(j int) string {
			return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/%d"}`, j, j)
		}))
	}) + `}}`,
	"a long text, referred to often": `{"properties":{` + repeat(10_000, ",", func(i int) string {
		return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d"}`, i)
	}) + `},"$defs":{"d":{"description":"` + strings.Repeat("x", 500<<10) + `"}}}`,
	"many references to many definitions": `{"properties":{` + repeat(8_000, ",", func(i int) string {
		return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, i, i)
	}) + `},"$defs":{` + repeat(8_000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{}`, i) }) + `}}`,
	"10,000 properties": `{"properties":{` + repeat(10_000, ",", func(i int) string {
		return fmt.Sprintf(`"$p%d":{"type":"string"}`, i)
	}) + `},"required":[` + repeat(10_000, ",", func(i int) string { return fmt.Sprintf(`"$p%d"`, i) }) + `]}`,
	"many alternatives of one property": `{"anyOf":[` + repeat(10_000, ",", func(i int) string {
		return fmt.Sprintf(`{"properties":{"p":{"minimum":%d}},"required":["p","q%d"]}`, i, i)
	}) + `]}`,
	"many alternatives beside a lot": `{"properties":{"a":{"properties":{` + repeat(10_000, ",", func(i int) string {
		return fmt.Sprintf(`"p%d":{}`, i)
	}) + `},"anyOf":[` + repeat(30_000, ",", func(int) string { return `{"type":"object"}` }) + `]}}}`,
	"a long allOf": `{"properties":{"a":{"allOf":[` + repeat(20_000, ",", func(i int) string {
		return fmt.Sprintf(`{"properties":{"p%d":{}}}`, i)
	}) + `]}}}`,
	"as deep as it may be": strings.Repeat(`{"properties":{"a":`, 63) + `{}` + strings.Repeat(`}}`, 63),
	"anyOf in anyOf in anyOf": `{"properties":{"a":` + strings.Repeat(`{"anyOf":[{"type":"string"},`, 40) + `{}` +
		strings.Repeat(`]}`, 40) + `}}`,
	"many alternatives that have one each": `{"properties":{"$b":{},"a":{"anyOf":[` + repeat(15_000, ",", func(int) string {
		return `{"anyOf":[{"properties":{"$c":{"type":"string"}}}]}`
	}) + `]}}}`,
	"types beside types": `{"properties":{"a":` + strings.Repeat(
		`{"type":["array","object"],"properties":{"x":{}},"items":`, 60) + `{}` + strings.Repeat(`}`, 60) + `}}`,
}

// What an untrusted server sends costs little time and memory, whatever it is: it is converted, or refused.
func TestHostileSchemas(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, len(text), maxText)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			s, err := Parse([]byte(text))
			require.NoError(t, err)
			for _, target := range targets {
				if p, err := s.Convert(target); err == nil {
					assert.LessOrEqual(t, len(p.JSON), 2*maxOutput)
					_, err := p.Restore([]byte(`{"a":{"a":{},"x":[{}],"p0":"{}"}}`))
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, errTooLarge)
				}
			}
			runtime.ReadMemStats(&after)
			assert.Less(t, time.Since(start), 30*time.Second) // a machine that is busy takes much longer than usual
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30))
			t.Logf("%v, %d MiB", time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

func TestReferencesAreFollowedAsFarAsThereIsRoom(t *testing.T) {
	for name, properties := range map[string]int{
		"bomb of references": 10, "all refer to all": 10, "a long text, referred to often": 1,
	} {
		text := hostile[name]
		s, err := Parse([]byte(text))
		require.NoError(t, err)
		p, err := s.Convert(Plain)
		require.NoError(t, err)
		room := max(roomToExpand, 2*len(text))
		assert.LessOrEqual(t, len(p.JSON), room+len(text), name) // the last thing to go in may be a long one
		assert.GreaterOrEqual(t, strings.Count(string(p.JSON), `"properties"`), properties, name)
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`:        "unexpected end",
		`{} {}`:    "unexpected data",
		`nonsense`: "expected",
		strings.Repeat("[", 129) + strings.Repeat("]", 129): "nested too deeply",
		`{"title":"` + strings.Repeat("x", maxText) + `"}`:  "at most 1048576 are accepted",
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, want)
	}
	_, err := Parse([]byte(strings.Repeat(`{"items":`, 127) + `{}` + strings.Repeat(`}`, 127)))
	assert.NoError(t, err)
}
