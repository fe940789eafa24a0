package mcp

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMeta(t *testing.T) {
	meta := Meta{}
	require.NoError(t, meta.Set("a/b", map[string]string{"q": "<"}))
	assert.Equal(t, `{"a/b":{"q":"<"}}`, written(t, meta))
	require.ErrorContains(t, meta.Set("c", make(chan int)), `mcp: _meta "c": `)

	var value map[string]string
	found, err := meta.Decode("a/b", &value)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, map[string]string{"q": "<"}, value)

	found, err = Meta(nil).Decode("x", &value)
	require.NoError(t, err)
	assert.False(t, found)

	var number int
	found, err = meta.Decode("a/b", &number)
	require.ErrorContains(t, err, `mcp: _meta "a/b": `)
	assert.True(t, found)
}

func TestImplementation(t *testing.T) {
	roundTrip[Implementation](t, `{"name":"n","title":"t","version":"1","description":"d",
		"websiteUrl":"https://h","icons":[{"src":"s"}]}`)
	i, notes := read[Implementation](t, `{"version":1.0,"icons":{}}`)
	assert.Equal(t, &Implementation{}, i)
	assert.Len(t, notes, 2)
	assert.JSONEq(t, `{"name":"","version":""}`, written(t, i))
}

func TestIconSizesAsAString(t *testing.T) {
	icon, notes := read[Icon](t, `{"src":"s","sizes":"48x48 96x96"}`)
	assert.Equal(t, []string{"48x48", "96x96"}, icon.Sizes)
	assert.Equal(t, []string{"sizes: expected an array, took the string"}, notes)
}

func TestLogLevels(t *testing.T) {
	levels := []LogLevel{LogDebug, LogInfo, LogNotice, LogWarning, LogError, LogCritical, LogAlert, LogEmergency}
	for i, level := range levels {
		assert.Equal(t, level, LogLevelOf(level.Level()))
		assert.Equal(t, level, LogLevelOf(level.Level()+1), "in between")
		if i > 0 {
			assert.Greater(t, level.Level(), levels[i-1].Level())
		}
	}
	assert.Equal(t, slog.LevelWarn, LogWarning.Level())
	assert.Equal(t, slog.LevelInfo, LogLevel("verbose").Level())
	assert.Equal(t, LogDebug, LogLevelOf(slog.LevelDebug-4))
}

func TestLogMessage(t *testing.T) {
	for _, data := range []string{`"text"`, `{"n":9007199254740993}`, `null`, `[1]`} {
		m := roundTrip[LogMessage](t, `{"level":"error","logger":"db","data":`+data+`,"_meta":{"k":1}}`)
		assert.Equal(t, data, string(m.Data))
	}
	m, err := decodeLogMessage(json.RawMessage(`{"level":5}`))
	require.NoError(t, err)
	assert.Equal(t, &LogMessage{}, m)
	assert.JSONEq(t, `{"level":"","data":null}`, written(t, m))
	_, err = decodeLogMessage(json.RawMessage(`[]`))
	require.Error(t, err)
}

func TestProgress(t *testing.T) {
	roundTrip[Progress](t, `{"progress":0.5,"total":1,"message":"half","_meta":{"k":1}}`)
	for params, want := range map[string]Progress{
		`{"progressToken":7,"progress":50,"total":"100","message":null}`: {Progress: 50},
		`{"progress":1e999,"message":"far","progressToken":7}`:           {Message: "far"},
		`{"progressToken":"7","progress":[1],"total":2}`:                 {Total: new(2.0)},
	} {
		token, p := decodeProgress(json.RawMessage(params))
		n, _ := token.Int64()
		assert.Equal(t, int64(7), n, params)
		assert.Equal(t, want, p, params)
	}
	for _, params := range []string{"", "[]", `{"progress":1}`} {
		token, _ := decodeProgress(json.RawMessage(params))
		assert.False(t, token.IsValid(), params)
	}
}

func TestFileURIs(t *testing.T) {
	for path, want := range map[string]string{
		"/home/me/my project": "file:///home/me/my%20project",
		"/a?b#c%d":            "file:///a%3Fb%23c%25d",
		"/":                   "file:///",
		`/with\backslash`:     "file:///with%5Cbackslash",
		"/é":                  "file:///%C3%A9",
	} {
		assert.Equal(t, want, fileURI(path, false))
	}
	for path, want := range map[string]string{
		`C:\Users\me\my project`:     "file:///C:/Users/me/my%20project",
		`C:\`:                        "file:///C:/",
		`d:/x`:                       "file:///d:/x",
		`\\server\share\dir`:         "file://server/share/dir",
		`\\?\C:\long`:                "file:///C:/long",
		`\\?\UNC\server\share\a b`:   "file://server/share/a%20b",
		`C:\100%\#1`:                 "file:///C:/100%25/%231",
		`\\wsl.localhost\Debian\tmp`: "file://wsl.localhost/Debian/tmp",
	} {
		assert.Equal(t, want, fileURI(path, true))
	}
}

func TestFileRoot(t *testing.T) {
	dir := t.TempDir()
	root, err := FileRoot(dir)
	require.NoError(t, err)
	assert.Equal(t, filepath.Base(dir), root.Name)
	assert.Regexp(t, `^file:///.+`, root.URI)

	relative, err := FileRoot(".")
	require.NoError(t, err)
	absolute, err := filepath.Abs(".")
	require.NoError(t, err)
	same, err := FileRoot(absolute)
	require.NoError(t, err)
	assert.Equal(t, same, relative)

	var back Root
	require.NoError(t, json.Unmarshal([]byte(`{"uri":"file:///a","name":"n","_meta":{"k":1}}`), &back))
	assert.JSONEq(t, `{"uri":"file:///a","name":"n","_meta":{"k":1}}`, written(t, back))
}

func TestCompletion(t *testing.T) {
	assert.JSONEq(t, `{"type":"ref/prompt","name":"p"}`, written(t, PromptRef("p")))
	assert.JSONEq(t, `{"type":"ref/resource","uri":"u/{x}"}`, written(t, ResourceRef("u/{x}")))

	var titled CompleteRef
	require.NoError(t, json.Unmarshal([]byte(`{"type":"ref/prompt","name":"p","title":"P"}`), &titled))
	assert.Equal(t, `{"type":"ref/prompt","name":"p","title":"P"}`, written(t, titled))

	text := `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"<"},` +
		`"context":{"arguments":{"b":"c"}}}`
	request := CompleteRequest{Ref: PromptRef("p"), Argument: "a", Value: "<", Context: map[string]string{"b": "c"}}
	assert.Equal(t, text, written(t, request))
	var back CompleteRequest
	require.NoError(t, json.Unmarshal([]byte(text), &back))
	assert.Equal(t, request, back)
	request.Context = nil
	assert.JSONEq(t, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"<"}}`, written(t, request))

	roundTrip[CompleteResult](t, `{"completion":{"values":["a","b"],"total":100,"hasMore":false},"_meta":{"k":1}}`)
	r := roundTrip[CompleteResult](t, `{"completion":{"values":[]}}`)
	assert.Nil(t, r.HasMore)
	for _, text := range []string{
		`{}`, `{"completion":null}`, `{"completion":{"values":null}}`, `{"completion":{"values":[5,null]}}`,
	} {
		r, _ := read[CompleteResult](t, text)
		assert.JSONEq(t, `{"completion":{"values":[]}}`, written(t, r))
	}
	_, _, err := decodeResult[CompleteResult]([]byte(`{"completion":[]}`))
	require.EqualError(t, err, "completion: expected an object, found an array")
}
