package transport_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func decode(text string) []*transport.Message {
	return slices.Collect(transport.Decode([]byte(text)))
}

func TestDecode(t *testing.T) {
	type message = transport.Message
	type rpcError = transport.RPCError
	id1 := transport.IntID(1)
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, test := range map[string]struct {
		text string
		want message
	}{
		"request": {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, message{ID: id1, Method: "ping"}},
		"id 0": {
			`{"jsonrpc":"2.0","id":0,"method":"ping"}`,
			message{ID: transport.IntID(0), Method: "ping"},
		},
		"text id": {
			`{"jsonrpc":"2.0","id":"x","method":"ping"}`,
			message{ID: parseID(t, `"x"`), Method: "ping"},
		},
		"notification": {
			`{"jsonrpc":"2.0","method":"a\/\u0062","params":{ "a":[1] }}`,
			message{Method: "a/b", Params: raw(`{ "a":[1] }`)},
		},
		"notification, null": {
			`{"jsonrpc":"2.0","id":null,"method":"n"}`,
			message{ID: parseID(t, `null`), Method: "n"},
		},
		"result": {
			` {"jsonrpc":"2.0", "id" : 1 ,"result":{"a":9007199254740993}}` + "\r",
			message{ID: id1, Result: raw(`{"a":9007199254740993}`)},
		},
		"null result":       {`{"jsonrpc":"2.0","id":1,"result":null}`, message{ID: id1, Result: raw(`null`)}},
		"result without id": {`{"jsonrpc":"2.0","result":null}`, message{Result: raw(`null`)}},
		"result, id null": {
			`{"jsonrpc":"2.0","id":null,"result":{}}`,
			message{ID: parseID(t, `null`), Result: raw(`{}`)},
		},
		"error": {
			`{"id":1,"error":{"code":-32601,"message":"no","data":{"a":1}}}`,
			message{ID: id1, Error: &rpcError{Code: -32601, Message: "no", Data: raw(`{"a":1}`)}},
		},
		"no jsonrpc": {`{"id":1,"result":{}}`, message{ID: id1, Result: raw(`{}`)}},
		"unknown members": {
			`{"jsonrpc":"1.0","x":[{}],"id":1,"result":{},"y":null}`,
			message{ID: id1, Result: raw(`{}`)},
		},
		"last one counts": {`{"id":2,"id":1,"result":1,"result":2}`, message{ID: id1, Result: raw(`2`)}},
		"params null":     {`{"method":"n","params":null}`, message{Method: "n"}},
		"error null":      {`{"id":1,"result":{},"error":null}`, message{ID: id1, Result: raw(`{}`)}},
		"both nulls":      {`{"id":1,"result":null,"error":null}`, message{ID: id1, Result: raw(`null`)}},
		"error wins": {
			`{"id":1,"result":{},"error":{"code":1,"message":"m"}}`,
			message{ID: id1, Error: &rpcError{Code: 1, Message: "m"}},
		},
		"nulls of a request": {`{"id":1,"method":"m","result":null,"error":null}`, message{ID: id1, Method: "m"}},
		"answer names method": {
			`{"id":1,"method":"m","params":{},"result":{}}`,
			message{ID: id1, Result: raw(`{}`)},
		},
		"method null": {`{"id":1,"method":null,"result":{}}`, message{ID: id1, Result: raw(`{}`)}},
		"code float": {
			`{"id":1,"error":{"code":-32601.0}}`,
			message{ID: id1, Error: &rpcError{Code: -32601}},
		},
		"code text": {
			`{"id":1,"error":{"code":"-32601","message":null}}`,
			message{ID: id1, Error: &rpcError{Code: -32601}},
		},
		"code nonsense": {
			`{"id":1,"error":{"code":{"a":1},"message":5,"data":null}}`,
			message{ID: id1, Error: &rpcError{}},
		},
		"code word": {
			`{"id":1,"error":{"code":"E_FAIL","message":"m"}}`,
			message{ID: id1, Error: &rpcError{Message: "m"}},
		},
		"error text": {`{"id":1,"error":"boom"}`, message{ID: id1, Error: &rpcError{Message: "boom"}}},
		"error list": {
			`{"id":1,"error":["boom"]}`,
			message{ID: id1, Error: &rpcError{Data: raw(`["boom"]`)}},
		},
		"error empty": {`{"id":1,"error":{}}`, message{ID: id1, Error: &rpcError{}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := decode(test.text)
			require.Len(t, got, 1)
			assert.Equal(t, test.want, *got[0])
		})
	}
}

