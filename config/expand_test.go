package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

// known gives what tests refer to. Two values look like references, and none is ever to be expanded.
func known(name string) (string, bool) {
	value, ok := map[string]string{
		"A": "1", "B": "${A}", "EMPTY": "", "HOST": "a.example", "input:token": "t0k3n", "ProgramFiles(x86)": `C:\x86`,
		"TILDE": "~/x", "BREAK": "x\r\ny", "NUL": "s\x00",
	}[name]
	return value, ok
}

func TestExpandTexts(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"plain $A $ {A} $(A) %A% }": "plain $A $ {A} $(A) %A% }",
		"${A}":                      "1",
		"<${A}${env:A}>":            "<11>",
		"${B}":                      "${A}",
		"${B}${A}":                  "${A}1",
		"${input:token}":            "t0k3n",
		"${ProgramFiles(x86)}":      `C:\x86`,
		"${NONE:-x}":                "x",
		"${NONE:-}":                 "",
		"${env:NONE:-x:-y $A}":      "x:-y $A",
		"${EMPTY}":                  "",
		"${EMPTY:-x}":               "x",
		"${A:-x}":                   "1",
		"${input:none:-x}":          "x",
		"$${A}":                     "${A}",
		"$$${A}":                    "$${A}",
		"$${A}${A}$${":              "${A}1${",
		"${A}}":                     "1}",
	} {
		s, err := config.Server{Type: config.Stdio, Command: "c", Args: []string{text}}.Expand(known)
		require.NoError(t, err, text)
		assert.Equal(t, want, s.Args[0], text)
	}
}

func TestExpand(t *testing.T) {
	s, err := config.Parse("a", []byte(`{
		"command": "c${A}", "args": ["${A}"], "env": {"K": "${A}", "${A}": "b"}, "cwd": "/x/${A}",
		"description": "${A}", "x": "${A}"
	}`), nil)
	require.NoError(t, err)
	before, _ := config.Parse("a", []byte(`{
		"command": "c${A}", "args": ["${A}"], "env": {"K": "${A}", "${A}": "b"}, "cwd": "/x/${A}",
		"description": "${A}", "x": "${A}"
	}`), nil)
	expanded, err := s.Expand(known)
	require.NoError(t, err)
	assert.True(t, s.Equal(before), "the server was changed")
	before.Command, before.Args[0], before.Env["K"], before.Cwd = "c1", "1", "1", "/x/1"
	requireServers(t, []config.Server{before}, []config.Server{expanded})

	s, err = config.Parse("a", []byte(`{
		"url": "https://${HOST}/${A}", "headers": {"Authorization": "Bearer ${input:token}"},
		"oauth": {"clientId": "i${A}", "clientSecret": "s${A}", "callbackUrl": "http://localhost:${A}/", "scope": "c${A}",
			"clientName": "n${A}", "authServerMetadataUrl": "https://${HOST}/m"}
	}`), nil)
	require.NoError(t, err)
	expanded, err = s.Expand(known)
	require.NoError(t, err)
	requireServers(t, []config.Server{{
		Name: "a", Type: config.HTTP, URL: "https://a.example/1",
		Headers: map[string]string{"Authorization": "Bearer t0k3n"},
		OAuth: &config.OAuth{ClientID: "i1", ClientSecret: "s1", CallbackURL: "http://localhost:1/", Scope: "c1",
			ClientName: "n1", AuthServerMetadataURL: "https://a.example/m"},
	}}, []config.Server{expanded})
	assert.Equal(t, "i${A}", s.OAuth.ClientID, "the server was changed")
}

func TestExpandTwice(t *testing.T) {
	s, err := config.Server{Type: config.Stdio, Command: "${B}"}.Expand(known)
	require.NoError(t, err)
	again, err := s.Expand(known)
	require.NoError(t, err)
	assert.Equal(t, "${A}", again.Command)
}

func TestExpandErrors(t *testing.T) {
	const header = `{"url": "http://a", "headers": {"X": "`
	for _, test := range []struct{ text, want string }{
		{`{"command": "${NONE}"}`, `1:13: server "a": command: NONE is not set`},
		{`{"command": "a", "args": ["${A}", "${X} ${input:Y} ${X}"], "env": {"Z": "${Z}"}, "cwd": "${X}"}`,
			`1:35: server "a": args[1]: X, input:Y, Z are not set`},
		{header + `${workspaceFolder}"}}`, `1:38: server "a": headers.X: workspaceFolder is not set`},
		{header + `${BREAK}"}}`, `1:38: server "a": headers.X: holds a control character`},
		{`{"command": "a", "env": {"X": "${NUL}"}}`, `1:31: server "a": env.X: holds a NUL`},
		{`{"command": "a", "args": ["${NUL}"]}`, `1:27: server "a": args[0]: holds a NUL`},
		{`{"command": "${EMPTY}"}`, `1:13: server "a": command: is empty`},
		{`{"url": "${EMPTY}"}`, `1:9: server "a": url: is not an http or https URL`},
		{`{"serverUrl": "${input:token}"}`, `1:15: server "a": serverUrl: is not an http or https URL`},
		{`{"url": "http://a", "oauth": {"callbackUrl": "http://${HOST}/"}}`, `1:46: server "a": oauth.callbackUrl: ` +
			`is not an http URL of localhost, 127.0.0.1 or [::1] without a query and a fragment`},
		{`{"disabled": true}`, `1:1: server "a": has neither command nor url, and there is nothing that it could change`},
	} {
		s, err := config.Parse("a", []byte(test.text), nil)
		require.NoError(t, err, test.text)
		expanded, err := s.Expand(known)
		assert.EqualError(t, err, "config: "+test.want, test.text)
		assert.Equal(t, config.Server{}, expanded)
	}

	s, err := config.Server{Name: "made", Type: config.Stdio, Command: "${X}${Y}"}.Expand(nil)
	assert.Equal(t, &config.Error{
		Server: "made", Field: "command", Reason: "X, Y are not set", Missing: []string{"X", "Y"},
	}, err)
	assert.Equal(t, config.Server{}, s)
	_, err = config.Server{Name: "made", Type: config.Stdio, Command: "${"}.Expand(nil)
	assert.EqualError(t, err,
		`config: server "made": command: a reference has no } (a ${ that is none is written $${)`)
}

