package config

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/schema"
)

var update = flag.Bool("update", false, "write schema.json")

func TestSchemaIsUpToDate(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile("schema.json", Schema(), 0o644))
	}
	committed, err := os.ReadFile("schema.json")
	require.NoError(t, err)
	assert.Equal(t, string(Schema()), string(committed), "go test ./config -update writes it")
}

func TestFilesAgreeWithTheSchema(t *testing.T) {
	compiled, err := schema.Compile(Schema())
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/wild/*.json")
	require.NoError(t, err)
	for _, path := range append(paths, "testdata/example.json") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		text, _, reason := plain(text)
		require.Empty(t, reason)
		assert.NoError(t, compiled.Validate(text), path)
	}
}

// TestSchemaRefuses: what an editor marks is an error of reading too.
func TestSchemaRefuses(t *testing.T) {
	compiled, err := schema.Compile(Schema())
	require.NoError(t, err)
	for _, text := range []string{
		`[]`, `{"mcpServers": []}`, `{"servers": {" ab": {"command": "a"}}}`, `{"servers": {"a": null}}`,
		`{"servers": {"a": {"command": ""}}}`, `{"servers": {"a": {"command": ["a"]}}}`,
		`{"servers": {"a": {"command": "a", "url": "http://a"}}}`, `{"servers": {"a": {"type": "x", "url": "http://a"}}}`,
		`{"servers": {"a": {"command": "a", "args": "b"}}}`, `{"servers": {"a": {"command": "a", "args": [null]}}}`,
		`{"servers": {"a": {"command": "a", "env": {"A": {}}}}}`, `{"servers": {"a": {"command": "a", "timeout": 0}}}`,
		`{"servers": {"a": {"command": "a", "enabled": 1}}}`, `{"servers": {"a": {"url": "http://a", "oauth": []}}}`,
		`{"servers": {"a": {"url": "http://a", "oauth": {"callbackPort": 0}}}}`,
		`{"servers": {"a": {"url": "http://a", "oauth": {"clientId": 1}}}}`,
		`{"servers": {"a": {"url": "http://a", "oauth": {"clientRegistration": "x"}}}}`,
		`{"servers": {"a": {"url": "http://a", "oauth": {"scopes": [1]}}}}`,
		`{"inputs": {}}`, `{"inputs": [{"type": "promptString"}]}`, `{"inputs": [{"id": "a", "options": [{}]}]}`,
	} {
		assert.Error(t, compiled.Validate([]byte(text)), text)
		_, err := ParseBytes([]byte(text), nil)
		assert.Error(t, err, text)
	}
}
