package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// ask sends a request of the server and returns the client's answer to it.
func (p *peer) ask(id, method, params string) wire {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	m := p.read()
	require.Equal(p.t, id, string(m.ID), "the id comes back byte for byte")
	require.Empty(p.t, m.Method)
	return m
}

func TestPingsAreAnsweredEvenBeforeInitialized(t *testing.T) {
	tr, p := pair(t)
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
	init := p.expect("initialize")
	for _, id := range []string{`0`, `"abc"`, `1`, `"\u0031"`, `12345678901234567890`} {
		assert.JSONEq(t, `{}`, string(p.ask(id, "ping", `{}`).Result))
	}
	p.answer(init, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
	p.expect("notifications/initialized")
	c, err := connect()
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestRequestsWithoutAHandlerAreRefused(t *testing.T) {
	_, p := connected(t, nil)
	for _, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "no/such"} {
		m := p.ask(`7`, method, `{}`)
		require.NotNil(t, m.Error, method)
		assert.EqualValues(t, mcp.CodeMethodNotFound, m.Error.Code)
	}
}

func TestCapabilitiesFollowFromHandlers(t *testing.T) {
	elicit := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, nil }
	for want, o := range map[string]*mcp.Options{
		`{}`:                                   nil,
		`{"roots":{"listChanged":true}}`:       {Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil }},
		`{"elicitation":{"form":{}}}`:          {Elicit: elicit},
		`{"elicitation":{"url":{}}}`:           {ElicitURL: elicit},
		`{"elicitation":{"form":{},"url":{}}}`: {Elicit: elicit, ElicitURL: elicit},
		`{"experimental":{"x":{"y":1}}}`:       {Experimental: map[string]json.RawMessage{"x": json.RawMessage(`{"y":1}`)}},
		`{"extensions":{"org.example/x":{}}}`:  {Extensions: map[string]json.RawMessage{"org.example/x": json.RawMessage(`{}`)}},
		`{"sampling":{}}`:                      {CreateMessage: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { return nil, nil }},
		`{"sampling":{"tools":{}},"roots":{"listChanged":true}}`: {
			CreateMessage:      func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { return nil, nil },
			CreateMessageTools: true,
			Roots:              func(context.Context) ([]mcp.Root, error) { return nil, nil },
		},
	} {
		tr, p := pair(t)
		connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(o)) })
		m := p.handshake(`{}`)
		var params struct{ Capabilities json.RawMessage }
		require.NoError(t, json.Unmarshal(m.Params, &params))
		assert.JSONEq(t, want, string(params.Capabilities))
		c, err := connect()
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
}

func TestRoots(t *testing.T) {
	var roots []mcp.Root
	c, p := connected(t, &mcp.Options{Roots: func(context.Context) ([]mcp.Root, error) { return roots, nil }})
	assert.JSONEq(t, `{"roots":[]}`, string(p.ask(`1`, "roots/list", `{}`).Result), "an empty list, not null")
	roots = []mcp.Root{{URI: "file:///a", Name: "a"}}
	changed := async(func() (any, error) { return nil, c.RootsChanged(t.Context()) })
	p.expect("notifications/roots/list_changed")
	_, err := changed()
	require.NoError(t, err)
	assert.JSONEq(t, `{"roots":[{"uri":"file:///a","name":"a"}]}`, string(p.ask(`2`, "roots/list", `{}`).Result))

	c, _ = connected(t, nil)
	assert.Error(t, c.RootsChanged(t.Context()), "roots were not declared")
}

