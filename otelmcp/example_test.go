package otelmcp_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/otelmcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// A program that has set the global providers and the global propagator needs no options.
func Example() {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "forecast"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		fmt.Println("the server sees the trace:", len(call.Meta["traceparent"]) > 0)
		return mcptest.Text("sunny"), nil
	})
	spans := tracetest.NewInMemoryExporter()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	opts := []otelmcp.Option{
		otelmcp.WithTracerProvider(tracers), otelmcp.WithPropagators(propagation.TraceContext{}),
	}

	ctx := context.Background()
	client, err := mcp.Connect(ctx, otelmcp.Transport(server.Transport(), opts...), &mcp.Options{
		Interceptors: []mcp.Interceptor{otelmcp.Interceptor(opts...)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.CallTool(ctx, "forecast", nil); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.SpanKind, span.Name)
	}
	// Output:
	// the server sees the trace: true
	// client server/discover
	// client tools/call forecast
}