func TestExpandServersThatAProgramMade(t *testing.T) {
	assert.False(t, config.Server{Name: "a", Command: "${A}"}.IsOverride())
	s, err := config.Server{Name: "a", Command: "${A}"}.Expand(known)
	require.NoError(t, err)
	requireServers(t, []config.Server{{Name: "a", Type: config.Stdio, Command: "1"}}, []config.Server{s})
	s, err = config.Server{Name: "a", URL: "http://${HOST}"}.Expand(known)
	require.NoError(t, err)
	requireServers(t, []config.Server{{Name: "a", Type: config.HTTP, URL: "http://a.example"}}, []config.Server{s})

	_, err = config.Server{Name: "a", Command: "b", URL: "http://a"}.Expand(known)
	assert.EqualError(t, err, `config: server "a": url: conflicts with command`)
	_, err = config.Server{Name: "a", Type: config.SSE}.Expand(known)
	assert.EqualError(t, err, `config: server "a": type: sse needs a url`)
	_, err = config.Server{Name: "a"}.Expand(known)
	assert.EqualError(t, err,
		`config: server "a": has neither command nor url, and there is nothing that it could change`)
}

func TestExpandFile(t *testing.T) {
	file, err := config.ParseBytes([]byte(`{"servers": {
		"a": {"command": "${A}"},
		"missing": {"command": "${NONE}"},
		"off": {"command": "${NONE}", "disabled": true},
		"override": {"description": "d"},
		"b": {"command": "b"}
	}}`), nil)
	require.NoError(t, err)
	servers, err := file.Expand(known)
	assert.Equal(t, []string{"a", "b"}, names(servers))
	assert.EqualError(t, err, `config: 3:26: server "missing": command: NONE is not set`+"\n"+
		`config: 5:3: server "override": has neither command nor url, and there is nothing that it could change`)
	assert.Equal(t, "${A}", file.Servers[0].Command)
}

func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"servers": {
		"a": {"command": "./bin/a", "args": ["./x"], "cwd": "work"},
		"b": {"command": "b", "cwd": "../${A}"},
		"c": {"command": "/bin/c"}
	}}`), 0o600))
	t.Chdir(dir) // so that the path that is given is not absolute
	file, err := config.ParseFile("mcp.json", nil)
	require.NoError(t, err)
	servers, err := file.Expand(known)
	require.NoError(t, err)
	requireServers(t, []config.Server{
		{Name: "a", Type: config.Stdio, Command: dir + "/bin/a", Args: []string{"./x"}, Cwd: dir + "/work"},
		{Name: "b", Type: config.Stdio, Command: "b", Cwd: filepath.Dir(dir) + "/1"},
		{Name: "c", Type: config.Stdio, Command: "/bin/c"},
	}, servers)

	file, err = config.ParseFile("mcp.json", &config.Options{Dir: "/elsewhere"})
	require.NoError(t, err)
	servers, err = file.Expand(known)
	require.NoError(t, err)
	assert.Equal(t, "/elsewhere/work", servers[0].Cwd)

	s, err := config.Parse("a", []byte(`{"command": "bin/a", "cwd": "work"}`), nil)
	require.NoError(t, err)
	s, err = s.Expand(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{dir + "/bin/a", dir + "/work"}, []string{s.Command, s.Cwd}, "there is no file")
	s, err = config.Server{Command: "bin/a", Cwd: "work"}.Expand(nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"bin/a", "work"}, []string{s.Command, s.Cwd}, "nor a text")
}

func TestHome(t *testing.T) {
	t.Setenv("HOME", "/home/kim")
	s, err := config.Server{
		Type: config.Stdio, Command: "~/bin/a", Cwd: "~", Env: map[string]string{"X": "~/x"},
		Args: []string{"~/${A}", "~", "~other/x", "a~/x", "${TILDE}", "--x=~/y", `~\x`},
	}.Expand(known)
	require.NoError(t, err)
	assert.Equal(t, "/home/kim/bin/a", s.Command)
	assert.Equal(t, "/home/kim", s.Cwd)
	assert.Equal(t, "~/x", s.Env["X"])
	assert.Equal(t, []string{"/home/kim/1", "/home/kim", "~other/x", "a~/x", "~/x", "--x=~/y", `~\x`}, s.Args)

	t.Setenv("HOME", "")
	_, err = config.Server{Name: "a", Type: config.Stdio, Command: "a", Cwd: "~/x"}.Expand(nil)
	assert.EqualError(t, err, `config: server "a": cwd: there is no home directory that ~ could be`)
}
