package otelmcp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// An outcome is what came of an exchange.
type outcome struct {
	failed      bool
	description string
	attributes  []attribute.KeyValue
}

func outcomeOf(x *mcp.Exchange, result json.RawMessage, err error) outcome {
	var rpc *mcp.RPCError
	switch {
	case err == nil:
		return successOf(x.Method, result)
	case errors.As(err, &rpc):
		return rpcFailure(rpc.Code, rpc.Message)
	case x.Method == "subscriptions/listen" && errors.Is(err, context.Canceled):
		return outcome{} // this is how a subscription is closed
	case x.Incoming && x.ID.IsValid() && !errors.Is(err, context.Canceled):
		return rpcFailure(mcp.CodeInternalError, "") // which is what the server is told
	}
	return failure(errorType(err))
}

func successOf(method string, result json.RawMessage) outcome {
	var r struct {
		IsError bool   `json:"isError"`
		Version string `json:"protocolVersion"`
	}
	switch method {
	case "tools/call":
		if json.Unmarshal(result, &r); r.IsError {
			return failure("tool_error")
		}
	case "initialize": // the version is agreed on in here
		if json.Unmarshal(result, &r); r.Version != "" {
			return outcome{attributes: []attribute.KeyValue{semconv.McpProtocolVersion(clip(r.Version))}}
		}
	}
	return outcome{}
}

func rpcFailure(code int64, message string) outcome {
	status := strconv.FormatInt(code, 10)
	o := failure(status)
	o.attributes = append(o.attributes, semconv.RPCResponseStatusCode(status))
	o.description = clip(message)
	return o
}

func failure(kind string) outcome {
	return outcome{failed: true, attributes: []attribute.KeyValue{semconv.ErrorTypeKey.String(kind)}}
}

// errorType classifies what no JSON-RPC error says (see the package's doc).
func errorType(err error) string {
	for _, class := range []struct {
		err  error
		name string
	}{
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
		{mcp.ErrClosed, "connection_closed"},
		{mcp.ErrSessionExpired, "session_expired"},
		{mcp.ErrMessageTooLarge, "message_too_large"},
		{mcp.ErrNoResponse, "no_response"},
	} {
		if errors.Is(err, class.err) {
			return class.name
		}
	}
	for reflect.TypeOf(err) == unsent { // says only that nothing was sent
		err = errors.Unwrap(err)
	}
	return semconv.ErrorType(err).Value.AsString()
}

var unsent = reflect.TypeOf(transport.Unsent(errors.ErrUnsupported))

// clip bounds what the other side or a caller may have made long.
func clip(s string) string {
	const most = 1 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " ..."
}
