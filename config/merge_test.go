package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

func parsed(t *testing.T, text string, o *config.Options) *config.File {
	t.Helper()
	file, err := config.ParseBytes([]byte(text), o)
	require.NoError(t, err)
	return file
}

const trusted = `{
	"mcpServers": {
		"a": {"url": "http://a", "headers": {"Authorization": "s3cr3t"}, "disabled": true, "exposure": "direct"},
		"b": {"command": "b", "env": {"X": "1", "Y": "2"}}
	},
	"inputs": [{"id": "token", "password": true}],
	"theme": "dark"
}`

func TestMergeChangesWhatItMay(t *testing.T) {
	base, plain := parsed(t, trusted, nil), parsed(t, trusted, nil)
	other := parsed(t, `{"servers": {
		"b": {"env": {"Y": "3"}, "timeout": 5, "description": "d"},
		"a": {"enabled": true, "exposure": null, "new": [1]}
	}, "theme": "light"}`, nil)
	merged, err := config.Merge(base, other, config.Policy{
		Fields: []string{"disabled", "exposure", "new", "env", "timeout", "description"},
	})
	require.NoError(t, err)
	a, b := plain.Servers[0], plain.Servers[1]
	a.Disabled, a.Extra["exposure"], a.Extra["new"] = false, raw("null"), raw("[1]")
	b.Env, b.Timeout, b.Description = map[string]string{"Y": "3"}, 5*time.Second, "d"
	requireServers(t, []config.Server{a, b}, merged.Servers)
	assert.Equal(t, base.Extra, merged.Extra)
	requireServers(t, parsed(t, trusted, nil).Servers, base.Servers)
}

func TestMergeChangesNothingElse(t *testing.T) {
	for name, test := range map[string]struct {
		entry, want string
	}{
		"a field that is not listed": {`"a": {"enabled": true, "headers": {}}`,
			`2:25: server "a": headers: may not be changed here; what may be: enabled, command`},
		"a field that is not known": {`"a": {"exposure": "hidden"}`,
			`2:8: server "a": exposure: may not be changed here; what may be: enabled, command`},
		"a server of its own": {`"a": {"url": "http://evil"}`,
			`2:8: server "a": url: may not be changed here; what may be: enabled, command`},
		"the same field by another name": {`"a": {"serverUrl": "http://evil"}`,
			`2:8: server "a": serverUrl: may not be changed here; what may be: enabled, command`},
		"a field that does not fit": {`"a": {"command": "c"}`,
			`2:19: server "a": command: conflicts with url at 3:16`},
		"a server that is not there": {`"c": {"enabled": true}`,
			`2:2: server "c": has neither command nor url, and there is no server that it could change`},
		"a new server": {`"c": {"command": "c"}`,
			`2:2: server "c": is not a server of the trusted file, and none may be added`},
	} {
		t.Run(name, func(t *testing.T) {
			base := parsed(t, trusted, nil)
			other := parsed(t, "{\"servers\": {\n\t"+test.entry+`}, "inputs": [{"id": "more"}]}`, nil)
			merged, err := config.Merge(base, other, config.Policy{Fields: []string{"enabled", "command"}})
			assert.EqualError(t, err, "config: "+test.want)
			requireServers(t, base.Servers, merged.Servers)
			assert.Equal(t, base.Inputs, merged.Inputs)
		})
	}
	override := parsed(t, `{"servers": {"a": {"enabled": true}}}`, nil)
	_, err := config.Merge(parsed(t, trusted, nil), override, config.Policy{})
	assert.EqualError(t, err, `config: 1:20: server "a": enabled: may not be changed here; what may be: nothing`)
}

