package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestResolve(t *testing.T) {
	for _, test := range []struct{ text, dir, want string }{
		{"", "/a", ""},
		{"b", "/a", "/a/b"},
		{"./b/../c", "/a", "/a/c"},
		{"..", "/a/b", "/a"},
		{"/b", "/a", "/b"},
		{`b\c`, "/a", `/a/b\c`},
		{"./b", "", "./b"},
	} {
		assert.Equal(t, test.want, resolve(test.text, test.dir, false), test.text)
	}
}

func TestResolveOnWindows(t *testing.T) {
	for _, test := range []struct{ text, dir, want string }{
		{"", `C:\a`, ""},
		{"b", `C:\a`, `C:\a\b`},
		{`.\b`, `C:\a`, `C:\a\b`},
		{"./b/c", `C:\a`, `C:\a\b\c`},
		{`..\b`, `C:\a`, `C:\a\..\b`},
		{"b", `C:\`, `C:\b`},
		{`D:\b`, `C:\a`, `D:\b`},
		{"D:/b", `C:\a`, `D:\b`},
		{"D:b", `C:\a`, "D:b"},
		{`\\host\share\b`, `C:\a`, `\\host\share\b`},
		{`.\b`, "", `.\b`},
	} {
		assert.Equal(t, test.want, resolve(test.text, test.dir, true), test.text)
	}
}

func TestIsPath(t *testing.T) {
	for _, test := range []struct {
		command       string
		unix, windows bool
	}{
		{"npx", false, false},
		{"./server", true, true},
		{"bin/server", true, true},
		{`bin\server.exe`, false, true},
		{`C:\server.exe`, false, true},
		{"C:server.exe", false, true},
	} {
		assert.Equal(t, test.unix, isPath(test.command, false), test.command)
		assert.Equal(t, test.windows, isPath(test.command, true), test.command)
	}
}
