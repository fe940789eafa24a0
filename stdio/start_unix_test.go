//go:build linux || darwin

package stdio_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/stdio"
)

func TestAScriptWithoutItsInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	for head, want := range map[string]string{
		"#!/no/such/python\nprint()":      `the interpreter in its first line, "/no/such/python", is missing: `,
		"#! /no/such/sh -e\r\necho hello": `the interpreter in its first line, " /no/such/sh -e\r", is missing: `,
	} {
		assert.NoError(t, os.WriteFile(script, []byte(head), 0o755))
		_, err := (&stdio.Transport{Command: script}).Connect(t.Context())
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.ErrorContains(t, err, want)
	}
}
