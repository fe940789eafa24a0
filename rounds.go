package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// Since 2026-07-28 a server does not send requests. Where it needs something of the client, it answers a request with
// what it needs, and the client sends the request again together with that (basic/patterns/mrtr).

// An InputRequest is something that a server needs before it can answer.
type InputRequest struct {
	Method string          `json:"method"` // elicitation/create, sampling/createMessage or roots/list
	Params json.RawMessage `json:"params,omitempty"`
}

// InputRequiredError is the result of a call with [WithManualInput] whose server needs more. Call again, with the same
// arguments and [WithInput]. If there is a [*TaskError] around it, the call goes on as a task already: pass [WithInput]
// to [Client.AwaitTask] instead.
type InputRequiredError struct {
	Requests map[string]InputRequest // by the server's own keys; may be empty
	State    json.RawMessage         // what to send back, as it is; nil for nothing
	Meta     Meta
}

func (e *InputRequiredError) Error() string {
	return fmt.Sprintf("the server needs %d inputs before it can answer", len(e.Requests))
}

// InputRoundsError says that a server kept asking for input.
type InputRoundsError struct{ Rounds int }

func (e *InputRoundsError) Error() string {
	return fmt.Sprintf("the server still asks for input after %d rounds", e.Rounds)
}

const (
	// Back-off of rounds in which the server asks for nothing but another try.
	minRoundDelay = 100 * time.Millisecond
	maxRoundDelay = 5 * time.Second
)

// complete returns the answer that a request leads to, after as many rounds as that takes, and the end of a task if it
// becomes one. The hard limit holds for all of it together; the idle limit does not run while a handler asks a human.
func (c *Client) complete(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	r, err := r.withCallersInput(o.input)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	if !c.session.Load().modern() {
		return c.exchange(ctx, r, o)
	}
	begun := time.Now()
	answer, err := c.exchange(ctx, r, o)
	if err != nil || answer.Error != nil || !c.session.Load().modern() || isComplete(resultType(answer.Result)) {
		return answer, err
	}
	ctx, cancel := o.within(ctx, r.method, begun)
	defer cancel()
	for round := 1; ; round++ {
		switch kind := resultType(answer.Result); {
		case isComplete(kind):
			return answer, nil
		case kind == "task" && c.opts.Tasks && r.method == "tools/call":
			return c.follow(ctx, r, o, answer, round)
		case kind != "input_required":
			return nil, unknownResultType(kind)
		}
		next, err := c.nextRound(ctx, r, o, answer.Result, round)
		if err != nil {
			return nil, transport.Sent(err)
		}
		if answer, err = c.exchange(ctx, next, o); err != nil || answer.Error != nil {
			return answer, transport.Sent(err)
		}
	}
}

// within bounds what a call does after its first exchange.
func (o *callOptions) within(
	ctx context.Context, method string, begun time.Time,
) (context.Context, context.CancelFunc) {
	if o.maxTimeout <= 0 {
		return ctx, func() {}
	}
	limit := &TimeoutError{Method: method, Limit: o.maxTimeout, Hard: true}
	return context.WithDeadlineCause(ctx, begun.Add(o.maxTimeout), limit)
}

// nextRound gathers what a result asks for, and returns the request to send with it.
func (c *Client) nextRound(
	ctx context.Context, r *request, o *callOptions, result json.RawMessage, round int,
) (*request, error) {
	needed, err := inputRequired(result)
	switch {
	case err != nil:
		return nil, err
	case !r.renewable: // the requests that may ask for input are those that may take long
		return nil, errors.New("unusable result: this request cannot ask for input")
	case o.manualInput:
		return nil, needed
	case round > c.opts.MaxInputRounds:
		return nil, &InputRoundsError{Rounds: c.opts.MaxInputRounds}
	}
	responses, err := c.gather(ctx, needed.Requests, round)
	if err != nil {
		return nil, err
	}
	next := *r
	next.params = withInput(r.params, responses, needed.State)
	return &next, nil
}

// isComplete reports whether a result is one. Some servers leave the type out.
func isComplete(kind string) bool { return kind == "" || kind == "complete" }

