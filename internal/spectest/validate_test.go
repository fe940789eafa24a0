package spectest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A judge holds the messages of a client against the schema of a revision, and keeps which definitions it has used.
type judge struct {
	*spec
	open     *validator
	closed   *validator
	byMethod map[string]string // the definitions of requests and notifications
	used     map[string]bool
}

func newJudge(t testing.TB, s *spec) *judge {
	t.Helper()
	j := &judge{spec: s, byMethod: make(map[string]string), used: make(map[string]bool)}
	closed := loadSpec(t, s.revision)
	allowLater(closed, loadSpec(t, revisions[len(revisions)-1]))
	closeObjects(closed.document)
	j.open, j.closed = newValidator(t, s), newValidator(t, closed)
	for name := range s.defs {
		properties, _ := s.def(name)["properties"].(object)
		method, _ := properties["method"].(object)
		if constant, ok := method["const"].(string); ok && !strings.HasPrefix(name, "Client") {
			j.byMethod[constant] = name
		}
	}
	require.NotEmpty(t, j.byMethod)
	return j
}

// allowLater adds what later revisions say of how a client introduces itself. When it does, it does not know yet which
// revision the server will choose; an older one ignores what it does not know, and capabilities are no closed set.
func allowLater(s, latest *spec) {
	for _, name := range []string{"Implementation", "ClientCapabilities"} {
		properties := s.def(name)["properties"].(object)
		for member := range latest.def(name)["properties"].(object) {
			if properties[member] == nil {
				properties[member] = true
			}
		}
	}
}

// closeObjects has a schema refuse members that it does not name, so that a misspelt one cannot pass for an extension.
// What is made to be extended stays open.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, one := range s {
			closeObjects(one)
		}
	case object:
		for name, inner := range s {
			if name == "params" {
				allowMeta(inner)
			}
			if name != "_meta" && !strings.HasSuffix(name, "MetaObject") && name != "allOf" {
				closeObjects(inner)
			}
		}
		if _, says := s["additionalProperties"]; !says && s["type"] == "object" && s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
}

// allowMeta adds _meta, which until 2025-06-18 only the base of all requests names.
func allowMeta(params any) {
	s, _ := params.(object)
	if properties, ok := s["properties"].(object); ok && properties["_meta"] == nil {
		properties["_meta"] = object{"type": "object"}
	}
}

// judge returns what is wrong with a message.
func (j *judge) judge(m *sentMessage) error {
	value, err := decode(m.text)
	if err != nil {
		return err
	}
	message := value.(object)
	switch {
	case m.IsRequest(), m.IsNotification():
		return j.judgeCall(m, message)
	case m.Error != nil:
		return j.check(j.first("JSONRPCErrorResponse", "JSONRPCError"), message)
	}
	if err := j.check(j.first("JSONRPCResultResponse", "JSONRPCResponse"), message); err != nil {
		return err
	}
	return j.check(j.resultOf(m.answers), message["result"])
}

func (j *judge) judgeCall(m *sentMessage, message object) error {
	union, base := "ClientRequest", "JSONRPCRequest"
	if m.IsNotification() {
		union, base = "ClientNotification", "JSONRPCNotification"
	}
	if err := j.open.check(base, message); err != nil {
		return err
	}
	definition := j.byMethod[m.Method]
	if !slices.Contains(j.allowed(union), definition) {
		return fmt.Errorf("%s %q is none of %s", definition, m.Method, union)
	}
	properties := j.def(definition)["properties"].(object)
	bare := maps.Clone(message)
	for _, name := range []string{"jsonrpc", "id"} { // which are not in the definitions until 2025-06-18
		if properties[name] == nil {
			delete(bare, name)
		}
	}
	if err := j.check(definition, bare); err != nil {
		return err
	}
	if params, ok := message["params"].(object); ok {
		return j.judgeInput(m, params)
	}
	return nil
}

// judgeInput checks each answer to a request for input as what it was asked for, which the union of them does not tell.
func (j *judge) judgeInput(m *sentMessage, params object) error {
	responses, _ := params["inputResponses"].(object)
	for key, response := range responses {
		if err := j.check(j.resultOf(m.inputs[key]), response); err != nil {
			return fmt.Errorf("input %q: %w", key, err)
		}
	}
	return nil
}

// check checks a value as the schema is, and as it is without room for more.
func (j *judge) check(definition string, value any) error {
	j.used[definition] = true
	if err := j.open.check(definition, value); err != nil {
		return err
	}
	if err := j.closed.check(definition, value); err != nil {
		return fmt.Errorf("has members that the schema does not name: %w", err)
	}
	return nil
}

// allowed are the members of a union. That of notifications has been replaced by its only member in 2026-07-28.
func (j *judge) allowed(union string) []string {
	if members := j.members(union); members[0] != union {
		return members
	}
	method := j.def(union)["properties"].(object)["method"].(object)["const"].(string)
	return []string{j.byMethod[method]}
}

// resultOf is the definition of the result of a request.
func (j *judge) resultOf(method string) string {
	return j.first(strings.TrimSuffix(j.byMethod[method], "Request")+"Result", "EmptyResult")
}

// first is the first of some definitions that the revision has.
func (j *judge) first(names ...string) string {
	for _, name := range names {
		if j.defs[name] != nil {
			return name
		}
	}
	return "missing definition: " + strings.Join(names, ", ")
}

// revisionOf is the revision whose schema a message has to fit: that which it was sent under, or the one that it asks
// for when there is none yet.
func revisionOf(m *sentMessage) string {
	if m.version != "" {
		return m.version
	}
	var params struct{ ProtocolVersion string }
	_ = json.Unmarshal(m.Params, &params)
	return params.ProtocolVersion
}

// The judge finds what is wrong.
func TestJudge(t *testing.T) {
	legacy := newJudge(t, loadSpec(t, mcp.Version20241105))
	modern := newJudge(t, loadSpec(t, mcp.Version20260728))
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	const again = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",` + meta + `,"inputResponses":`
	for _, test := range []struct {
		*judge
		text, answers, want string
	}{
		{legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"x":1}}}`, "", ""},
		{legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, "", "CallToolRequest"},
		{legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","args":{}}}`, "", "does not name"},
		{legacy, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, "", "none of ClientRequest"},
		{legacy, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`, "", "none of ClientRequest"},
		{legacy, `{"jsonrpc":"2.0","id":1,"result":[]}`, "ping", "JSONRPCResponse"},
		{legacy, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, "", "CancelledNotification"},
		{legacy, `{"jsonrpc":"2.0","id":1,"result":{}}`, "ping", ""},
		{legacy, `{"jsonrpc":"2.0","id":1,"result":{"roots":null}}`, "roots/list", "ListRootsResult"},
		{legacy, `{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}`, "ping", "JSONRPCError"},
		{modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, "", ""},
		{modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", "ListToolsRequest"},
		{modern, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`, "", "none of ClientRequest"},
		{modern, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "none of ClientNotification"},
		{modern, again + `{"k":{"roots":[]}}}}`, "", ""},
		{modern, again + `{"k":{"action":"accept"}}}}`, "", "ListRootsResult"},
	} {
		for m := range transport.Decode([]byte(test.text)) {
			sent := &sentMessage{
				Message: *m, text: []byte(test.text), answers: test.answers,
				inputs: map[string]string{"k": "roots/list"},
			}
			err := test.judge.judge(sent)
			if test.want == "" {
				assert.NoError(t, err, test.text)
			} else {
				assert.ErrorContains(t, err, test.want, test.text)
			}
		}
	}
}
