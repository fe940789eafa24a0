package otelmcp

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed62b61957/mcp"
)

// ScopeName is the name of the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/seed62b61957/mcp/otelmcp"

// An Option changes what is recorded, and where.
type Option func(*config)

type config struct {
	tracers     trace.TracerProvider
	meters      metric.MeterProvider
	propagators propagation.TextMapPropagator
	attributes  []attribute.KeyValue
	toolContent bool
}

// WithTracerProvider sets the provider of the tracer; the global one is the default.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.tracers = p } }

// WithMeterProvider sets the provider of the meter; the global one is the default.
func WithMeterProvider(p metric.MeterProvider) Option { return func(c *config) { c.meters = p } }

// WithPropagators sets what writes the context into _meta and reads it; the global one is the default.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) { c.propagators = p }
}

// WithAttributes adds attributes to all spans and metrics, such as server.address. Keep their values few: each
// combination is a time series.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(c *config) { c.attributes = append(c.attributes, attributes...) }
}

// WithToolContent records the arguments of tool calls, and the results of those that succeed, on their spans: as JSON
// text, of any size. They may be confidential.
func WithToolContent() Option { return func(c *config) { c.toolContent = true } }

// Interceptor returns an interceptor for [mcp.Options] that traces and measures every exchange. Put it first, so that
// it sees what the others refuse, and so that what they do is inside of its spans. It may serve any number of clients.
func Interceptor(opts ...Option) mcp.Interceptor { return newInstruments(opts).intercept }

// instruments are what records.
type instruments struct {
	config
	tracer   trace.Tracer
	sent     mcpconv.ClientOperationDuration
	received mcpconv.ServerOperationDuration
	session  mcpconv.ClientSessionDuration
}

// durations are the boundaries that the conventions give for each of the metrics, in seconds.
var durations = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

func newInstruments(opts []Option) *instruments {
	i := &instruments{config: config{
		tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider(), propagators: otel.GetTextMapPropagator(),
	}}
	for _, opt := range opts {
		opt(&i.config)
	}
	i.tracer = i.tracers.Tracer(ScopeName, trace.WithSchemaURL(semconv.SchemaURL))
	meter := i.meters.Meter(ScopeName, metric.WithSchemaURL(semconv.SchemaURL))
	boundaries := metric.WithExplicitBucketBoundaries(durations...)
	var err error
	// Without an instrument nothing is recorded, and the program is told as OpenTelemetry does it.
	if i.sent, err = mcpconv.NewClientOperationDuration(meter, boundaries); err != nil {
		otel.Handle(err)
	}
	if i.received, err = mcpconv.NewServerOperationDuration(meter, boundaries); err != nil {
		otel.Handle(err)
	}
	if i.session, err = mcpconv.NewClientSessionDuration(meter, boundaries); err != nil {
		otel.Handle(err)
	}
	return i
}