// resultType is what a result says that it is, "" if it does not say.
func resultType(result json.RawMessage) (kind string) {
	d := jsonscan.New(result)
	for name := range d.Object() {
		if string(name) == "resultType" && d.Kind() == jsonscan.String {
			kind = d.Text()
		}
	}
	return kind
}

func unknownResultType(kind string) error {
	return fmt.Errorf("unusable result: unknown resultType %q", clip(kind, 64))
}

// inputRequired reads what a result asks for.
func inputRequired(result json.RawMessage) (*InputRequiredError, error) {
	var needed struct {
		Requests map[string]InputRequest `json:"inputRequests"`
		State    json.RawMessage         `json:"requestState"`
		Meta     Meta                    `json:"_meta"`
	}
	if err := json.Unmarshal(result, &needed); err != nil {
		return nil, fmt.Errorf("unusable result: %w", err)
	}
	if string(needed.State) == "null" {
		needed.State = nil
	}
	if len(needed.Requests) == 0 && needed.State == nil {
		return nil, errors.New("unusable result: input is required, and none is named")
	}
	return &InputRequiredError{Requests: needed.Requests, State: needed.State, Meta: needed.Meta}, nil
}

// gather has the handlers answer what a server asks for, all at once. If it asks for nothing, it waits for a while. The
// end of ctx ends the wait: a handler that does not mind it is left behind.
func (c *Client) gather(
	ctx context.Context, requests map[string]InputRequest, round int,
) (map[string]json.RawMessage, error) {
	if len(requests) == 0 {
		return nil, pause(ctx, min(minRoundDelay<<min(round-1, 10), maxRoundDelay))
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, clientKey{}, c))
	defer cancel(nil)
	defer context.AfterFunc(c.ctx(), func() { cancel(&closedError{}) })()
	var (
		mu        sync.Mutex
		running   sync.WaitGroup
		responses = make(map[string]json.RawMessage, len(requests))
		slots     = make(chan struct{}, maxHandlers)
	)
	for key, request := range requests {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		running.Go(func() {
			defer func() { <-slots }()
			response, err := json.RawMessage(nil), goexit.Err
			defer func() {
				if err != nil {
					cancel(fmt.Errorf("input %q, %s: %w", clip(key, 64), clip(request.Method, 64), err))
				}
			}()
			if response, err = c.respond(ctx, request); err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			responses[key] = response
		})
	}
	answered := make(chan struct{})
	go func() {
		running.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return responses, nil
}

// respond has the handler answer one request.
func (c *Client) respond(ctx context.Context, request InputRequest) (json.RawMessage, error) {
	if c.opts.requestHandler(request.Method) == nil || !builtInRequests[request.Method] {
		return nil, errors.New("the client did not declare that")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c.runHandler(ctx, &transport.Message{Method: request.Method, Params: request.Params})
}

// withCallersInput adds what the caller has gathered, if anything.
func (r *request) withCallersInput(in *input) (*request, error) {
	if in == nil {
		return r, nil
	}
	responses, err := in.encoded()
	if err != nil {
		return nil, err
	}
	if in.state != nil && !jsonscan.Valid(in.state) {
		return nil, errors.New("the state is not what the server sent")
	}
	next := *r
	next.params = withInput(r.params, responses, in.state)
	return &next, nil
}

func (in *input) encoded() (map[string]json.RawMessage, error) {
	responses := make(map[string]json.RawMessage, len(in.responses))
	for key, response := range in.responses {
		var err error
		if responses[key], err = encodeResult(response); err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
	}
	return responses, nil
}

// withInput adds to params what a server asked for.
func withInput(params json.RawMessage, responses map[string]json.RawMessage, state json.RawMessage) json.RawMessage {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	b := append(make([]byte, 0, len(params)+len(state)+64), params[:len(params)-1]...)
	if len(responses) > 0 {
		b = append(appendMember(b, "inputResponses"), '{')
		for key, response := range responses {
			b = append(appendMember(b, key), response...)
		}
		b = append(b, '}')
	}
	if state != nil {
		b = append(appendMember(b, "requestState"), state...)
	}
	return append(b, '}')
}

// pause waits, and returns an error if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}
