package otelmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/otelmcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// traceparent is the W3C form of a span's context.
func traceparent(c trace.SpanContext) string {
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}

func TestATraceCrossesTheClient(t *testing.T) {
	for _, version := range []string{mcp.Version20241105, mcp.Version20251125, mcp.Version20260728} {
		t.Run(version, func(t *testing.T) {
			r := record(t)
			program, err := os.Executable()
			require.NoError(t, err)
			server := &stdio.Transport{Command: program, Env: map[string]string{serverEnv: "1"}}
			c, err := mcp.Connect(t.Context(), server, r.instrumented(&mcp.Options{Versions: []string{version}}))
			require.NoError(t, err)
			defer c.Close()

			state, err := trace.ParseTraceState("vendor=1")
			require.NoError(t, err)
			user, err := baggage.Parse("user=alice")
			require.NoError(t, err)
			ctx := baggage.ContextWithBaggage(t.Context(), user)
			ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state,
			}))
			result, err := c.CallTool(ctx, "meta", nil)
			require.NoError(t, err)

			span := r.only("tools/call meta")
			assert.Equal(t, trace.TraceID{1}, span.SpanContext().TraceID())
			assert.Equal(t, trace.SpanID{2}, span.Parent().SpanID())
			assert.Equal(t, trace.SpanKindClient, span.SpanKind())
			assert.Equal(t, codes.Unset, span.Status().Code)
			assert.Equal(t, otelmcp.ScopeName, span.InstrumentationScope().Name)
			assert.Equal(t, map[string]string{
				"mcp.method.name":       "tools/call",
				"gen_ai.tool.name":      "meta",
				"gen_ai.operation.name": "execute_tool",
				"jsonrpc.request.id":    "2",
				"mcp.protocol.version":  version,
				"network.transport":     "pipe",
			}, attributes(span.Attributes()))
			var meta map[string]any
			require.NoError(t, json.Unmarshal([]byte(result.Text()), &meta))
			assert.Equal(t, traceparent(span.SpanContext()), meta["traceparent"])
			assert.Equal(t, "vendor=1", meta["tracestate"])
			assert.Equal(t, "user=alice", meta["baggage"])
		})
	}
}

func TestSpansHaveTheNamesAndAttributesOfTheConventions(t *testing.T) {
	r := record(t)
	c := mcptest.Connect(t, newServer(), r.instrumented(
		&mcp.Options{Versions: []string{mcp.Version20251125}}, otelmcp.WithAttributes(attribute.Int("server.port", 443)),
	))
	ctx := t.Context()
	_, err := c.ListTools(ctx)
	require.NoError(t, err)
	_, err = c.GetPrompt(ctx, "greet", nil)
	require.NoError(t, err)
	_, err = c.ReadResource(ctx, "file:///a")
	require.NoError(t, err)
	require.NoError(t, c.SubscribeResource(ctx, "file:///a"))
	_, err = c.Complete(ctx, &mcp.CompleteRequest{Ref: mcp.PromptRef("greet"), Argument: "a"})
	require.NoError(t, err)
	require.NoError(t, c.Notify(ctx, "notifications/x", nil))

	for name, want := range map[string]map[string]string{
		"initialize":                {"mcp.method.name": "initialize", "jsonrpc.request.id": "1"},
		"notifications/initialized": {"mcp.method.name": "notifications/initialized"},
		"tools/list":                {"mcp.method.name": "tools/list", "jsonrpc.request.id": "2"},
		"prompts/get greet": {
			"mcp.method.name": "prompts/get", "jsonrpc.request.id": "3", "gen_ai.prompt.name": "greet",
		},
		"resources/read": {
			"mcp.method.name": "resources/read", "jsonrpc.request.id": "4", "mcp.resource.uri": "file:///a",
		},
		"resources/subscribe": {
			"mcp.method.name": "resources/subscribe", "jsonrpc.request.id": "5", "mcp.resource.uri": "file:///a",
		},
		"completion/complete greet": {
			"mcp.method.name": "completion/complete", "jsonrpc.request.id": "6", "gen_ai.prompt.name": "greet",
		},
		"notifications/x": {"mcp.method.name": "notifications/x"},
	} {
		span := r.only(name)
		want["mcp.protocol.version"] = mcp.Version20251125
		want["server.port"] = "443"
		assert.Equal(t, want, attributes(span.Attributes()), name)
		assert.Equal(t, trace.SpanKindClient, span.SpanKind())
		assert.Equal(t, codes.Unset, span.Status().Code)
	}
	assert.Len(t, r.spans.Ended(), 8)
}

// caller calls the tool that a case is about.
type caller func(context.Context, ...mcp.CallOption) error

