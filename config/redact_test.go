package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

// TestNothingFormatsASecret puts a secret in every place that can hold one.
func TestNothingFormatsASecret(t *testing.T) {
	file, err := config.ParseBytes([]byte(`{
		"servers": {
			"one": {"command": "hidden", "args": ["hidden"], "env": {"A": "hidden"}, "x": "hidden"},
			"two": {"url": "http://u:hidden@a/hidden?hidden", "headers": {"A": "hidden"},
				"oauth": {"clientId": "hidden", "clientSecret": "hidden", "x": "hidden"}}
		},
		"inputs": [{"id": "token", "password": true, "default": "hidden", "options": ["hidden"], "x": "hidden"}],
		"x": "hidden"
	}`), nil)
	require.NoError(t, err)
	servers, err := file.Expand(nil)
	require.NoError(t, err)

	for _, v := range []any{
		file, *file, servers, servers[0], &servers[1], servers[1].OAuth, *servers[1].OAuth, file.Inputs, &file.Inputs[0],
		struct{ S any }{servers}, map[string]config.Server{"s": servers[0]}, []*config.OAuth{servers[1].OAuth},
	} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("JSON", "v", v)
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(text)
		assert.NotContains(t, out.String(), "hidden")
		assert.NotContains(t, out.String(), fmt.Sprintf("%x", "hidden"))
	}
	assert.Equal(t, "[config.Server(one stdio) config.Server(two http)]", fmt.Sprint(servers))
	assert.Equal(t, "config.File( 2)", fmt.Sprint(file))
	assert.Equal(t, "[config.Input(token)]", fmt.Sprint(file.Inputs))
	assert.Equal(t, "config.Server(o)", fmt.Sprint(config.Server{Name: "o", Description: "hidden"}))
}

// TestErrorsHoldNoValues makes every value of an entry wrong in turn.
func TestErrorsHoldNoValues(t *testing.T) {
	for _, text := range []string{
		`{"command": "hidden\n"}`, `{"command": "hidden", "args": ["hidden\u0000"]}`, `{"command": "a", "args": "hidden"}`,
		`{"command": "a", "env": {"A": "hidden\u0000"}}`, `{"command": "a", "env": ["hidden"]}`,
		`{"command": "a", "cwd": "hidden\n"}`, `{"command": "hidden", "url": "hidden"}`,
		`{"url": "hidden"}`, `{"url": "http://a:hidden/"}`, `{"url": "http://a/%hidden"}`,
		`{"url": "http://a", "headers": {"A": "hidden\n"}}`, `{"url": "http://a", "headers": {"A": ["hidden"]}}`,
		`{"url": "http://a", "oauth": {"clientSecret": "hidden"}}`, `{"url": "http://a", "oauth": {"scope": "hidden\""}}`,
		`{"url": "http://a", "oauth": {"callbackUrl": "hidden"}}`, `{"type": "hidden"}`, `{"command": "${hidden"}`,
		`{"command": "${A:-${hidden}}"}`, `{"command": "${hidden hidden}"}`, `{"command": "a", "timeout": "hidden"}`,
		`{"command": "a" hidden}`, `{"command": "a", "x": hidden}`, `{"command": "a", "x": "hidden`,
		`{"command": "a", "env": {"A=hidden": ""}}`, `{"command": "a", "env": {"A=hidden": 1, "A=hidden": 2}}`,
		`{"url": "http://a", "headers": {"A:hidden": ""}}`, `{"url": "http://a", "headers": {"Bearer hidden": ""}}`,
		`{"url": "http://a", "serverUrl": "http://hidden"}`, `{"url": "http://a", "oauth": {"clientRegistration": "hidden"}}`,
	} {
		_, err := config.Parse("a", []byte(text), nil)
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "hidden", text)
	}

	secret := func(string) (string, bool) { return "hidden\n\x00", true }
	for _, text := range []string{
		`{"command": "${A}"}`, `{"command": "a", "args": ["${A}"]}`, `{"command": "a", "cwd": "${A}"}`,
		`{"command": "a", "env": {"A": "${A}"}}`, `{"url": "${A}"}`, `{"url": "http://a", "headers": {"A": "${A}"}}`,
		`{"url": "http://a", "oauth": {"scope": "${A}"}}`, `{"url": "http://a", "oauth": {"callbackUrl": "${A}"}}`,
		`{"url": "http://a", "oauth": {"authServerMetadataUrl": "${A}"}}`,
	} {
		s, err := config.Parse("a", []byte(text), nil)
		require.NoError(t, err, text)
		_, err = s.Expand(secret)
		require.Error(t, err, text)
		for err := err; err != nil; err = errors.Unwrap(err) {
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), "hidden", text)
		}
	}
	for _, operator := range []string{":=", ":?", ":+"} {
		_, err := config.Server{Command: "${A" + operator + "hidden}"}.Expand(nil)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hidden")
	}
	_, err := config.ParseBytes([]byte(`{"servers": "hidden"}`), nil)
	require.Error(t, err)
	assert.False(t, strings.Contains(err.Error(), "hidden"))
}

// TestErrorsAreOneLineEach: names in a file can neither end a line nor speak to a terminal.
func TestErrorsAreOneLineEach(t *testing.T) {
	const name = `x\nconfig: 1:1: y\u001b[2J\u0085\u2028\u202e`
	for _, text := range []string{
		`{"` + name + `": 1, "` + name + `": 2}`,
		`{"servers": {"` + name + `": {"command": "a"}}}`,
		`{"servers": {"a": {"command": "a", "env": {"` + name + `": {}}}}}`,
		`{"servers": {"a": {"command": "a", "` + name + `": 1, "` + name + `": 1}}}`,
		`{"servers": {"a": {"url": "http://a", "headers": {"` + name + `": ""}}}}`,
		`{"servers": {"a": {"url": "http://a", "oauth": {"` + name + `": 1, "` + name + `": 1}}}}`,
		`{"servers": {"a": {"command": "${` + name + `}"}}}`,
		`{"` + name + `": {"command": "a"}}`,
	} {
		_, err := config.ParseBytes([]byte(text), nil)
		require.Error(t, err, text)
		assert.NotRegexp(t, `[^ -~]`, err.Error(), text)
	}
}

// TestUnexportedFields: package fmt calls no method of what is in one, and follows no pointer there with %v.
func TestUnexportedFields(t *testing.T) {
	const text = `{"url": "http://hidden", "headers": {"A": "hidden"}, "oauth": {"clientId": "hidden"}}`
	s, err := config.Parse("a", []byte(text), nil)
	require.NoError(t, err)
	holder := struct {
		server *config.Server
		oauth  *config.OAuth
	}{&s, s.OAuth}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		assert.NotContains(t, fmt.Sprintf(verb, holder), "hidden")
		assert.NotContains(t, fmt.Sprintf(verb, &holder), "hidden")
	}
}
