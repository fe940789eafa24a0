package toolschema

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever the schema, each target gets what its rules allow, twice the same, and arguments of any kind come back.
func FuzzSchema(f *testing.F) {
	table, err := os.ReadFile("../../testdata/schemas.txt")
	require.NoError(f, err)
	for text := range strings.Lines(string(table)) {
		f.Add(strings.TrimSpace(text), `{"_top_81bf98e4":null,"o":"{\"a\":1}","a":[{}]}`)
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		s, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, target := range targets {
			p, err := s.Convert(target)
			if err != nil {
				require.ErrorIs(t, err, errTooLarge)
				continue
			}
			again, err := s.Convert(target)
			require.NoError(t, err)
			require.Equal(t, string(p.JSON), string(again.JSON))

			checkDefinition(t, dialects[target], p)

			restored, err := p.Restore(json.RawMessage(args))
			if json.Valid([]byte(args)) {
				require.NoError(t, err)
				assert.True(t, json.Valid(restored))
			}
		}
	})
}
