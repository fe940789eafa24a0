package config_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

func names(servers []config.Server) []string {
	list := []string{}
	for _, s := range servers {
		list = append(list, s.Name)
	}
	return list
}

func TestOrderOfServers(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 60 {
		name := string(rune('z'-i%26)) + strings.Repeat("x", i/26)
		want = append(want, name)
		text.WriteString(`"` + name + `":{"command":"a"},`)
		if i == 29 {
			text.WriteString(`},"servers":{`)
		}
	}
	file, err := config.ParseBytes([]byte(`{"mcpServers":{`+text.String()+`}}`), nil)
	require.NoError(t, err)
	assert.Equal(t, want, names(file.Servers))
	servers, err := file.Expand(nil)
	require.NoError(t, err)
	assert.Equal(t, want, names(servers))
}

func TestOneBadEntryCostsNoOther(t *testing.T) {
	file, err := config.ParseBytes([]byte(`{
  "theme": "dark", "theme": "light",
  "mcpServers": {
    "first": {"command": "a"},
    "bad\tname": {"command": "a"},
    "twice": {"command": "a"},
    "both": {"command": "a", "url": "http://a"},
    "last": {"url": "http://a"},
    "twice": {"command": "b"},
    "twice": {"command": "c"},
    "null": null
  },
  "servers": {
    "first-of-others": {"command": "a"},
    "both": {"command": "a"}
  },
  "inputs": [{"id": "a"}, {"id": 1}, {"type": "promptString"}, {"id": "a", "type": "pickString"}, 7]
}`), nil)
	assert.Equal(t, []string{"first", "last", "first-of-others"}, names(file.Servers))
	assert.Equal(t, []config.Input{{ID: "a"}}, file.Inputs)
	assert.Equal(t, map[string]json.RawMessage{"theme": raw(`"dark"`)}, file.Extra)
	assert.EqualError(t, err, strings.Join([]string{
		`config: 2:20: theme: was there before, at 2:3`,
		`config: 5:5: server "bad\tname": the name must be printable text without white space around it`,
		`config: 9:5: server "twice": was there before, at 6:5`,
		`config: 10:5: server "twice": was there before, at 6:5`,
		`config: 11:13: server "null": must be an object, not null`,
		`config: 15:5: server "both": was there before, at 7:5`,
		`config: 17:34: inputs[1].id: must be a string, not a number`,
		`config: 17:38: inputs[2]: has no id`,
		`config: 17:64: inputs[3].id: was there before, at 17:14`,
		`config: 17:99: inputs[4]: must be an object, not a number`,
	}, "\n"))

	var list config.Errors
	require.ErrorAs(t, err, &list)
	assert.Len(t, list, 10)
	for _, e := range list {
		assert.ErrorIs(t, err, e)
	}
	first, ok := errors.AsType[*config.Error](err)
	require.True(t, ok)
	assert.Same(t, list[0], first)
}