func TestFailures(t *testing.T) {
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		tool  string
		fail  func(ctx context.Context, s *mcptest.Server, call caller) error // nil: just the call
		class string
		code  string
		text  string
	}{
		"an error of the server": {"unknown", nil, "-32602", "-32602", "unknown tool: unknown"},
		"a tool that fails":      {"fails", nil, "tool_error", "", ""},
		"a timeout": {"silent", func(ctx context.Context, _ *mcptest.Server, call caller) error {
			return call(ctx, mcp.WithTimeout(time.Second))
		}, "timeout", "", ""},
		"a cancelled call": {"silent", func(ctx context.Context, _ *mcptest.Server, call caller) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return call(ctx)
		}, "canceled", "", ""},
		"a lost connection": {"silent", func(ctx context.Context, s *mcptest.Server, call caller) error {
			time.AfterFunc(time.Second, func() { s.Sessions()[0].Close() })
			return call(ctx)
		}, "connection_closed", "", ""},
		"a refusal": {"forbidden", nil, "*errors.errorString", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := record(t), newServer()
				c := mcptest.Connect(t, s, r.instrumented(&mcp.Options{Interceptors: []mcp.Interceptor{
					func(ctx context.Context, x *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
						if strings.Contains(string(x.Params), "forbidden") {
							return nil, nil, refused
						}
						return nil, nil, nil
					},
				}}))
				call := func(ctx context.Context, opts ...mcp.CallOption) error {
					_, err := c.CallTool(ctx, test.tool, map[string]any{"password": "hunter2"}, opts...)
					return err
				}
				if test.fail == nil {
					_ = call(t.Context())
				} else {
					require.Error(t, test.fail(t.Context(), s, call))
				}
				span := r.only("tools/call " + test.tool)
				assert.Equal(t, codes.Error, span.Status().Code)
				assert.Equal(t, test.text, span.Status().Description)
				got := attributes(span.Attributes())
				assert.Equal(t, test.class, got["error.type"])
				assert.Equal(t, test.code, got["rpc.response.status_code"])
				for _, secret := range []string{"hunter2", "42"} {
					for name, value := range got {
						assert.NotContains(t, value, secret, name)
					}
				}
			})
		})
	}
}

func TestToolContentIsRecordedOnRequestOnly(t *testing.T) {
	for _, on := range []bool{false, true} {
		r := record(t)
		var opts []otelmcp.Option
		if on {
			opts = append(opts, otelmcp.WithToolContent())
		}
		s := newServer()
		s.AddTool(&mcp.Tool{Name: "a"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			return mcptest.Text("done"), nil
		})
		c := mcptest.Connect(t, s, r.instrumented(&mcp.Options{Versions: []string{mcp.Version20251125}}, opts...))
		for _, tool := range []string{"a", "fails"} {
			_, err := c.CallTool(t.Context(), tool, map[string]any{"q": "x"})
			require.NoError(t, err)
		}
		good := attributes(r.only("tools/call a").Attributes())
		bad := attributes(r.only("tools/call fails").Attributes())
		const arguments, result = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
		if !on {
			assert.NotContains(t, good, arguments)
			assert.NotContains(t, good, result)
			continue
		}
		assert.Equal(t, `{"q":"x"}`, good[arguments])
		assert.JSONEq(t, `{"content":[{"type":"text","text":"done"}]}`, good[result])
		assert.Equal(t, `{"q":"x"}`, bad[arguments])
		assert.NotContains(t, bad, result, "it failed")
	}
}

func TestASubscriptionThatIsClosedIsNoFailure(t *testing.T) {
	r := record(t)
	c := mcptest.Connect(t, newServer(), r.instrumented(nil))
	ctx, around := r.tracer.Tracer("test").Start(t.Context(), "around")
	sub, err := c.Listen(ctx, mcp.Filter{Tools: true})
	require.NoError(t, err)
	around.End()
	require.NoError(t, sub.Close())
	span := r.only("subscriptions/listen")
	assert.Equal(t, codes.Unset, span.Status().Code)
	assert.Equal(t, around.SpanContext().SpanID(), span.Parent().SpanID())
}

func TestTheNoticeOfCancellationIsInTheTraceOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(t)
		s := newServer()
		c := mcptest.Connect(t, s, r.instrumented(nil))
		_, err := c.CallTool(t.Context(), "silent", nil, mcp.WithTimeout(time.Second))
		require.Error(t, err)
		synctest.Wait()
		call, notice := r.only("tools/call silent"), r.only("notifications/cancelled")
		assert.Equal(t, call.SpanContext().SpanID(), notice.Parent().SpanID())
		received := s.Received("notifications/cancelled")
		require.Len(t, received, 1)
		assert.Contains(t, string(received[0].Params), traceparent(notice.SpanContext()))
	})
}