func TestElicitation(t *testing.T) {
	const form = `{"message":"?","requestedSchema":{"type":"object","properties":{
		"name":{"type":"string","default":"John"},"age":{"type":"integer","default":30},"mail":{"type":"string","format":"email"}},"required":["mail"]}}`
	var result *mcp.ElicitResult
	var fail error
	_, p := connected(t, &mcp.Options{
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if r.Mode != mcp.ElicitForm {
				return nil, fmt.Errorf("mode %q", r.Mode)
			}
			return result, fail
		},
	})
	for _, c := range []struct {
		name   string
		result *mcp.ElicitResult
		want   string // "" is an error
	}{
		{"defaults fill what was left out", &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"mail": "a@b.org", "age": 5}},
			`{"action":"accept","content":{"name":"John","age":5,"mail":"a@b.org"}}`},
		{"decline has no content and is not checked", &mcp.ElicitResult{Action: mcp.ElicitDecline}, `{"action":"decline"}`},
		{"content of a cancel is not sent", &mcp.ElicitResult{Action: mcp.ElicitCancel, Content: map[string]any{"x": 1}}, `{"action":"cancel"}`},
		{"an accept without content lacks what is required", &mcp.ElicitResult{Action: mcp.ElicitAccept}, ""},
		{"a value of the wrong type", &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"mail": "a@b.org", "age": "old"}}, ""},
		{"an unknown action", &mcp.ElicitResult{Action: "perhaps"}, ""},
		{"nothing at all", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			result = c.result
			m := p.ask(`"x"`, "elicitation/create", strings.ReplaceAll(form, "\n", ""))
			if c.want == "" {
				require.NotNil(t, m.Error, m.line)
				assert.EqualValues(t, mcp.CodeInternalError, m.Error.Code)
				return
			}
			require.Nil(t, m.Error)
			assert.JSONEq(t, c.want, string(m.Result))
		})
	}
	t.Run("accept without a required field is an empty object", func(t *testing.T) {
		result = &mcp.ElicitResult{Action: mcp.ElicitAccept}
		m := p.ask(`1`, "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
		assert.JSONEq(t, `{"action":"accept","content":{}}`, string(m.Result))
	})
	t.Run("a mode that was not declared", func(t *testing.T) {
		m := p.ask(`2`, "elicitation/create", `{"mode":"url","message":"?","url":"https://a","elicitationId":"e"}`)
		require.NotNil(t, m.Error)
		assert.EqualValues(t, mcp.CodeInvalidParams, m.Error.Code)
	})
	t.Run("an error of the handler stays here", func(t *testing.T) {
		fail = errors.New("/home/me/secret")
		m := p.ask(`3`, "elicitation/create", `{"message":"?"}`)
		require.NotNil(t, m.Error)
		assert.NotContains(t, m.line, "secret")
		fail = &mcp.RPCError{Code: 7, Message: "meant for the server"}
		m = p.ask(`4`, "elicitation/create", `{"message":"?"}`)
		assert.Equal(t, fail, m.Error)
	})
}

func TestURLElicitation(t *testing.T) {
	_, p := connected(t, &mcp.Options{
		ElicitURL: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"url": r.URL}}, nil
		},
	})
	m := p.ask(`1`, "elicitation/create", `{"mode":"url","message":"?","url":"https://a","elicitationId":"e"}`)
	assert.JSONEq(t, `{"action":"accept"}`, string(m.Result), "content is for forms")
	m = p.ask(`2`, "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
	require.NotNil(t, m.Error, "forms were not declared")
}

