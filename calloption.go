package mcp

import (
	"encoding/json"
	"maps"
	"time"
)

// A CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	timeout    time.Duration // idle; 0 is none
	maxTimeout time.Duration // 0 is none
	progress   func(Progress)
	meta       Meta
	validate   bool
	logLevel   LogLevel // sent only where a revision has it on each request

	header map[string][]string

	cache       cacheMode
	manualInput bool
	input       *input
	task        func(*Task) error
}

// input is what a caller has gathered for a server.
type input struct {
	responses map[string]any
	state     json.RawMessage
}

// WithTimeout bounds the time in which the call sees neither an answer nor progress, in place of [Options].Timeout.
// Zero leaves that as it is; less means no such bound.
func WithTimeout(d time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = limit(d, o.timeout) }
}

// WithMaxTimeout bounds the call as a whole, in place of [Options].MaxTimeout. Zero leaves that as it is; less means no
// such bound.
func WithMaxTimeout(d time.Duration) CallOption {
	return func(o *callOptions) { o.maxTimeout = limit(d, o.maxTimeout) }
}

// WithProgress has fn called for each progress notification of the call: in order, on the calling goroutine, and before
// the call returns. There is no order between it and handlers of the server's requests, which have goroutines of their
// own. While fn runs, the call's other progress waits, up to 4,096 notifications or 16 MiB of it: beyond that the
// oldest waiting ones are dropped, and a diagnostic says so. A panic in fn is the caller's. A list of several pages is
// several calls.
func WithProgress(fn func(Progress)) CallOption {
	return func(o *callOptions) { o.progress = fn }
}

// WithMeta adds members to the _meta of the request. It may be given more than once. The progress token is the
// client's.
func WithMeta(m Meta) CallOption {
	return func(o *callOptions) {
		if o.meta == nil {
			o.meta = make(Meta, len(m))
		}
		maps.Copy(o.meta, m)
	}
}

// WithValidation has CallTool check structured content against the tool's output schema, as [CallToolAs] always does. A
// result that does not fit is an [*OutputError]. It has no effect on other calls.
func WithValidation() CallOption {
	return func(o *callOptions) { o.validate = true }
}

// WithHeader adds a header to the HTTP request that carries the call, beside or in place of those of the transport. It
// may be given more than once. The protocol's own headers cannot be set, and an Authorizer comes last: that of package
// oauth replaces an Authorization header. Other transports have no headers.
func WithHeader(name, value string) CallOption {
	return func(o *callOptions) {
		if o.header == nil {
			o.header = make(map[string][]string)
		}
		o.header[name] = append(o.header[name], value)
	}
}

// WithCached takes what [Options].Cache has in answer to the call even if it is no longer fresh: its time is over, or
// the server has told of a change since. What is not there is asked for. Of WithCached and [WithRefresh], the last one
// counts.
func WithCached() CallOption {
	return func(o *callOptions) { o.cache = cacheAny }
}

// WithRefresh asks the server even if [Options].Cache has a fresh answer, and keeps the new one in its place.
func WithRefresh() CallOption {
	return func(o *callOptions) { o.cache = cacheRefresh }
}

// WithManualInput has a call return an [*InputRequiredError] when the server needs input (2026-07-28), in place of
// having the handlers of [Options] give it.
func WithManualInput() CallOption {
	return func(o *callOptions) { o.manualInput = true }
}

// WithInput sends what a server needed: a result for each of the requests of an [*InputRequiredError], by key, and its
// State. It implies [WithManualInput].
func WithInput(responses map[string]any, state json.RawMessage) CallOption {
	return func(o *callOptions) { o.manualInput, o.input = true, &input{responses, state} }
}

// WithTask has fn called when the server goes on with the call as a task ([Options].Tasks), and whenever the task has
// changed: on the calling goroutine, with the state that the server gave, before the call returns. If the server
// answers at once, fn is not called. Store the task's ID in fn, durably, to be able to come back to it with
// [Client.AwaitTask].
//
// If fn returns an error, the call ends with it. The task is the caller's: the end of ctx ends the call, and no longer
// the task (see [Client.CancelTask]).
func WithTask(fn func(*Task) error) CallOption {
	return func(o *callOptions) { o.task = fn }
}

// WithLogLevel asks for log messages of this level and above while the call is under way, in place of what
// [Client.SetLogLevel] set. Revisions until 2025-11-25 have one level for the whole connection, which this does not
// change.
func WithLogLevel(level LogLevel) CallOption {
	return func(o *callOptions) { o.logLevel = level }
}

func (c *Client) callOptions(opts []CallOption) callOptions {
	o := callOptions{timeout: c.opts.Timeout, maxTimeout: c.opts.MaxTimeout}
	if level := c.logLevel.Load(); level != nil {
		o.logLevel = *level
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}
