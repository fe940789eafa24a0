// Package otelmcp traces and measures a Model Context Protocol client with OpenTelemetry, and takes the trace to the
// server and back in _meta (SEP-414). It is a module of its own, so that who does without has no OpenTelemetry in its
// go.sum.
//
//	client, err := mcp.Connect(ctx, otelmcp.Transport(t), &mcp.Options{
//		Interceptors: []mcp.Interceptor{otelmcp.Interceptor()},
//	})
//
// It follows the semantic conventions for MCP, which are in development, as version 1.41.0 of the OpenTelemetry
// conventions has them: the last one with MCP in it, before that moved to a repository of its own.
//
// # What is recorded
//
// [Interceptor] makes a span of each exchange, as [mcp.Interceptor] says what that is: of kind client for what the
// client sends, of kind server for what a handler of the client's answers or is told. It is named after the method, and
// the tool or prompt if there is one. The metrics mcp.client.operation.duration and mcp.server.operation.duration have
// the time that it took. A call that takes several requests has a span for each, side by side; what a server asks for
// in between is a span as well. The span around them all is the caller's, from ctx.
//
// [Transport] measures mcp.client.session.duration: from the end of the handshake until the connection or the session
// has ended. Since 2026-07-28 there is no session, and nothing is recorded.
//
// error.type is one of these:
//
//   - the code of a JSON-RPC error, which rpc.response.status_code has as well;
//   - tool_error: the result of a tool has isError set;
//   - timeout, canceled, connection_closed, session_expired, no_response, message_too_large: see the errors of package
//     mcp;
//   - the Go type of any other error.
//
// The description of a span's status is the message of a JSON-RPC error, at most 1 KiB of it, and nothing for others.
// A subscription that its caller closes is no error.
//
// Arguments and results of tools are recorded only with [WithToolContent]. Names of tools and prompts, and URIs of
// resources, are recorded always, as the conventions want it; URIs on spans only.
//
// # Context propagation
//
// The propagator writes into the _meta of what is sent; with the W3C ones that is traceparent, tracestate and baggage.
// Baggage goes to the server then: it may be somebody else's. Where the server sends a context, it is the parent of the
// handler's span, and the span that was there before, if any, is linked. Like any instrumentation, this one uses the
// global propagator, which does nothing until the program sets it with otel.SetTextMapPropagator, or the one of
// [WithPropagators].
//
// # Deviations from the conventions
//
//   - mcp.session.id is not recorded: who knows it can speak in the session, and traces have many readers.
//   - network.protocol.version, server.address and server.port are the transport's business, which an interceptor does
//     not see. [WithAttributes] is for those that the program knows.
//   - A notification that the protocol does not know has _OTHER as mcp.method.name in metrics, and in the name of its
//     span: the server could make up any number of them.
//   - network.transport is tcp for HTTP, also if a client of the program's own speaks HTTP/3. It is missing for
//     transports that this package does not know.
package otelmcp
