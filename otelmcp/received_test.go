package otelmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

const remote = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"

// accepting has the user accept, in a span of its own.
func accepting(r *telemetry) *mcp.Options {
	return &mcp.Options{Elicit: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		_, span := r.tracer.Tracer("test").Start(ctx, "ask the user")
		span.End()
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}}
}

func TestWhatAServerAsksForIsNestedInTheTrace(t *testing.T) {
	for version, calls := range map[string]int{mcp.Version20251125: 1, mcp.Version20260728: 2} {
		t.Run(version, func(t *testing.T) {
			r := record(t)
			o := accepting(r)
			o.Versions = []string{version}
			c := mcptest.Connect(t, newServer(), r.instrumented(o))
			ctx, agent := r.tracer.Tracer("test").Start(t.Context(), "agent")
			_, err := c.CallTool(ctx, "asks", nil)
			require.NoError(t, err)
			agent.End()

			rounds := r.named("tools/call asks")
			require.Len(t, rounds, calls)
			ids := map[string]bool{}
			for _, round := range rounds {
				assert.Equal(t, agent.SpanContext().SpanID(), round.Parent().SpanID())
				ids[attributes(round.Attributes())["jsonrpc.request.id"]] = true
			}
			assert.Len(t, ids, calls, "each has an id of its own")

			asked, user := r.only("elicitation/create"), r.only("ask the user")
			assert.Equal(t, trace.SpanKindServer, asked.SpanKind())
			assert.Equal(t, agent.SpanContext().TraceID(), asked.SpanContext().TraceID())
			// The server says that it asks on account of the first request.
			first := rounds[0].SpanContext().SpanID()
			assert.Equal(t, first, asked.Parent().SpanID())
			assert.True(t, asked.Parent().IsRemote())
			assert.Equal(t, asked.SpanContext().SpanID(), user.Parent().SpanID())
			want := map[string]string{"mcp.method.name": "elicitation/create", "mcp.protocol.version": version}
			if version == mcp.Version20251125 {
				want["jsonrpc.request.id"] = "0"
				assert.Empty(t, asked.Links(), "it came on its own")
			} else if assert.Len(t, asked.Links(), 1) {
				assert.Equal(t, agent.SpanContext().SpanID(), asked.Links()[0].SpanContext.SpanID())
			}
			assert.Equal(t, want, attributes(asked.Attributes()))
		})
	}
}

func TestRequestsOfAServer(t *testing.T) {
	r := record(t)
	s := newServer()
	mcptest.Connect(t, s, r.instrumented(&mcp.Options{
		Versions: []string{mcp.Version20251125},
		Requests: map[string]mcp.RequestHandler{
			"good": func(context.Context, json.RawMessage) (any, error) { return nil, nil },
			"refused": func(context.Context, json.RawMessage) (any, error) {
				return nil, &mcp.RPCError{Code: -7, Message: "no"}
			},
			"long": func(context.Context, json.RawMessage) (any, error) {
				return nil, &mcp.RPCError{Code: -7, Message: strings.Repeat("x", 5000)}
			},
			"broken": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("secret") },
		},
	}))
	for _, method := range []string{"good", "long", "refused", "broken"} {
		_, _ = s.Sessions()[0].Request(t.Context(), method, json.RawMessage(`{"_meta":{"traceparent":"`+remote+`"}}`))
	}
	for name, want := range map[string]struct {
		code   codes.Code
		text   string
		status string
	}{
		"good":    {codes.Unset, "", ""},
		"long":    {codes.Error, strings.Repeat("x", 1<<10) + " ...", "-7"},
		"refused": {codes.Error, "no", "-7"},
		"broken":  {codes.Error, "", "-32603"},
	} {
		span := r.only(name)
		assert.Equal(t, "00f067aa0ba902b7", span.Parent().SpanID().String())
		assert.Equal(t, want.code, span.Status().Code, name)
		assert.Equal(t, want.text, span.Status().Description)
		got := attributes(span.Attributes())
		assert.Equal(t, want.status, got["rpc.response.status_code"])
		assert.Equal(t, want.status, got["error.type"])
	}
}

func TestTheIDOfAServersRequestIsItsText(t *testing.T) {
	for text, want := range map[string]string{`7`: "7", `"request-7"`: "request-7", `"7"`: "7"} {
		r := record(t)
		s := newServer()
		called := make(chan struct{})
		mcptest.Connect(t, s, r.instrumented(&mcp.Options{
			Versions: []string{mcp.Version20251125},
			Requests: map[string]mcp.RequestHandler{"x": func(context.Context, json.RawMessage) (any, error) {
				close(called)
				return nil, nil
			}},
		}))
		id, err := transport.ParseID([]byte(text))
		require.NoError(t, err)
		require.NoError(t, s.Sessions()[0].Send(t.Context(), &transport.Message{ID: id, Method: "x"}))
		<-called
		assert.Equal(t, want, attributes(r.spans.Started()[2].Attributes())["jsonrpc.request.id"])
	}
}

func TestNotificationsOfAServer(t *testing.T) {
	r := record(t)
	s := newServer()
	handled := make(chan trace.SpanContext)
	mcptest.Connect(t, s, r.instrumented(&mcp.Options{
		Versions: []string{mcp.Version20251125},
		On: mcp.Notifications{
			Log: func(ctx context.Context, _ *mcp.LogMessage) { handled <- trace.SpanContextFromContext(ctx) },
			Other: func(ctx context.Context, _ string, _ json.RawMessage) {
				handled <- trace.SpanContextFromContext(ctx)
			},
		},
	}))
	session := s.Sessions()[0]
	const params = `{"level":"info","data":1,"_meta":{"traceparent":"` + remote + `"}}`
	for _, method := range []string{"notifications/message", "made/up", "notifications/message"} {
		require.NoError(t, session.Notify(t.Context(), method, json.RawMessage(params)))
		inside := <-handled
		assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", inside.TraceID().String())
		assert.False(t, inside.IsRemote())
	}
	span := r.named("notifications/message")[0] // the second may not have ended
	assert.Equal(t, trace.SpanKindServer, span.SpanKind())
	assert.Equal(t, "00f067aa0ba902b7", span.Parent().SpanID().String())
	made := r.only("_OTHER")
	assert.Equal(t, "made/up", attributes(made.Attributes())["mcp.method.name"], "the span says what it was")
}
