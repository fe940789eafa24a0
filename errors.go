package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/internal/oneline"
	"github.com/seed62b61957/mcp/transport"
)

// Errors that any method may return, matched with errors.Is. They are those of package transport.
var (
	// ErrClosed: the client was closed or the connection was lost. The error that matches it says why.
	ErrClosed = transport.ErrClosed
	// ErrMessageTooLarge: the answer is over the limit of the connection, which lives on.
	ErrMessageTooLarge = transport.ErrMessageTooLarge
	// ErrNoResponse: the exchange ended without an answer. Whether the server acted is unknown.
	ErrNoResponse = transport.ErrNoResponse
	// ErrSessionExpired: the server lost the session while the request was under way. Whether it acted is unknown.
	ErrSessionExpired = transport.ErrSessionExpired
)

// RPCError is an error that the server sent in answer to a request. Nothing else is ever reported as one: timeouts,
// closed connections and local checks have types of their own.
type RPCError = transport.RPCError

// Error codes of JSON-RPC 2.0 (section 5.1) and of the protocol's revisions.
const (
	CodeParseError             = -32700
	CodeInvalidRequest         = -32600
	CodeMethodNotFound         = -32601
	CodeInvalidParams          = -32602
	CodeInternalError          = -32603
	CodeResourceNotFound       = -32002 // until 2025-11-25
	CodeURLElicitationRequired = -32042 // 2025-11-25 only; see RequiredElicitations

	// Since 2026-07-28.
	CodeHeaderMismatch                  = -32020
	CodeMissingRequiredClientCapability = -32021
	CodeUnsupportedProtocolVersion      = -32022
)

// TimeoutError says that a call was given up because of its limits (see [Options] and [WithTimeout]). It unwraps to
// [context.DeadlineExceeded].
type TimeoutError struct {
	Method string
	Limit  time.Duration
	Hard   bool // the maximum, which progress does not renew; else the idle limit
}

func (e *TimeoutError) Error() string {
	if e.Hard {
		return fmt.Sprintf("not finished within %v", e.Limit)
	}
	return fmt.Sprintf("no answer and no progress for %v", e.Limit)
}

func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// Timeout reports true, as in net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// VersionError says that the server speaks no revision that the client accepts (see [Options]).
type VersionError struct {
	Offered  []string // by the server, as far as it said
	Accepted []string // by the client
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the server speaks protocol version %q, which is none of %s",
		strings.Join(e.Offered, ", "), strings.Join(e.Accepted, ", "))
}

// CapabilityError says that a request was not sent because the server does not offer what it needs. Revisions until
// 2025-11-25 forbid to use what was not negotiated; [Client.Request] sends regardless.
type CapabilityError struct {
	Capability string // "prompts", "resources.subscribe"
}

func (e *CapabilityError) Error() string { return "the server does not offer " + e.Capability }

// PageError says that a list was not read to its end, because its pages do not end: a cursor came twice, or there are
// more pages, or more bytes, than [Options] allow.
type PageError struct {
	Pages    int  // how many were read
	Repeated bool // whether the cursor that followed them had been used before
	Bytes    int  // how many they have, if that is too much; 0 if it is not
}

func (e *PageError) Error() string {
	switch {
	case e.Repeated:
		return fmt.Sprintf("the list never ends: a cursor came back after page %d", e.Pages)
	case e.Bytes > 0:
		return fmt.Sprintf("the list is too large: %d bytes up to page %d", e.Bytes, e.Pages)
	}
	return fmt.Sprintf("the list has more than %d pages", e.Pages)
}

// ToolError is a result with isError set, where a caller asked for a value of its own type: see [CallToolAs].
type ToolError struct {
	Result *CallToolResult
}

// Error gives the text of the result as one line, at most 1 KiB of it.
func (e *ToolError) Error() string {
	const most = 1 << 10
	text := oneline.Of(e.Result.Text(), most)
	if text == "" {
		return "the tool failed"
	}
	return "the tool failed: " + text
}

// OutputError says that the structured content of a result cannot be used: there is none, or it does not fit the tool's
// output schema, or the type that [CallToolAs] was to decode it into. Err says which, and Result is what the server
// sent.
type OutputError struct {
	Result *CallToolResult
	Err    error
}

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// RequiredElicitations returns the URL elicitations that must be completed before a request can be sent again, if err
// is the error with which revision 2025-11-25 asks for them ([CodeURLElicitationRequired]), else nil.
func RequiredElicitations(err error) []*ElicitRequest {
	var rpc *RPCError
	if !errors.As(err, &rpc) || rpc.Code != CodeURLElicitationRequired {
		return nil
	}
	var data struct {
		Elicitations []*ElicitRequest `json:"elicitations"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil {
		return nil
	}
	return data.Elicitations
}

// closedError is the end of a client: by Close if there is no cause, else because the connection was lost.
type closedError struct{ cause error }

func (e *closedError) Error() string {
	if e.cause == nil {
		return "client closed"
	}
	return "connection lost: " + e.cause.Error()
}

func (e *closedError) Is(target error) bool { return target == ErrClosed }
func (e *closedError) Unwrap() error        { return e.cause }

// ended says why ctx is over: a limit of the call, or what the caller's ctx says, which also matches its cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	var limit *TimeoutError
	if errors.As(cause, &limit) || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
