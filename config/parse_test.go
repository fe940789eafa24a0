package config_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		text string
		want config.Server
	}{
		"a command is stdio": {`{"command":"a"}`, config.Server{Type: config.Stdio, Command: "a"}},
		"a url is http":      {`{"url":"https://a.b/c"}`, config.Server{Type: config.HTTP, URL: "https://a.b/c"}},
		"the last port": {`{"url":"https://a:65535","headers":{"X-09":"a\tb"}}`,
			config.Server{Type: config.HTTP, URL: "https://a:65535", Headers: map[string]string{"X-09": "a\tb"}}},
		"both spellings of the type": {`{"type":"http","transport":"streamable-http","url":"http://a"}`,
			config.Server{Type: config.HTTP, URL: "http://a"}},
		"both spellings of the url": {`{"url":"http://a","serverUrl":"http://a"}`,
			config.Server{Type: config.HTTP, URL: "http://a"}},
		"both spellings of enabled": {`{"command":"a","enabled":false,"disabled":true}`,
			config.Server{Type: config.Stdio, Command: "a", Disabled: true}},
		"enabled": {`{"command":"a","enabled":true}`, config.Server{Type: config.Stdio, Command: "a"}},
		"null is what is not set": {
			`{"command":"a","args":null,"env":null,"cwd":null,"url":null,"headers":null,"oauth":null,"type":null,` +
				`"enabled":null,"disabled":null,"description":null,"timeout":null}`,
			config.Server{Type: config.Stdio, Command: "a"}},
		"what has no effect and says nothing": {`{"url":"http://a","args":[],"env":{},"cwd":""}`,
			config.Server{Type: config.HTTP, URL: "http://a"}},
		"scalars as texts": {`{"command":"a","args":["-p",80,true,1.50],"env":{"M":null,"N":12345678901234567890}}`,
			config.Server{Type: config.Stdio, Command: "a", Args: []string{"-p", "80", "true", "1.50"},
				Env: map[string]string{"N": "12345678901234567890"}}},
		"description and timeout": {`{"command":"a","description":"costs ${5}","timeout":0.25}`,
			config.Server{Type: config.Stdio, Command: "a", Description: "costs ${5}", Timeout: 250 * time.Millisecond}},
		"what is not known is kept as it is": {`{"command":"a","x":{"n":1.0e2,/* c */"n":[1,]},"Command":7}`,
			config.Server{Type: config.Stdio, Command: "a", Extra: map[string]json.RawMessage{
				"x": raw(`{"n":1.0e2,       "n":[1 ]}`), "Command": raw("7"),
			}}},
		"oauth": {`{"url":"http://a","oauth":{"clientId":"${ID}","clientSecret":"b","callbackPort":1,"clientName":"n",` +
			`"callbackUrl":"http://127.0.0.1/x","scope":"!a ~b","clientRegistration":"auto",` +
			`"authServerMetadataUrl":"http://localhost:1/m","issuer":"x"}}`,
			config.Server{Type: config.HTTP, URL: "http://a", OAuth: &config.OAuth{
				ClientID: "${ID}", ClientSecret: "b", CallbackPort: 1, CallbackURL: "http://127.0.0.1/x", Scope: "!a ~b",
				ClientName: "n", Registration: config.Auto, AuthServerMetadataURL: "http://localhost:1/m",
				Extra: map[string]json.RawMessage{"issuer": raw(`"x"`)},
			}}},
		"oauth of a document": {`{"url":"http://a","oauth":{"clientRegistration":"cimd","scopes":["a","b"],` +
			`"callbackUrl":"http://[::1]:65535/x","callbackPort":65535}}`,
			config.Server{Type: config.HTTP, URL: "http://a", OAuth: &config.OAuth{
				Registration: config.CIMD, Scope: "a b", CallbackURL: "http://[::1]:65535/x", CallbackPort: 65535,
			}}},
		"an override": {`{"enabled":false,"exposure":"direct"}`,
			config.Server{Disabled: true, Extra: map[string]json.RawMessage{"exposure": raw(`"direct"`)}}},
		"references are checked when they are expanded": {
			`{"url":"${U}","headers":{"A":"${B}"},"oauth":{"callbackUrl":"${C}","authServerMetadataUrl":"${D}"}}`,
			config.Server{Type: config.HTTP, URL: "${U}", Headers: map[string]string{"A": "${B}"},
				OAuth: &config.OAuth{CallbackURL: "${C}", AuthServerMetadataURL: "${D}"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := config.Parse("a-B_1", []byte(test.text), nil)
			require.NoError(t, err)
			test.want.Name = "a-B_1"
			requireServers(t, []config.Server{test.want}, []config.Server{s})
			assert.Equal(t, test.want.Type == "", s.IsOverride())
		})
	}
}