func TestMergeAddsServers(t *testing.T) {
	base := parsed(t, trusted, nil)
	merged, err := config.Merge(base, parsed(t, `{
		"servers": {"c": {"command": "c"}, "a": {"url": "http://evil"}},
		"inputs": [{"id": "token", "description": "your password"}, {"id": "more"}]
	}`, nil), config.Policy{NewServers: true})
	assert.EqualError(t, err, `config: 2:44: server "a": url: may not be changed here; what may be: nothing`+"\n"+
		`config: 3:14: inputs[0]: is an input of the trusted file, at 6:13`)
	assert.Equal(t, []string{"a", "b", "c"}, names(merged.Servers))
	assert.Equal(t, "http://a", merged.Servers[0].URL)
	assert.Equal(t, []config.Input{{ID: "token", Password: true}, {ID: "more"}}, merged.Inputs)
	assert.Len(t, base.Servers, 2)
	assert.Len(t, base.Inputs, 1)
}

// TestMergeKeepsTheNamesOfBadEntries: a slip of the user's hands no name that he knows to a stranger.
func TestMergeKeepsTheNamesOfBadEntries(t *testing.T) {
	user, err := config.ParseBytes([]byte(`{"servers": {
		"slip": {"command": "a", "args": "b"}, "twice": {"command": "a"}, "twice": {"command": "b"}
	}}`), nil)
	require.Error(t, err)
	other := parsed(t, `{"servers": {
		"slip": {"url": "http://evil"}, "twice": {"url": "http://evil"}, "slip2": {"url": "http://b"}
	}}`, nil)
	policy := config.Policy{Fields: []string{"url"}, NewServers: true}
	merged, err := config.Merge(user, other, policy)
	assert.EqualError(t, err, `config: 2:3: server "slip": has the name of a bad entry of the trusted file, at 2:3`+"\n"+
		`config: 2:35: server "twice": has the name of a bad entry of the trusted file, at 2:42`)
	assert.Equal(t, []string{"slip2"}, names(merged.Servers))
	merged, err = config.Merge(merged, other, policy)
	assert.ErrorContains(t, err, `server "slip": has the name of a bad entry of the trusted file, at 2:3`)
	assert.Equal(t, []string{"slip2"}, names(merged.Servers))

	user, err = config.ParseBytes([]byte(`{
		"servers": {"mine": {"command": "a"}}, "servers": {"lost": {"command": "b"}}
	}`), nil)
	assert.EqualError(t, err, `config: 2:42: servers: was there before, at 2:3`)
	merged, err = config.Merge(user, parsed(t, `{"servers": {"lost": {"url": "http://evil"}}}`, nil), policy)
	assert.EqualError(t, err, `config: 1:14: server "lost": has the name of a bad entry of the trusted file, at 2:54`)
	assert.Equal(t, []string{"mine"}, names(merged.Servers))

	project, err := config.ParseBytes([]byte(`{"servers": {"theirs": {"command": 1}}}`), nil)
	require.Error(t, err)
	merged, err = config.Merge(parsed(t, `{"servers": {}}`, nil), project, policy)
	require.NoError(t, err)
	merged, err = config.Merge(merged, parsed(t, `{"servers": {"theirs": {"url": "http://evil"}}}`, nil), policy)
	assert.ErrorContains(t, err, "has the name of a bad entry of the trusted file")
	assert.Empty(t, merged.Servers)
}

func TestMergeOfThreeFiles(t *testing.T) {
	policy := config.Policy{Fields: []string{"enabled"}, NewServers: true}
	file := parsed(t, trusted, nil)
	for _, text := range []string{
		`{"servers": {"a": {"enabled": true}, "c": {"command": "c"}}, "inputs": [{"id": "more"}]}`,
		`{"servers": {"a": {"disabled": true}, "c": {"enabled": false}}, "inputs": [{"id": "most"}]}`,
		`{"servers": {"a": {"enabled": true, "disabled": false}}}`,
	} {
		var err error
		file, err = config.Merge(file, parsed(t, text, nil), policy)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"a", "b", "c"}, names(file.Servers))
	assert.False(t, file.Servers[0].Disabled)
	assert.True(t, file.Servers[2].Disabled)
	assert.Len(t, file.Inputs, 3)
	_, err := config.Merge(file, parsed(t, `{"inputs": [{"id": "more"}]}`, nil), policy)
	assert.EqualError(t, err, `config: 1:13: inputs[0]: is an input of the trusted file, at 1:73`)
}

