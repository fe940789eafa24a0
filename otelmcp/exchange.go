package otelmcp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed62b61957/mcp"
)

func (i *instruments) intercept(
	ctx context.Context, x *mcp.Exchange,
) (context.Context, func(json.RawMessage, error), error) {
	s := subjectOf(x)
	shared := s.shared(i.attributes, x)
	start := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(semconv.McpMethodNameKey.String(clip(x.Method))),
		trace.WithAttributes(shared...),
		trace.WithAttributes(s.spanOnly(x)...),
	}
	if x.Incoming {
		start[0] = trace.WithSpanKind(trace.SpanKindServer)
		around := trace.SpanContextFromContext(ctx)
		ctx = i.propagators.Extract(ctx, carrier(x.Meta))
		if trace.SpanContextFromContext(ctx).IsRemote() { // no link is made to what is no span
			start = append(start, trace.WithLinks(trace.Link{SpanContext: around}))
		}
	}
	ctx, span := i.tracer.Start(ctx, s.spanName(), start...)
	if !x.Incoming {
		i.propagators.Inject(ctx, carrier(x.Meta))
	}
	if i.toolContent && s.arguments != nil {
		span.SetAttributes(semconv.GenAIToolCallArgumentsKey.String(string(s.arguments)))
	}
	begun := time.Now()
	return ctx, func(result json.RawMessage, err error) {
		took := time.Since(begun).Seconds()
		o := outcomeOf(x, result, err)
		shared = append(shared, o.attributes...)
		span.SetAttributes(o.attributes...)
		switch {
		case o.failed:
			span.SetStatus(codes.Error, o.description)
		case i.toolContent && s.tool != "":
			span.SetAttributes(semconv.GenAIToolCallResultKey.String(string(result)))
		}
		span.End()
		method := mcpconv.MethodNameAttr(s.method)
		if x.Incoming {
			i.received.Record(ctx, took, method, shared...)
		} else {
			i.sent.Record(ctx, took, method, shared...)
		}
	}, nil
}

// A subject is what an exchange is about.
type subject struct {
	method    string // of few values
	tool      string
	prompt    string
	uri       string          // of a resource
	arguments json.RawMessage // of a tool
}

func subjectOf(x *mcp.Exchange) subject {
	s := subject{method: x.Method}
	if x.Incoming && !x.ID.IsValid() && !known[x.Method] {
		s.method = "_OTHER"
	}
	switch x.Method {
	case "tools/call", "prompts/get", "completion/complete",
		"resources/read", "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated":
	default:
		return s
	}
	var params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
		Ref       struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"ref"`
	}
	_ = json.Unmarshal(x.Params, &params) // a raw request of the caller's may have anything
	switch {
	case x.Method == "tools/call":
		s.tool, s.arguments = params.Name, params.Arguments
	case x.Method == "prompts/get":
		s.prompt = params.Name
	case params.Ref.Type == "ref/prompt":
		s.prompt = params.Ref.Name
	default:
		s.uri = params.URI
	}
	return s
}

// known are the methods that the server begins something with that has no id: notifications for which there are
// handlers, and what it asks for in an answer.
var known = map[string]bool{
	"notifications/message":                true,
	"notifications/elicitation/complete":   true,
	"notifications/tools/list_changed":     true,
	"notifications/prompts/list_changed":   true,
	"notifications/resources/list_changed": true,
	"notifications/resources/updated":      true,
	"elicitation/create":                   true,
	"sampling/createMessage":               true,
	"roots/list":                           true,
}

func (s *subject) spanName() string {
	switch {
	case s.tool != "":
		return s.method + " " + clip(s.tool)
	case s.prompt != "":
		return s.method + " " + clip(s.prompt)
	}
	return s.method
}

// shared are the attributes that span and metric have in common, but for the method and what comes of it.
func (s *subject) shared(fixed []attribute.KeyValue, x *mcp.Exchange) []attribute.KeyValue {
	attributes := slices.Concat(fixed, network[x.Transport])
	if x.Version != "" {
		attributes = append(attributes, semconv.McpProtocolVersion(x.Version))
	}
	switch {
	case s.tool != "":
		attributes = append(attributes, semconv.GenAIToolName(clip(s.tool)), semconv.GenAIOperationNameExecuteTool)
	case s.prompt != "":
		attributes = append(attributes, semconv.GenAIPromptName(clip(s.prompt)))
	}
	return attributes
}

// spanOnly are the attributes that have too many values for a metric.
func (s *subject) spanOnly(x *mcp.Exchange) []attribute.KeyValue {
	var attributes []attribute.KeyValue
	if x.ID.IsValid() {
		id := x.ID.String()
		var text string
		if json.Unmarshal([]byte(id), &text) == nil {
			id = text
		}
		attributes = append(attributes, semconv.JSONRPCRequestID(clip(id)))
	}
	if s.uri != "" {
		attributes = append(attributes, semconv.McpResourceURI(clip(s.uri)))
	}
	return attributes
}

// network are the attributes of the transports, by name (conventions, "Recording MCP transport").
var network = map[string][]attribute.KeyValue{
	"stdio": {semconv.NetworkTransportPipe},
	"pipe":  {semconv.NetworkTransportPipe},
	"unix":  {semconv.NetworkTransportUnix},
	"tcp":   {semconv.NetworkTransportTCP},
	"http":  {semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http")},
}