func TestTypeSpellings(t *testing.T) {
	for spelling, want := range map[string]config.Type{
		"stdio": config.Stdio, "local": config.Stdio, "http": config.HTTP, "streamable-http": config.HTTP,
		"streamable_http": config.HTTP, "streamableHttp": config.HTTP, "streamablehttp": config.HTTP, "sse": config.SSE,
	} {
		for _, key := range []string{"type", "transport", "transportType"} {
			target := `"url":"http://a"`
			if want == config.Stdio {
				target = `"command":"a"`
			}
			s, err := config.Parse("a", []byte(`{`+target+`,"`+key+`":"`+spelling+`"}`), nil)
			require.NoError(t, err, spelling)
			assert.Equal(t, want, s.Type, "%s: %s", key, spelling)
		}
	}
}

// TestParseErrors puts the mark | before what the error has to point to.
func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, field, reason string }{
		{`|[]`, "", "must be an object, not an array"},
		{`|null`, "", "must be an object, not null"},
		{`{"command":"a" |"args":[]}`, "", "not JSON: expected a comma"},
		{`{"command":"a",|/* b`, "", "a comment that does not end"},
		{`{"command":"C:|\Users"}`, "", `not JSON: malformed escape (a backslash is written \\)`},
		{`{"command":|"C:\new\tool"}`, "command", `holds a control character (a backslash is written \\)`},
		{`{"command":"a","cwd":|"C:\new"}`, "cwd", `holds a control character (a backslash is written \\)`},

		{`{"command":|["a"]}`, "command", "must be a string, not an array"},
		{`{"command":|" "}`, "command", "is empty"},
		{`{"command":"a","args":|"b"}`, "args", "must be an array, not a string"},
		{`{"command":"a","args":["b",|{}]}`, "args[1]", "must be a string, not an object"},
		{`{"command":"a","args":[|"\u0000"]}`, "args[0]", "holds a NUL"},
		{`{"command":"a","args":["b",|null]}`, "args[1]", "must be a string, not null"},
		{`{"command":"a","env":|[]}`, "env", "must be an object, not an array"},
		{`{"command":"a","env":{"A":|[]}}`, "env.A", "must be a string, not an array"},
		{`{"command":"a","env":{"A=B":|""}}`, "env.A...", "is not a name of a variable"},
		{`{"command":"a","env":{"":|"b"}}`, "env.", "is not a name of a variable"},
		{`{"command":"a","env":{"A":|"s\u0000"}}`, "env.A", "holds a NUL"},
		{`{"command":"a","env":{"A":"b",|"A":"c"}}`, "env.A", "was there before, at 1:23"},
		{`{"command":"a",|"command":"b"}`, "command", "was there before, at 1:2"},
		{`{"x":"a","command":"a",|"x":"b"}`, "x", "was there before, at 1:2"},
		{`{"command":"a","\u0063ommand":"a"}`, "command", "was there before, at 1:2"},
		{`{"command":"a","enabled":|"yes"}`, "enabled", "must be a boolean, not a string"},
		{`{"command":"a","enabled":true,|"disabled":true}`, "disabled", "conflicts with enabled at 1:16"},
		{`{"command":"a","description":|1}`, "description", "must be a string, not a number"},
		{`{"command":"a","timeout":|"30"}`, "timeout", "must be a number, not a string"},
		{`{"command":"a","timeout":|0}`, "timeout", "must be more than 0"},
		{`{"command":"a","timeout":|-1e400}`, "timeout", "must be more than 0"},
		{`{"command":"a","timeout":|1e400}`, "timeout", "must be an hour at most; the unit is 1s"},
		{`{"command":"a","timeout":|30000}`, "timeout", "must be an hour at most; the unit is 1s"},

		{`{"type":|"carrier-pigeon","url":"http://a"}`, "type", "must be one of http, local, sse, stdio, " +
			"streamable-http, streamableHttp, streamable_http, streamablehttp"},
		{`{"type":|"stdio"}`, "type", "stdio needs a command"},
		{`{"transport":|"http"}`, "transport", "http needs a url"},
		{`{"type":|"sse"}`, "type", "sse needs a url"},
		{`{"type":"http","command":|"a"}`, "command", "conflicts with type at 1:9"},
		{`{"transportType":"stdio","url":|"http://a"}`, "url", "conflicts with transportType at 1:18"},
		{`{"command":"a","url":|"http://a"}`, "url", "conflicts with command at 1:12"},
		{`{"httpUrl":|"http://a","command":"a"}`, "httpUrl", "conflicts with command at 1:33"},
		{`{"url":"http://a",|"serverUrl":"http://b"}`, "serverUrl", "conflicts with url at 1:2"},
		{`{"type":"http",|"transport":"sse","url":"http://a"}`, "transport", "conflicts with type at 1:2"},
		{`{"command":"a","headers":|{"A":"b"}}`, "headers", "conflicts with command at 1:12"},
		{`{"command":"a","oauth":|{}}`, "oauth", "conflicts with command at 1:12"},
		{`{"url":"http://a","args":|["b"]}`, "args", "conflicts with url at 1:8"},
		{`{"serverUrl":"http://a","env":|{"A":"b"}}`, "env", "conflicts with serverUrl at 1:14"},
		{`{"url":"http://a","cwd":|"b"}`, "cwd", "conflicts with url at 1:8"},

		{`{"url":|"ftp://a"}`, "url", "is not an http or https URL"},
		{`{"url":|"https://a/mcp "}`, "url", "is not an http or https URL (there is white space around it)"},
		{`{"url":|" https://a"}`, "url", "is not an http or https URL (there is white space around it)"},
		{`{"url":|"http://a:99999"}`, "url", "is not an http or https URL"},
		{`{"url":|"http://a:0"}`, "url", "is not an http or https URL"},
		{`{"url":|"http://a:65536"}`, "url", "is not an http or https URL"},
		{`{"url":|"/mcp"}`, "url", "is not an http or https URL"},
		{`{"serverUrl":|"http://"}`, "serverUrl", "is not an http or https URL"},
		{`{"url":"http://a","headers":{"A B":|"c"}}`, "headers.A...", "is not a name of a header (RFC 9110, section 5.1)"},
		{`{"url":"http://a","headers":{"A":|"b\r\nC: d"}}`, "headers.A", "holds a control character"},
		{`{"url":"http://a","headers":{"A":"b","a":|"c"}}`, "headers.a", "is the same header as A"},

		{`{"command":|"${"}`, "command", "a reference has no } (a ${ that is none is written $${)"},
		{`{"command":"a","args":["b",|"${}"]}`, "args[1]",
			"a reference has no name that can be looked up (a ${ that is none is written $${)"},
		{`{"command":"a","env":{"A":|"${B:-${C}}"}}`, "env.A", "a default has a reference in it"},
		{`{"command":|"${A:-${B}}","args":["${"]}`, "command", "a default has a reference in it"},
		{`{"command":"a","cwd":|"${env:}"}`, "cwd",
			"a reference has no name that can be looked up (a ${ that is none is written $${)"},
		{`{"command":|"${A:=b}"}`, "command",
			"a reference has no name that can be looked up (a ${ that is none is written $${)"},
		{`{"command":|"${A\u001b[2J}"}`, "command",
			"a reference has no name that can be looked up (a ${ that is none is written $${)"},
	} {
		t.Run(test.text, func(t *testing.T) { requireError(t, test.text, "", test.field, test.reason) })
	}
}

