package schema

import (
	"encoding/json"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOfficialSuite runs the JSON Schema Test Suite that the library brings along. Nothing may go wrong, and all that
// may be refused is what the package's documentation says.
func TestOfficialSuite(t *testing.T) {
	pkg, err := build.Import("github.com/google/jsonschema-go/jsonschema", ".", build.FindOnly)
	require.NoError(t, err)
	for dialect, folder := range map[string]string{latest: "draft2020-12", seven: "draft7"} {
		files, err := filepath.Glob(filepath.Join(pkg.Dir, "testdata", folder, "*.json"))
		require.NoError(t, err)
		ran := 0
		for _, file := range files {
			ran += runSuiteFile(t, file, dialect)
		}
		assert.Greater(t, ran, 800, folder)
	}
}

func runSuiteFile(t *testing.T, file, dialect string) (ran int) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	require.NoError(t, json.Unmarshal(data, &groups))
	for _, group := range groups {
		s, err := Compile(inDialect(t, group.Schema, dialect))
		if err != nil {
			outside := strings.Contains(err.Error(), "nothing is fetched")
			several := strings.Contains(err.Error(), "several $dynamicAnchor")
			assert.True(t, outside || several, "%s: %s: %v", file, group.Description, err)
			continue
		}
		for _, test := range group.Tests {
			err := s.Validate(test.Data)
			assert.Equal(t, test.Valid, err == nil, "%s: %s: %s: %v", filepath.Base(file), group.Description, test.Description, err)
			ran++
		}
	}
	return ran
}

// inDialect adds the $schema that the suite leaves to its folder's name.
func inDialect(t *testing.T, schema json.RawMessage, dialect string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || members["$schema"] != nil {
		return schema
	}
	_, uri, _ := strings.Cut(dialect, ":")
	members["$schema"] = json.RawMessage(uri)
	raw, err := json.Marshal(members)
	require.NoError(t, err)
	return raw
}