func TestSampling(t *testing.T) {
	_, p := connected(t, &mcp.Options{
		CreateMessage: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			text := r.Messages[0].Content[0].(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", StopReason: "endTurn", Content: []mcp.Content{mcp.Text("re: " + text)}}, nil
		},
	})
	const messages = `"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10`
	m := p.ask(`1`, "sampling/createMessage", `{`+messages+`}`)
	require.Nil(t, m.Error, m.line)
	assert.JSONEq(t, `{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"re: hi"}}`, string(m.Result))
	m = p.ask(`2`, "sampling/createMessage", `{`+messages+`,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	require.NotNil(t, m.Error, "tools were not declared")
	assert.EqualValues(t, mcp.CodeInvalidParams, m.Error.Code)
}

func TestCustomRequests(t *testing.T) {
	_, p := connected(t, &mcp.Options{Requests: map[string]mcp.RequestHandler{
		"x/echo":  func(_ context.Context, params json.RawMessage) (any, error) { return params, nil },
		"x/none":  func(context.Context, json.RawMessage) (any, error) { return nil, nil },
		"x/list":  func(context.Context, json.RawMessage) (any, error) { return []int{1}, nil },
		"x/panic": func(context.Context, json.RawMessage) (any, error) { panic("in a handler") },
	}})
	assert.Equal(t, `{"n":9007199254740993}`, string(p.ask(`1`, "x/echo", `{"n":9007199254740993}`).Result))
	assert.JSONEq(t, `{}`, string(p.ask(`2`, "x/none", `{}`).Result))
	for _, method := range []string{"x/list", "x/panic"} {
		m := p.ask(`3`, method, `{}`)
		require.NotNil(t, m.Error, method)
		assert.EqualValues(t, mcp.CodeInternalError, m.Error.Code)
		assert.NotContains(t, m.line, "in a handler")
	}
	assert.JSONEq(t, `{}`, string(p.ask(`4`, "ping", `{}`).Result), "the connection lives on")

	for method, handler := range map[string]mcp.RequestHandler{
		"ping": func(context.Context, json.RawMessage) (any, error) { return nil, nil },
		"x":    nil,
	} {
		_, err := mcp.Connect(t.Context(), nil, &mcp.Options{Requests: map[string]mcp.RequestHandler{method: handler}})
		assert.ErrorContains(t, err, method)
	}
}

func TestAServerThatAsksAndDoesNotReadCostsABoundedQueue(t *testing.T) {
	var log diagnostics
	_, p := connected(t, &mcp.Options{Logger: log.logger()})
	for range 300 {
		p.write(`{"jsonrpc":"2.0","id":"%064000d","method":"ping"}`, 1)
	}
	assert.JSONEq(t, `{}`, string(p.read().Result)) // the first of those that were kept
	log.wait(t, "the server does not read")
}

func TestTheServerCancelsItsRequest(t *testing.T) {
	for id, spelling := range map[string]string{`0`: `0`, `5`: `"5"`, `"e"`: `"e"`} {
		t.Run(id, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan error, 1)
			_, p := connected(t, &mcp.Options{Elicit: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				close(began)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return nil, ctx.Err()
			}})
			p.write(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"?"}}`, id)
			<-began
			p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, spelling)
			assert.ErrorContains(t, <-ended, "cancelled by the server")
			assert.JSONEq(t, `{}`, string(p.ask(`"after"`, "ping", `{}`).Result), "a cancelled request gets no response")
		})
	}
}

func TestReadingGoesOnWhileAHandlerIsBusy(t *testing.T) {
	release := make(chan struct{})
	c, p := connected(t, &mcp.Options{Elicit: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		<-release
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}})
	asking := call(c, t.Context(), "asks")
	ma := p.expect("tools/call")
	p.write(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?"}}`)
	other := call(c, t.Context(), "other")
	p.answer(p.expect("tools/call"), hello)
	_, err := other()
	require.NoError(t, err)
	close(release)
	assert.JSONEq(t, `{"action":"decline"}`, string(p.read().Result))
	p.answer(ma, hello)
	_, err = asking()
	require.NoError(t, err)
}

func TestHandlersAreBoundedAndPingsAreNot(t *testing.T) {
	release := make(chan struct{})
	var running, most atomic.Int64
	var log diagnostics
	_, p := connected(t, &mcp.Options{Logger: log.logger(), Requests: map[string]mcp.RequestHandler{
		"x": func(context.Context, json.RawMessage) (any, error) {
			most.Store(max(most.Load(), running.Add(1)))
			<-release
			running.Add(-1)
			return nil, nil
		},
	}})
	const admitted = 32 + 256
	for i := range admitted {
		p.write(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i)
	}
	m := p.ask(`"one too many"`, "x", `{}`)
	require.NotNil(t, m.Error)
	assert.JSONEq(t, `{}`, string(p.ask(`"ping"`, "ping", `{}`).Result))
	close(release)
	answered := map[string]bool{}
	for range admitted {
		m := p.read()
		assert.Nil(t, m.Error)
		answered[string(m.ID)] = true
	}
	assert.Len(t, answered, admitted)
	assert.LessOrEqual(t, most.Load(), int64(32))
}

func TestAHandlerMayCallAndCloseTheClient(t *testing.T) {
	c, p := connected(t, &mcp.Options{Requests: map[string]mcp.RequestHandler{
		"x": func(ctx context.Context, _ json.RawMessage) (any, error) {
			c := mcp.ClientFromContext(ctx)
			if err := c.Ping(ctx); err != nil {
				return nil, err
			}
			return nil, c.Close()
		},
	}})
	p.write(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	p.answer(p.expect("ping"), `{}`)
	<-c.Done()
	assert.Nil(t, mcp.ClientFromContext(t.Context()))
}

func TestHandlersEndWithTheClient(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	c, p := connected(t, &mcp.Options{Elicit: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}})
	p.write(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`)
	<-began
	require.NoError(t, c.Close())
	<-ended
}