func TestOAuthErrors(t *testing.T) {
	const notCallback = "is not an http URL of localhost, 127.0.0.1 or [::1] without a query and a fragment"
	const notMetadata = "is not an https URL, nor an http URL of localhost, 127.0.0.1 or [::1]"
	for _, test := range []struct{ text, field, reason string }{
		{`|true`, "", "must be an object, not a boolean"},
		{`{"clientId":|1}`, "clientId", "must be a string, not a number"},
		{`{"clientId":|""}`, "clientId", "is empty"},
		{`{"clientSecret":|"a"}`, "clientSecret", "needs clientId"},
		{`{"clientId":"a","clientSecret":|" "}`, "clientSecret", "is empty"},
		{`{"callbackPort":|"80"}`, "callbackPort", "must be a number, not a string"},
		{`{"callbackPort":|0}`, "callbackPort", "must be a whole number from 1 to 65535"},
		{`{"callbackPort":|65536}`, "callbackPort", "must be a whole number from 1 to 65535"},
		{`{"callbackPort":|80.5}`, "callbackPort", "must be a whole number from 1 to 65535"},
		{`{"callbackUrl":|"https://localhost/x"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://example.com/x"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://10.0.0.1/x"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://localhost.example/x"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://u@localhost/x"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://localhost/x?y"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://localhost/x#"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"/callback"}`, "callbackUrl", notCallback},
		{`{"callbackUrl":|"http://localhost/x "}`, "callbackUrl", notCallback},
		{`{"callbackPort":81,"callbackUrl":|"http://localhost:80/x"}`, "callbackUrl",
			"conflicts with callbackPort: they name different ports"},
		{`{"scope":["a",|1]}`, "scope[1]", "must be a string, not a number"},
		{`{"scope":|"a\"b"}`, "scope", "is not a list of scopes with spaces between (RFC 6749, section 3.3)"},
		{`{"scopes":["a",|1]}`, "scopes[1]", "must be a string, not a number"},
		{`{"scopes":|["é"]}`, "scopes", "is not a list of scopes with spaces between (RFC 6749, section 3.3)"},
		{`{"scope":"a",|"scopes":"b"}`, "scopes", "conflicts with scope at 1:28"},
		{`{"clientName":|""}`, "clientName", "is empty"},
		{`{"clientRegistration":|"manual"}`, "clientRegistration", "must be one of auto, cimd, dcr"},
		{`{"clientId":"a","clientRegistration":|"cimd"}`, "clientRegistration", `"cimd" conflicts with clientId`},
		{`{"clientRegistration":|"cimd","clientName":"a"}`, "clientRegistration",
			`"cimd" conflicts with clientName: the name is in the document`},
		{`{"clientRegistration":|"dcr","clientId":"a"}`, "clientRegistration",
			`"dcr" conflicts with clientId: a client that is registered is not registered again`},
		{`{"authServerMetadataUrl":|"http://example.com/m"}`, "authServerMetadataUrl", notMetadata},
		{`{"authServerMetadataUrl":|"https://u:p@example.com/m"}`, "authServerMetadataUrl", notMetadata},
		{`{"authServerMetadataUrl":|"https://example.com/m#f"}`, "authServerMetadataUrl", notMetadata},
		{`{"authServerMetadataUrl":|"file:///m"}`, "authServerMetadataUrl", notMetadata},
		{`{"clientId":"a",|"clientId":"a"}`, "clientId", "was there before, at 1:28"},
		{`{"clientId":|"${"}`, "clientId", "a reference has no } (a ${ that is none is written $${)"},
	} {
		t.Run(test.text, func(t *testing.T) {
			field := strings.TrimSuffix("oauth."+test.field, ".")
			requireError(t, `{"url":"http://a","oauth":`+test.text+`}`, "", field, test.reason)
		})
	}
}