// TestMergedFieldsBelongToTheirFiles: paths and units are those of the file that says them, and errors name the file.
func TestMergedFieldsBelongToTheirFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name, "mcp.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	user := write("user", `{"servers": {"a": {"command": "./a", "timeout": 9}, "b": {"command": "./b", "cwd": "b"}}}`)
	project := write("project", `{"servers": {"a": {"cwd": "w", "timeout": 9}, "b": {"url": "http://b"}, `+
		`"c": {"command": "c/d"}}}`)
	base, err := config.ParseFile(user, nil)
	require.NoError(t, err)
	other, err := config.ParseFile(project, &config.Options{TimeoutUnit: time.Millisecond})
	require.NoError(t, err)

	merged, err := config.Merge(base, other, config.Policy{Fields: []string{"cwd", "timeout", "url"}, NewServers: true})
	assert.EqualError(t, err, "config: "+project+`:1:60: server "b": url: conflicts with command at `+user+":1:70")
	servers, err := merged.Expand(nil)
	require.NoError(t, err)
	requireServers(t, []config.Server{
		{Name: "a", Type: config.Stdio, Command: dir + "/user/a", Cwd: dir + "/project/w", Timeout: 9 * time.Millisecond},
		{Name: "b", Type: config.Stdio, Command: dir + "/user/b", Cwd: dir + "/user/b"},
		{Name: "c", Type: config.Stdio, Command: dir + "/project/c/d"},
	}, servers)
	assert.Equal(t, []string{user, user, project}, []string{servers[0].File, servers[1].File, servers[2].File})
}

func TestMergeKeepsToTheTransportsOfTheTrustedFile(t *testing.T) {
	base := parsed(t, `{"servers": {"a": {"url": "http://a"}}}`, &config.Options{RefuseSSE: true})
	other := parsed(t, `{"servers": {"a": {"type": "sse", "url": "http://a"}}}`, nil)
	merged, err := config.Merge(base, other, config.Policy{Fields: []string{"type", "url"}})
	assert.EqualError(t, err, `config: 1:28: server "a": type: the deprecated HTTP+SSE transport is refused`)
	assert.Equal(t, config.HTTP, merged.Servers[0].Type)
}

func TestMergeOfServersThatWereNotRead(t *testing.T) {
	made := &config.File{Servers: []config.Server{{Name: "a", Type: config.Stdio, Command: "a"}}}
	other := parsed(t, `{"servers": {"a": {"enabled": false}}}`, nil)
	policy := config.Policy{Fields: []string{"enabled"}, NewServers: true}
	merged, err := config.Merge(made, other, policy)
	assert.EqualError(t, err, `config: server "a": was made by a program, and not read`)
	assert.Equal(t, []string{"a"}, names(merged.Servers))

	asked := &config.File{Inputs: []config.Input{{ID: "token", Description: "mine"}}}
	more, err := config.ParseBytes([]byte(`{"inputs": [{"id": 1}, {"id": "token"}, {"id": "more"}]}`), nil)
	assert.ErrorContains(t, err, "inputs[0].id")
	merged, err = config.Merge(asked, more, policy)
	assert.EqualError(t, err, `config: 1:24: inputs[1]: is an input of the trusted file`)
	assert.Equal(t, append(asked.Inputs, config.Input{ID: "more"}), merged.Inputs)

	_, err = config.Merge(asked, asked, policy)
	assert.EqualError(t, err, `config: inputs: is an input of the trusted file`)

	twice := &config.File{Servers: slices.Concat(made.Servers, made.Servers)}
	merged, err = config.Merge(parsed(t, `{"servers": {}}`, nil), twice, policy)
	assert.EqualError(t, err, `config: server "a": was made by a program, and not read`)
	assert.Equal(t, []string{"a"}, names(merged.Servers))

	merged, err = config.Merge(parsed(t, `{"servers": {}}`, nil), made, policy)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, names(merged.Servers))
}