func TestWhatIsNoMessageIsAFault(t *testing.T) {
	id7 := transport.IntID(7)
	for name, test := range map[string]struct {
		text   string
		reason string
		id     transport.ID
	}{
		"banner":            {`Server listening on stdio`, "not a message: expected an object", transport.ID{}},
		"empty":             {``, "not a message: unexpected end", transport.ID{}},
		"number":            {`5`, "expected an object, found a number", transport.ID{}},
		"string":            {`"hello"`, "expected an object, found a string", transport.ID{}},
		"null":              {`null`, "neither a method, a result nor an error", transport.ID{}},
		"empty object":      {`{}`, "neither a method, a result nor an error", transport.ID{}},
		"empty batch":       {` [ ] `, "empty batch", transport.ID{}},
		"broken batch":      {`[{"method":"n"},`, "not a message: ", transport.ID{}},
		"log line":          {`{"level":"info","id":7,"msg":"started"}`, "neither a method", transport.ID{}},
		"answer to nothing": {`{"jsonrpc":"2.0","id":7}`, "neither a method", id7},
		"id of wrong type": {
			`{"jsonrpc":"2.0","id":[7],"result":{}}`,
			"an id is a string or a number", transport.ID{},
		},
		"method of number":  {`{"jsonrpc":"2.0","id":7,"method":5}`, "the method is not a string", id7},
		"NaN":               {`{"jsonrpc":"2.0","id":7,"result":{"a":NaN}}`, "result: expected a value", id7},
		"NaN before id":     {`{"jsonrpc":"2.0","result":{"a":NaN},"id":7}`, "result: expected a value", id7},
		"NaN, no jsonrpc":   {`{"id":7,"result":{"a":NaN}}`, "result: expected a value", transport.ID{}},
		"cut off":           {`{"jsonrpc":"2.0","id":7,"result":{"a`, "unexpected end", id7},
		"cut off in the id": {`{"jsonrpc":"2.0","id":7`, "unexpected end", transport.ID{}},
		"two on a line": {
			`{"jsonrpc":"2.0","id":7,"result":{}}{"jsonrpc":"2.0","id":8,"result":{}}`,
			"unexpected data", id7,
		},
		"too deep": {
			`{"jsonrpc":"2.0","id":7,"result":` + strings.Repeat("[", 20_000),
			"nested too deeply", id7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := decode(test.text)
			require.Len(t, got, 1)
			var fault *transport.FaultError
			require.ErrorAs(t, got[0].Fault, &fault)
			assert.Contains(t, fault.Reason, test.reason)
			assert.Equal(t, test.text[:min(len(test.text), 256)], fault.Prefix)
			assert.Equal(t, test.id, got[0].ID)
			assert.Empty(t, got[0].Method)
		})
	}
}

func TestBatchesAreTakenApart(t *testing.T) { // field case 23
	got := decode(` [{"id":1,"result":{}} , 5,[{"id":2,"result":{}}],` + "\t" + `{"method":"n"}, {"id":"]","error":{}}]`)
	require.Len(t, got, 5)
	for _, m := range got {
		assert.True(t, m.Batch)
	}
	assert.Equal(t, transport.IntID(1), got[0].ID)
	assert.ErrorContains(t, got[1].Fault, "found a number")
	assert.ErrorContains(t, got[2].Fault, "found an array")
	assert.Equal(t, "n", got[3].Method)
	assert.Equal(t, parseID(t, `"]"`), got[4].ID)
}

func TestABatchIsDecodedAsItIsAskedFor(t *testing.T) {
	text := []byte("[" + strings.Repeat("1,", 1<<20) + "1]")
	allocs := testing.AllocsPerRun(1, func() {
		for range transport.Decode(text) {
			break
		}
	})
	assert.Less(t, allocs, 20.0)
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"id":"1","result":{"a":[1.5e3,null]}}`,
		`[{"id":0,"error":{"code":"1","message":"\u00e9"}},{"method":"n"}]`,
		`{"method":"a\nb","params":{"x":1}}`, "{\"method\":\"n\",\"params\":[\n1\r\n]}", `{"id":null,"result":null}`,
		`{"id":-0,"error":"x"}`, `[]`, `[[`, `5`,
		`{"jsonrpc":"2.0","result":{"a":NaN},"id":7}`, "\"\xff\"", `{"id":1e400,"result":0}`,
		`{"id":1,"error":{"data":{"a":"b"}},"result":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for m := range transport.Decode(data) {
			n++
			if m.Fault != nil {
				continue
			}
			text, err := m.Append(nil)
			if err != nil {
				// Bytes that are not UTF-8 are tolerated coming in only.
				require.ErrorContains(t, err, "UTF-8")
				continue
			}
			require.NotContains(t, string(text), "\n")
			require.NotContains(t, string(text), "\r")
			again := slices.Collect(transport.Decode(slices.Clone(text)))
			require.Len(t, again, 1)
			require.NoError(t, again[0].Fault)
			twice, err := again[0].Append(nil)
			require.NoError(t, err)
			require.Equal(t, string(text), string(twice))
			if again[0].Batch = m.Batch; !strings.ContainsAny(string(data), "\r\n") {
				require.Equal(t, m, again[0])
			}
		}
		require.Positive(t, n)
	})
}