// requireError parses the text without its mark, and looks for the error at the mark.
func requireError(t *testing.T, text, file, field, reason string) {
	t.Helper()
	before, after, marked := strings.Cut(text, "|")
	s, err := config.Parse("a", []byte(before+after), nil)
	var e *config.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, config.Server{}, s)
	want := config.Error{File: file, Line: e.Line, Column: e.Column, Server: "a", Field: field, Reason: reason}
	if marked {
		want.Line, want.Column = 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n")
	}
	assert.Equal(t, want, *e)
}

func TestNames(t *testing.T) {
	for _, name := range []string{
		"a", "A-b_9", "-", "0", "io.github.example/forge", "github.com/example/servers/tree/main/src/time", "My Server (old)",
		"数据库", "café", "a@b",
	} {
		_, err := config.Parse(name, []byte(`{"command":"a"}`), nil)
		assert.NoError(t, err, name)
	}
	for _, name := range []string{
		"", " ", " a", "a ", "a\n", "a\tb", "a\u00a0b", "a\u200bb", "\u202ea", "a\x1b[2J", "caf\xe9",
	} {
		_, err := config.Parse(name, []byte(`{"command":"a"}`), nil)
		assert.ErrorContains(t, err, "the name must be printable text without white space around it", name)
	}
}

func TestRefuseSSE(t *testing.T) {
	entry := []byte(`{"url": "http://a", "transport": "sse"}`)
	s, err := config.Parse("a", entry, nil)
	require.NoError(t, err)
	assert.Equal(t, config.SSE, s.Type)

	_, err = config.Parse("a", entry, &config.Options{RefuseSSE: true})
	assert.EqualError(t, err, `config: 1:34: server "a": transport: the deprecated HTTP+SSE transport is refused`)
	_, err = config.Parse("a", []byte(`{"url": "http://a"}`), &config.Options{RefuseSSE: true})
	assert.NoError(t, err)
}

func TestTimeoutUnit(t *testing.T) {
	milliseconds := &config.Options{TimeoutUnit: time.Millisecond}
	s, err := config.Parse("a", []byte(`{"command":"a","timeout":3600000}`), milliseconds)
	require.NoError(t, err)
	assert.Equal(t, time.Hour, s.Timeout)
	_, err = config.Parse("a", []byte(`{"command":"a","timeout":3600001}`), milliseconds)
	assert.ErrorContains(t, err, "must be an hour at most; the unit is 1ms")
}
