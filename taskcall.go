package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// GetTask asks how far a task has come, once. One that the server does not know, or knows no longer, is an [*RPCError]
// with [CodeInvalidParams].
func (c *Client) GetTask(ctx context.Context, id string, opts ...CallOption) (*Task, error) {
	r, o, err := c.aboutTask("tasks/get", id, opts)
	if err != nil {
		return nil, err
	}
	task, err := c.getTask(ctx, id, o)
	if err != nil {
		return nil, r.wrap(err)
	}
	return task, nil
}

// AwaitTask returns the result of a task, as [Client.CallTool] would have: it asks for it until it is there, and gives
// the server what it needs meanwhile. It may be the task of an earlier process. What ends without a result is a
// [*TaskError], except that the error of a task which was never seen is that of [Client.GetTask]. The task goes on
// whatever ends the call.
//
// Of the options, [WithMaxTimeout] bounds the call as a whole, WithTimeout each of its requests, and [WithTask] shows
// changes. [WithManualInput] and [WithInput] work as with CallTool; there is no state to send back.
func (c *Client) AwaitTask(ctx context.Context, id string, opts ...CallOption) (*CallToolResult, error) {
	r, o, err := c.aboutTask("tasks/get", id, opts)
	if err != nil {
		return nil, err
	}
	responses, err := o.taskInput()
	if err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	ctx, cancel := o.within(ctx, r.method, time.Now())
	defer cancel()
	w := &taskWait{client: c, o: o, id: id, interval: defaultPollInterval}
	raw, err := w.await(ctx, responses)
	if err != nil {
		return nil, r.wrap(err)
	}
	result, notes, err := decodeResult[CallToolResult](raw)
	c.tolerated(r.method, notes)
	if err != nil {
		return nil, r.wrap(&TaskError{w.task, unusable(err)})
	}
	return result, nil
}

// CancelTask asks the server to give up a task. It returns when the server has taken note, which says nothing about
// whether and when the task ends, or how.
func (c *Client) CancelTask(ctx context.Context, id string, opts ...CallOption) error {
	r, o, err := c.aboutTask("tasks/cancel", id, opts)
	if err != nil {
		return err
	}
	if _, err := c.askTask(ctx, r, o); err != nil {
		return r.wrap(err)
	}
	return nil
}

var (
	errNoTasks  = errors.New("Options.Tasks was not set")
	errNoTaskID = errors.New("there is no task without an ID")
)

// aboutTask begins a request about a task, with the options of a caller.
func (c *Client) aboutTask(method, id string, opts []CallOption) (*request, *callOptions, error) {
	r, o := taskRequest(method, id), c.callOptions(opts)
	switch {
	case !c.opts.Tasks:
		return nil, nil, r.wrap(transport.Unsent(errNoTasks))
	case id == "":
		return nil, nil, r.wrap(transport.Unsent(errNoTaskID))
	}
	err := c.requires(r, c.session.Load().modern(), "extensions."+tasksExtension)
	return r, o.forTask(), err
}

// forTask are the options for the requests about a task: no progress is reported on them (Task Status Notifications).
func (o *callOptions) forTask() *callOptions {
	next := *o
	next.progress = nil
	return &next
}

// taskInput is what a caller has gathered for a task.
func (o *callOptions) taskInput() (map[string]json.RawMessage, error) {
	if o.input == nil {
		return nil, nil
	}
	if o.input.state != nil {
		return nil, errors.New("a task has no state")
	}
	return o.input.encoded()
}

// askTask sends a request about a task and returns its result.
func (c *Client) askTask(ctx context.Context, r *request, o *callOptions) (json.RawMessage, error) {
	answer, err := c.exchange(ctx, r, o)
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, answer.Error
	}
	return answer.Result, nil
}

func (c *Client) getTask(ctx context.Context, id string, o *callOptions) (*Task, error) {
	r := taskRequest("tasks/get", id)
	result, err := c.askTask(ctx, r, o)
	if err != nil {
		return nil, err
	}
	// The specification has "complete" here, and "task" in some of its examples.
	if kind := resultType(result); !slices.Contains([]string{"", "complete", "task"}, kind) {
		return nil, unknownResultType(kind)
	}
	return c.decodeTask(r.method, result, id)
}

// follow waits for the end of the task that a call has become. If the caller cannot come back to it, nobody needs it
// once this side has given up.
func (c *Client) follow(
	ctx context.Context, r *request, o *callOptions, answer *transport.Message, rounds int,
) (*transport.Message, error) {
	task, err := c.decodeTask(r.method, answer.Result, "")
	if err != nil {
		return nil, transport.Sent(err)
	}
	w := &taskWait{client: c, o: o.forTask(), id: task.ID, interval: defaultPollInterval, rounds: rounds - 1}
	result, err := w.begin(ctx, task)
	if err != nil {
		if o.task == nil && (w.gaveUp || ctx.Err() != nil) {
			c.abandonTask(ctx, task.ID, w.o)
		}
		return nil, err
	}
	if o.task != nil {
		result = bytes.Clone(result) // the caller has the task, and what becomes of the answer is decoded in place
	}
	return &transport.Message{ID: answer.ID, Result: result}, nil
}

// abandonTask tells the server that a task is not needed any longer. Nobody waits for what comes of it.
func (c *Client) abandonTask(ctx context.Context, id string, o *callOptions) {
	r, n, session := taskRequest("tasks/cancel", id), c.nextID.Add(1), c.session.Load()
	params, err := r.withMeta(n, session.commonMeta(), o)
	if err != nil {
		return // it is what the call went out with
	}
	c.postOutgoing(ctx, transport.Outgoing{
		Message:    &transport.Message{ID: transport.IntID(n), Method: r.method, Params: params},
		Mirror:     r.mirror,
		Header:     o.header,
		Unattended: true,
	})
}

// unusable marks an error in what the server sent.
func unusable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("unusable result: %w", err)
}