func TestWholeFiles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"none":                       {``, `config: 1:1: not JSON: unexpected end`},
		"comments only":              {"// a\n", `config: 2:1: not JSON: unexpected end`},
		"an array":                   {` []`, `config: 1:2: must be an object, not an array`},
		"two values":                 {"{}\n{}", `config: 2:1: not JSON: unexpected data after the value`},
		"a line that ends in a text": {"{\"a\": \"b\n\"}", `config: 1:9: not JSON: control character in a string`},
		"UTF-16":                     {"\xff\xfe{\x00}\x00", `config: 1:1: is in UTF-16; save it as UTF-8`},
		"UTF-16, the other way":      {"\xfe\xff\x00{\x00}", `config: 1:1: is in UTF-16; save it as UTF-8`},
		"a byte order mark":          {"\ufeff{}", ``},
		"Latin-1": {"{\"servers\": {\"a\": {\"command\": \"caf\xe9\"}}}",
			`config: 1:31: server "a": command: is not in UTF-8`},
		"Latin-1 elsewhere": {"{// caf\xe9\n\"theme\": \"caf\xe9\"}", ``},
		"servers in another spelling": {`{"x": 1, "mcp_servers": {"a": {"command": "b"}}}`,
			`config: 1:10: mcp_servers: is not read; the servers belong below mcpServers or servers`},
		"and another": {`{"MCP-Servers": {}}`,
			`config: 1:2: MCP-Servers: is not read; the servers belong below mcpServers or servers`},
		"servers of an editor": {`{"mcp.servers": {}}`,
			`config: 1:2: mcp.servers: is not read; the servers belong below mcpServers or servers`},
		"another spelling beside them": {`{"mcpServers": {}, "mcpservers": {}}`, ``},
		"no servers":                   {`{"theme": "dark", "window": {"width": 5, "enabled": true}}`, ``},
		"null servers":                 {`{"mcpServers": null, "servers": null, "inputs": null}`, ``},
		"servers that are a list":      {`{"mcpServers": []}`, `config: 1:16: mcpServers: must be an object, not an array`},
		"inputs that are no list":      {`{"inputs": {}}`, `config: 1:12: inputs: must be an array, not an object`},
		"a key twice":                  {"{\"x\": 1,\n\"x\": 2}", `config: 2:1: x: was there before, at 1:2`},
		"servers without a parent": {`{"a": {"command": "b"}}`,
			`config: 1:2: a: looks like a server, which belongs below mcpServers or servers`},
		"one of them": {`{"x": 1, "y": {"z": 1}, "a": {"url": 1}}`,
			`config: 1:25: a: looks like a server, which belongs below mcpServers or servers`},
		"what looks like one beside them": {`{"mcpServers": {}, "a": {"command": "b"}}`, ``},
		"a bad option": {`{"inputs": [{"id": "a", "options": [1]}]}`,
			`config: 1:37: inputs[0].options[0]: must be a string, not a number`},
		"references in inputs mean nothing": {`{"inputs": [{"id": "a", "description": "as in ${"}]}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := config.ParseBytes([]byte(test.text), nil)
			require.NotNil(t, file)
			assert.Empty(t, file.Servers)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.want)
			}
		})
	}
}

func TestParseFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	file, err := config.ParseFile(path, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.True(t, strings.HasPrefix(err.Error(), "config: open "), err)
	assert.Equal(t, &config.File{Path: path}, file)

	require.NoError(t, os.WriteFile(path, []byte("{\"servers\": {\r\n\t\"a\": {\"url\": 5}}}"), 0o600))
	file, err = config.ParseFile(path, nil)
	assert.EqualError(t, err, "config: "+path+`:2:15: server "a": url: must be a string, not a number`)
	assert.Equal(t, path, file.Path)
}

func TestLargeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	text := []byte(`{"servers": {"a": {"command": "b"}}}`)
	text = append(text, make([]byte, config.MaxBytes-len(text))...)
	for i := range text {
		if text[i] == 0 {
			text[i] = ' '
		}
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	file, err := config.ParseFile(path, nil)
	require.NoError(t, err)
	assert.Len(t, file.Servers, 1)

	require.NoError(t, os.WriteFile(path, append(text, ' '), 0o600))
	_, err = config.ParseFile(path, nil)
	assert.EqualError(t, err, "config: "+path+": larger than 16777216 bytes")
}

func TestEqual(t *testing.T) {
	parse := func(text string) config.Server {
		s, err := config.Parse("a", []byte(text), nil)
		require.NoError(t, err)
		return s
	}
	one := parse(`{"command": "b", "args": ["c"], "env": {"D": "e"}, "x": 1}`)
	assert.True(t, one.Equal(parse(`{
		"x": 1, // moved
		"env": {"D": "e"}, "args": ["c"], "command": "b"
	}`)))
	assert.True(t, one.Equal(config.Server{
		Name: "a", Type: config.Stdio, Command: "b", Args: []string{"c"}, Env: map[string]string{"D": "e"},
		Extra: map[string]json.RawMessage{"x": raw("1")}, File: "elsewhere",
	}))
	extra := parse(`{"command": "b", "x": {"y":[1]}}`)
	assert.True(t, extra.Equal(parse(`{"command": "b", "x": { "y": [ /* one */ 1 ] }}`)))
	assert.False(t, extra.Equal(parse(`{"command": "b", "z": {"y":[1]}}`)))
	signIn := parse(`{"url": "http://a", "oauth": {"issuer": [1]}}`)
	assert.True(t, signIn.Equal(parse(`{"url": "http://a", "oauth": {"issuer": [ 1 ]}}`)))
	assert.False(t, signIn.Equal(parse(`{"url": "http://a", "oauth": {"issuer": [2]}}`)))
	assert.False(t, signIn.Equal(parse(`{"url": "http://a"}`)))
	for _, other := range []string{
		`{"command": "B", "args": ["c"], "env": {"D": "e"}, "x": 1}`,
		`{"command": "b", "args": ["C"], "env": {"D": "e"}, "x": 1}`,
		`{"command": "b", "args": ["c"], "env": {"D": "E"}, "x": 1}`,
		`{"command": "b", "args": ["c"], "env": {"D": "e"}, "x": 2}`,
		`{"command": "b", "args": ["c"], "env": {"D": "e"}, "x": 1, "enabled": false}`,
	} {
		assert.False(t, one.Equal(parse(other)), other)
	}
	expanded, err := one.Expand(nil)
	require.NoError(t, err)
	assert.True(t, one.Equal(expanded))
}
