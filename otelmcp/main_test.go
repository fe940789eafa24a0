package otelmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/otelmcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// serverEnv has this program be a server on its standard input and output.
const serverEnv = "OTELMCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		if err := newServer().ServeStdio(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	leakcheck.Main(m)
}

// newServer returns a server whose tools tell what came as _meta, fail, ask the user, and never answer.
func newServer() *mcptest.Server {
	s := &mcptest.Server{}
	s.AddTool(&mcp.Tool{Name: "meta"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		meta, err := json.Marshal(call.Meta)
		return mcptest.Text(string(meta)), err
	})
	s.AddTool(&mcp.Tool{Name: "fails"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("the secret is 42")
	})
	s.AddTool(&mcp.Tool{Name: "asks"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := call.Elicit(&mcp.ElicitRequest{
			Message:         "?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			Meta:            mcp.Meta{"traceparent": call.Meta["traceparent"]},
		})
		if err != nil {
			return nil, err
		}
		return mcptest.Text(string(answer.Action)), nil
	})
	s.AddTool(&mcp.Tool{Name: "silent"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, mcptest.ErrNoAnswer
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcptest.Call) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	s.AddResource(&mcp.Resource{URI: "file:///a"}, func(context.Context, *mcptest.Call) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	s.Complete = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{}, nil
	}
	return s
}

// A telemetry is what is recorded, in memory.
type telemetry struct {
	t      testing.TB
	spans  *tracetest.SpanRecorder
	tracer *trace.TracerProvider
	reader *metric.ManualReader
	meter  *metric.MeterProvider
}

func record(t testing.TB) *telemetry {
	r := &telemetry{t: t, spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	r.tracer = trace.NewTracerProvider(trace.WithSpanProcessor(r.spans))
	r.meter = metric.NewMeterProvider(metric.WithReader(r.reader))
	t.Cleanup(func() {
		_ = r.tracer.Shutdown(context.Background())
		_ = r.meter.Shutdown(context.Background())
	})
	return r
}

func (r *telemetry) options(more ...otelmcp.Option) []otelmcp.Option {
	return append([]otelmcp.Option{
		otelmcp.WithTracerProvider(r.tracer), otelmcp.WithMeterProvider(r.meter),
		otelmcp.WithPropagators(propagation.NewCompositeTextMapPropagator(
			propagation.TraceContext{}, propagation.Baggage{})),
	}, more...)
}

// instrumented returns options of a client with the interceptor.
func (r *telemetry) instrumented(o *mcp.Options, more ...otelmcp.Option) *mcp.Options {
	var copied mcp.Options
	if o != nil {
		copied = *o
	}
	copied.Interceptors = append([]mcp.Interceptor{otelmcp.Interceptor(r.options(more...)...)}, copied.Interceptors...)
	return &copied
}

// named returns the spans of a name that have ended, in the order in which they did.
func (r *telemetry) named(name string) []trace.ReadOnlySpan {
	var spans []trace.ReadOnlySpan
	for _, span := range r.spans.Ended() {
		if span.Name() == name {
			spans = append(spans, span)
		}
	}
	return spans
}

// only returns the only span of a name.
func (r *telemetry) only(name string) trace.ReadOnlySpan {
	r.t.Helper()
	spans := r.named(name)
	require.Len(r.t, spans, 1, name)
	return spans[0]
}

// points returns the data of a histogram.
func (r *telemetry) points(name string) (metricdata.Metrics, []metricdata.HistogramDataPoint[float64]) {
	r.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(r.t, r.reader.Collect(context.Background(), &all))
	for _, scope := range all.ScopeMetrics {
		require.Equal(r.t, otelmcp.ScopeName, scope.Scope.Name)
		for _, m := range scope.Metrics {
			if m.Name == name {
				return m, m.Data.(metricdata.Histogram[float64]).DataPoints
			}
		}
	}
	return metricdata.Metrics{}, nil
}

// attributes are those of a span or a metric as text.
func attributes(list []attribute.KeyValue) map[string]string {
	all := make(map[string]string)
	for _, a := range list {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}
