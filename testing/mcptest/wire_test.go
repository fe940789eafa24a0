package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A wire is a client without a mind: the test says what it sends.
type wire struct {
	t    *testing.T
	conn transport.Conn
	id   int64
}

func dial(t *testing.T, s *mcptest.Server) *wire {
	t.Helper()
	conn, err := s.Transport().Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &wire{t: t, conn: conn}
}

func (w *wire) send(m *transport.Message) {
	w.t.Helper()
	require.NoError(w.t, w.conn.Send(w.t.Context(), one(m)))
}

func (w *wire) notify(method, params string) {
	w.t.Helper()
	w.send(&transport.Message{Method: method, Params: json.RawMessage(params)})
}

// request sends one and returns its id.
func (w *wire) request(method, params string) transport.ID {
	w.t.Helper()
	w.id++
	w.send(&transport.Message{ID: transport.IntID(w.id), Method: method, Params: json.RawMessage(params)})
	return transport.IntID(w.id)
}

func (w *wire) next() *transport.Message {
	w.t.Helper()
	m, err := w.conn.Receive(w.t.Context())
	require.NoError(w.t, err)
	return m
}

// call returns the result, or the error as "code message".
func (w *wire) call(method, params string) string {
	w.t.Helper()
	id := w.request(method, params)
	m := w.next()
	require.Equal(w.t, id, m.ID)
	if m.Error != nil {
		return strings.TrimSpace(m.Error.Error() + " " + string(m.Error.Data))
	}
	return string(m.Result)
}

// isSilent checks that nothing waits to be received: it would come before the answer to a ping. It works in a bubble
// only.
func (w *wire) isSilent() {
	w.t.Helper()
	synctest.Wait()
	assert.Equal(w.t, `{}`, w.call("ping", ""))
}

func TestNegotiation(t *testing.T) {
	for name, test := range map[string]struct {
		speaks      []string
		asked, want string
	}{
		"all, newest":  {nil, "2025-11-25", "2025-11-25"},
		"all, oldest":  {nil, "2024-11-05", "2024-11-05"},
		"all, unknown": {nil, "2099-01-01", "2025-11-25"},
		"two, one":     {[]string{"2024-11-05", "2025-03-26"}, "2024-11-05", "2024-11-05"},
		"two, other":   {[]string{"2024-11-05", "2025-03-26"}, "2025-11-25", "2025-03-26"},
		"nonsense":     {[]string{"1999-01-01"}, "2025-11-25", "1999-01-01"},
		"both eras":    {[]string{"2026-07-28", "2025-03-26"}, "2026-07-28", "2025-03-26"},
	} {
		t.Run(name, func(t *testing.T) {
			info := mcp.Implementation{Name: "n", Version: "v"}
			s := &mcptest.Server{Versions: test.speaks, Info: info, Instructions: "Do."}
			got := dial(t, s).call("initialize", `{"protocolVersion":"`+test.asked+`",
				"capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}`)
			assert.JSONEq(t, `{"protocolVersion":"`+test.want+`","capabilities":{},
				"serverInfo":{"name":"n","version":"v"},"instructions":"Do."}`, got)
			session := s.Sessions()[0]
			assert.Equal(t, test.want, session.Version())
			assert.Equal(t, "c", session.Client().Name)
			assert.JSONEq(t, `{"roots":{}}`, string(session.ClientCapabilities()))
		})
	}
}

