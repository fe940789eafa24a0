package transport_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestIDsAreEchoedByteForByte(t *testing.T) {
	for _, text := range []string{
		`0`, `1`, `-7`, `-0`, `1.0`, `1e3`, `9223372036854775807`,
		`123456789012345678901234567890`, `""`, `"1"`, `"a\u0062\"/\/"`,
	} {
		id := parseID(t, text)
		assert.True(t, id.IsValid(), text)
		assert.Equal(t, text, id.String())
		again, err := json.Marshal(id)
		require.NoError(t, err)
		assert.Equal(t, text, string(again))
	}
}

func TestWhatIsNoIDIsRefused(t *testing.T) {
	for _, text := range []string{
		``, `true`, `{}`, `[1]`, ` 1`, `"`, `"a`, `"a"b"`, `-`, `01`, `1x`, "1\n", "1.0\n", "\"a\nb\"", "\"a\" ",
	} {
		_, err := transport.ParseID([]byte(text))
		assert.Error(t, err, "%q", text)
	}
}

func TestIDsMatchInOtherSpellings(t *testing.T) { // field case 29
	for text, want := range map[string]int64{`1`: 1, `"1"`: 1, `1.0`: 1, `0`: 0, `"-3"`: -3, `1e2`: 100} {
		n, ok := parseID(t, text).Int64()
		assert.True(t, ok, text)
		assert.Equal(t, want, n, text)
	}
	for _, text := range []string{`1.5`, `"a"`, `""`, `"01"`, `1e300`, `null`} {
		_, ok := parseID(t, text).Int64()
		assert.False(t, ok, text)
	}
}

func TestNullAndAbsentIDsDiffer(t *testing.T) {
	null := parseID(t, `null`)
	assert.False(t, null.IsValid())
	assert.True(t, null.IsNull())
	assert.Equal(t, "null", null.String())
	assert.False(t, transport.ID{}.IsNull())
	assert.Equal(t, "", transport.ID{}.String())
	assert.NotEqual(t, null, transport.ID{})
	assert.Equal(t, parseID(t, `5`), transport.IntID(5))
}
