package transport_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestEncode(t *testing.T) {
	type message = transport.Message
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, test := range map[string]struct {
		message message
		want    string
	}{
		"request": {
			message{ID: transport.IntID(0), Method: "ping"},
			`{"jsonrpc":"2.0","id":0,"method":"ping"}`,
		},
		"notification": {
			message{Method: "n", Params: raw(`{"a":1}`)},
			`{"jsonrpc":"2.0","method":"n","params":{"a":1}}`,
		},
		"null params": {message{Method: "n", Params: raw(`null`)}, `{"jsonrpc":"2.0","method":"n"}`},
		"result": {
			message{ID: parseID(t, `"a"`), Result: raw(`{}`)},
			`{"jsonrpc":"2.0","id":"a","result":{}}`,
		},
		"null result": {
			message{ID: transport.IntID(1), Result: raw(`null`)},
			`{"jsonrpc":"2.0","id":1,"result":null}`,
		},
		"error": {
			message{ID: transport.IntID(1), Error: &transport.RPCError{Code: -32601, Message: "no"}},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		},
		"error data": {
			message{ID: parseID(t, `null`), Error: &transport.RPCError{Data: raw(`[1]`)}},
			`{"jsonrpc":"2.0","id":null,"error":{"code":0,"message":"","data":[1]}}`,
		},
		"no HTML escape": {
			message{Method: "n", Params: raw(`{"q":"a<b && c>d"}`)},
			`{"jsonrpc":"2.0","method":"n","params":{"q":"a<b && c>d"}}`,
		},
		"big integers": {
			message{Method: "n", Params: raw(`[9007199254740993]`)},
			`{"jsonrpc":"2.0","method":"n","params":[9007199254740993]}`,
		},
		"pretty printed": {
			message{Method: "n", Params: raw("{\r\n  \"a\": [\n    1\n  ]\r}\n")},
			`{"jsonrpc":"2.0","method":"n","params":{"a":[1]}}`,
		},
		"old Mac": {message{Method: "n", Params: raw("{\r}")}, `{"jsonrpc":"2.0","method":"n","params":{}}`},
		"escapes": {
			message{Method: "a\"\\\n\u2028é\xff"},
			`{"jsonrpc":"2.0","method":"a\"\\\n\u2028é` + "\ufffd" + `"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.message.Append([]byte("before "))
			require.NoError(t, err)
			assert.Equal(t, "before "+test.want, string(got))
			assert.True(t, json.Valid(got[len("before "):]))
		})
	}
}

func TestWhatWouldBreakTheFramingIsNotEncoded(t *testing.T) {
	const secret = "hunter2"
	for name, m := range map[string]transport.Message{
		"truncated":        {Method: "n", Params: json.RawMessage(`{"a":"` + secret)},
		"two values":       {Method: "n", Params: json.RawMessage(`{} {}`)},
		"second line":      {Method: "n", Params: json.RawMessage("{}\n{\"a\":\"" + secret + "\"}")},
		"newline in text":  {Method: "n", Params: json.RawMessage("\"" + secret + "\n\"")},
		"closes the brace": {ID: transport.IntID(1), Result: json.RawMessage(`1},{"a":"` + secret + `"`)},
		"error data":       {ID: transport.IntID(1), Error: &transport.RPCError{Data: json.RawMessage(secret)}},
		"not UTF-8":        {Method: "n", Params: json.RawMessage("\"" + secret + "\xff\"")},
		"empty result":     {ID: transport.IntID(1), Result: json.RawMessage{}},
		"nothing":          {ID: transport.IntID(1)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Append([]byte("before"))
			require.Error(t, err)
			assert.Equal(t, "before", string(got))
			assert.NotContains(t, err.Error(), secret)
		})
	}
}