func TestCapabilitiesFollowFromWhatWasAdded(t *testing.T) {
	tool := func(s *mcptest.Server) {
		s.AddTool(&mcp.Tool{Name: "t"}, doNothing)
	}
	for name, test := range map[string]struct {
		add  func(*mcptest.Server)
		want string
	}{
		"nothing": {func(*mcptest.Server) {}, `{}`},
		"tools":   {tool, `{"tools":{"listChanged":true}}`},
		"resources": {func(s *mcptest.Server) {
			s.AddResource(&mcp.Resource{URI: "a:b"}, nil)
		}, `{"resources":{"listChanged":true,"subscribe":true}}`},
		"templates": {func(s *mcptest.Server) {
			s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "a:{b}"}, nil)
		}, `{"resources":{"listChanged":true,"subscribe":true}}`},
		"prompts": {func(s *mcptest.Server) {
			s.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
		}, `{"prompts":{"listChanged":true}}`},
		"logging": {func(s *mcptest.Server) { s.Logging = true }, `{"logging":{}}`},
		"completions": {func(s *mcptest.Server) {
			s.Complete = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) { return nil, nil }
		}, `{"completions":{}}`},
		"as told": {func(s *mcptest.Server) {
			tool(s)
			s.Capabilities = json.RawMessage(`{"tools":true}`)
		}, `{"tools":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(mcptest.Server)
			test.add(s)
			var result struct{ Capabilities json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(dial(t, s).call("initialize", `{}`)), &result))
			assert.JSONEq(t, test.want, string(result.Capabilities))
		})
	}
}

func TestWhatIsNotOfferedIsNotKnown(t *testing.T) {
	w := dial(t, new(mcptest.Server))
	assert.Equal(t, `{}`, w.call("ping", ""))
	for _, method := range []string{
		"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete",
		"logging/setLevel",
	} {
		assert.Equal(t, "unknown method: "+method+" (-32601)", w.call(method, `{"uri":"a:b","level":"info","name":"n"}`))
	}
}

func TestALegacyServerKnowsNothingModern(t *testing.T) {
	w := dial(t, &mcptest.Server{Versions: []string{mcp.Version20251125}})
	for _, method := range []string{"server/discover", "subscriptions/listen"} {
		assert.Equal(t, "unknown method: "+method+" (-32601)", w.call(method, modernParams))
	}
	assert.Equal(t, `{}`, w.call("ping", modernParams), "it takes no notice of what it does not know")
}

func TestHandle(t *testing.T) {
	gives := func(result any, err error) mcptest.Handler {
		return func(context.Context, *mcptest.Call) (any, error) { return result, err }
	}
	refusal := &mcp.RPCError{Code: -5, Message: "no", Data: json.RawMessage(`{}`)}
	for name, test := range map[string]struct {
		handler mcptest.Handler
		want    string
	}{
		"value":     {gives(map[string]any{"a": "<"}, nil), `{"a":"<"}`},
		"raw":       {gives(json.RawMessage(`[1]`), nil), `[1]`},
		"none":      {gives(nil, nil), `{}`},
		"RPC error": {gives(nil, refusal), `no (-5) {}`},
		"error":     {gives(nil, errors.New("broken")), `broken (-32603)`},
		"not JSON":  {gives(json.RawMessage(`{`), nil), `invalid JSON (-32603)`},
		"params":    {func(_ context.Context, call *mcptest.Call) (any, error) { return call.Params, nil }, `{"x":1}`},
		"forgotten": {nil, `unknown method: ping (-32601)`},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(mcptest.Server)
			s.Handle("ping", test.handler)
			assert.Equal(t, test.want, dial(t, s).call("ping", `{"x":1}`))
		})
	}
}

func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mcptest.Server)
		s.Handle("silent", func(context.Context, *mcptest.Call) (any, error) { return nil, mcptest.ErrNoAnswer })
		s.AddTool(&mcp.Tool{Name: "silent"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			return nil, mcptest.ErrNoAnswer
		})
		w := dial(t, s)
		w.request("silent", "")
		w.request("tools/call", `{"name":"silent"}`)
		w.isSilent()
	})
}

func TestACancelledRequestIsNotAnswered(t *testing.T) {
	for _, id := range []string{`0`, `"x"`} { // field case 31
		synctest.Test(t, func(t *testing.T) {
			s := new(mcptest.Server)
			ended := false
			s.Handle("slow", func(ctx context.Context, _ *mcptest.Call) (any, error) {
				<-ctx.Done()
				ended = true
				return nil, nil
			})
			w := dial(t, s)
			parsed, err := transport.ParseID([]byte(id))
			require.NoError(t, err)
			w.send(&transport.Message{ID: parsed, Method: "slow"})
			for _, other := range []string{`{"requestId":99}`, `{"requestId":null}`, `{}`, `[]`} {
				w.notify("notifications/cancelled", other)
			}
			w.isSilent()
			assert.False(t, ended)
			w.notify("notifications/cancelled", `{"requestId":`+id+`}`)
			w.isSilent()
			assert.True(t, ended)
		})
	}
}

func TestTheSessionsEndEndsHandlers(t *testing.T) {
	s := new(mcptest.Server)
	started, ended := make(chan struct{}), make(chan error)
	s.Handle("slow", func(ctx context.Context, _ *mcptest.Call) (any, error) {
		close(started)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, nil
	})
	w := dial(t, s)
	w.request("slow", "")
	<-started
	w.conn.Close()
	require.ErrorIs(t, <-ended, transport.ErrClosed)
	require.Empty(t, s.Sessions())
}

func TestNotificationsAreHandledOnTop(t *testing.T) {
	s := new(mcptest.Server)
	told := make(chan string)
	s.Handle("notifications/cancelled", func(_ context.Context, call *mcptest.Call) (any, error) {
		told <- string(call.Params)
		return nil, errors.New("nobody hears this")
	})
	s.Handle("slow", func(ctx context.Context, _ *mcptest.Call) (any, error) { <-ctx.Done(); return nil, nil })
	w := dial(t, s)
	w.request("slow", "")
	w.notify("notifications/cancelled", `{"requestId":1}`)
	assert.Equal(t, `{"requestId":1}`, <-told)
	assert.Equal(t, `{}`, w.call("ping", ""))
}

func TestReceivedKeepsEverything(t *testing.T) {
	s := new(mcptest.Server)
	w := dial(t, s)
	w.notify("a", `{"n":1}`)
	w.send(&transport.Message{Fault: errors.New("noise")})
	w.send(&transport.Message{ID: transport.IntID(77), Result: json.RawMessage(`{}`)})
	w.call("ping", "")
	w.notify("a", `{"n":2}`)
	w.call("ping", "")
	require.Len(t, s.Received(), 6)
	assert.EqualError(t, s.Received()[1].Fault, "noise")
	assert.Equal(t, transport.IntID(77), s.Received()[2].ID)
	got := s.Received("a", "b")
	require.Len(t, got, 2)
	assert.Equal(t, `{"n":2}`, string(got[1].Params))
}

func TestSendSendsAnything(t *testing.T) {
	s := new(mcptest.Server)
	s.Handle("odd", func(ctx context.Context, call *mcptest.Call) (any, error) {
		for _, m := range []*transport.Message{
			{ID: transport.IntID(999), Result: json.RawMessage(`{}`)},
			{Fault: &transport.FaultError{Reason: "banner"}},
		} {
			if err := call.Session.Send(ctx, m); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	w := dial(t, s)
	id := w.request("odd", "")
	assert.Equal(t, transport.IntID(999), w.next().ID)
	assert.EqualError(t, w.next().Fault, "banner")
	assert.Equal(t, id, w.next().ID)
}

func TestAskingStartsAtZeroAndStopsWithCtx(t *testing.T) {
	s := new(mcptest.Server)
	w := dial(t, s)
	w.call("ping", "")
	session := s.Sessions()[0]
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := session.Request(ctx, "roots/list", nil)
		failed <- err
	}()
	m := w.next()
	assert.Equal(t, transport.IntID(0), m.ID)
	assert.Nil(t, m.Params)
	cancel(cause)
	require.ErrorIs(t, <-failed, cause)
	m = w.next()
	assert.Equal(t, "notifications/cancelled", m.Method)
	assert.JSONEq(t, `{"requestId":0}`, string(m.Params))
	w.send(&transport.Message{ID: transport.IntID(0), Result: json.RawMessage(`{}`)}) // late, and for nobody
	w.call("ping", "")

	go func() {
		_, err := session.Request(t.Context(), "roots/list", nil)
		failed <- err
	}()
	assert.Equal(t, transport.IntID(1), w.next().ID)
	w.conn.Close()
	require.ErrorIs(t, <-failed, transport.ErrClosed)
}
