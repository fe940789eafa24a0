package mcp

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// tasksExtension is the identifier of the extension with which a server answers a call at once and goes on with it as a
// task (SEP-2663). Extensions are off unless a caller asks for them (SEP-2133, SDK Implementation).
const tasksExtension = "io.modelcontextprotocol/tasks"

// A TaskStatus is how far a task has come.
type TaskStatus string

// The statuses. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed" // with a result, which may say that the tool failed
	TaskFailed        TaskStatus = "failed"    // with the error that would have answered the call
	TaskCancelled     TaskStatus = "cancelled"
)

// Final reports whether a task with the status has ended.
func (s TaskStatus) Final() bool { return s == TaskCompleted || s == TaskFailed || s == TaskCancelled }

// A Task is a call of a tool that the server goes on with after it has answered it, in the state that it was last seen
// in. The ID is all that is needed to come back to it, on another connection as well: see [Client.AwaitTask]. To some
// servers it is also all that one needs to be let in, so keep it like a credential.
type Task struct {
	ID            string
	Status        TaskStatus
	StatusMessage string        // for users or models; may be empty
	CreatedAt     string        // ISO 8601, as it was sent
	UpdatedAt     string        // likewise
	TTL           time.Duration // how long the server keeps it, from CreatedAt on; 0: as long as it likes
	PollInterval  time.Duration // how often the server wants to be asked; 0: it did not say

	InputRequests map[string]InputRequest // what it waits for, by the server's own keys
	Result        json.RawMessage         // of the call, a [CallToolResult]; once completed
	Error         *RPCError               // once failed
	Meta          Meta
}

// MarshalJSON writes the task in the form of tasks/get.
func (t Task) MarshalJSON() ([]byte, error) {
	wire := struct {
		ID            string                  `json:"taskId"`
		Status        TaskStatus              `json:"status"`
		StatusMessage string                  `json:"statusMessage,omitempty"`
		CreatedAt     string                  `json:"createdAt"`
		UpdatedAt     string                  `json:"lastUpdatedAt"`
		TTL           *int64                  `json:"ttlMs"` // null: without a limit
		PollInterval  int64                   `json:"pollIntervalMs,omitempty"`
		InputRequests map[string]InputRequest `json:"inputRequests,omitempty"`
		Result        json.RawMessage         `json:"result,omitempty"`
		Error         *RPCError               `json:"error,omitempty"`
		Meta          Meta                    `json:"_meta,omitempty"`
	}{
		t.ID, t.Status, t.StatusMessage, t.CreatedAt, t.UpdatedAt, nil, t.PollInterval.Milliseconds(),
		t.InputRequests, t.Result, t.Error, t.Meta,
	}
	if ttl := t.TTL.Milliseconds(); ttl > 0 {
		wire.TTL = &ttl
	}
	return marshal(wire)
}

// UnmarshalJSON reads a task. It needs an ID and a status that is known; the rest is read leniently.
func (t *Task) UnmarshalJSON(data []byte) error { return unmarshal(data, t) }

func (t *Task) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "taskId":
			t.ID = d.mustText()
		case "status":
			t.Status = TaskStatus(d.mustText())
		case "statusMessage":
			t.StatusMessage = d.text()
		case "createdAt":
			t.CreatedAt = d.text()
		case "lastUpdatedAt":
			t.UpdatedAt = d.text()
		case "ttlMs":
			t.TTL = d.milliseconds()
		case "pollIntervalMs":
			t.PollInterval = d.milliseconds()
		case "inputRequests":
			if raw := d.object(); raw != nil && json.Unmarshal(raw, &t.InputRequests) != nil {
				d.reject("malformed")
			}
		case "result":
			t.Result = d.object()
		case "error":
			if raw := d.object(); raw != nil && json.Unmarshal(raw, &t.Error) != nil {
				d.note("ignored, not an error")
			}
		case "_meta":
			t.Meta = d.objects()
		}
	}
	switch {
	case t.ID == "":
		d.reject("has no taskId")
	case t.Status != TaskWorking && t.Status != TaskInputRequired && !t.Status.Final():
		d.reject("has no known status")
	}
}

// milliseconds reads a duration. Less than none is none, and more than there is as much as there is.
func (d *decoder) milliseconds() time.Duration {
	n := d.integer()
	if n == nil {
		return 0
	}
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(max(0, min(*n, most))) * time.Millisecond
}

// decodeTask reads a task, the one that was asked for if that is known.
func (c *Client) decodeTask(method string, result json.RawMessage, id string) (*Task, error) {
	task, notes, err := decodeResult[Task](result)
	c.tolerated(method, notes)
	if err == nil && id != "" && task.ID != id {
		err = errors.New("another task than was asked for")
	}
	return task, unusable(err)
}

// TaskError says why a call that became a task, or [Client.AwaitTask], has no result. Unless the status of the task is
// final, the task may go on, and [Client.AwaitTask] may be used again.
type TaskError struct {
	Task *Task // as it was last seen
	// Err is the [*RPCError] of a task that failed, nil if it was cancelled, and else what ended the waiting: a limit,
	// the end of ctx, a lost connection, an [*InputRequiredError], what a handler returned.
	Err error
}

// Error says nothing of the task's ID.
func (e *TaskError) Error() string {
	text := "the task gave no result"
	switch e.Task.Status {
	case TaskCancelled:
		text = "the task was cancelled"
	case TaskFailed:
		text = "the task failed"
	}
	if e.Err != nil {
		return text + ": " + e.Err.Error()
	}
	if e.Task.StatusMessage != "" {
		return text + ": " + clip(e.Task.StatusMessage, 1<<10)
	}
	return text
}

// Unwrap returns Err. The call itself has reached the server.
func (e *TaskError) Unwrap() error { return transport.Sent(e.Err) }

// ended is the outcome of a task in a final status.
func (t *Task) ended() (json.RawMessage, error) {
	if t.Status != TaskCompleted {
		e := &TaskError{Task: t}
		if t.Status == TaskFailed && t.Error != nil {
			e.Err = t.Error
		}
		return nil, e
	}
	if t.Result == nil {
		return nil, &TaskError{t, unusable(errors.New("completed, without a result"))}
	}
	if kind := resultType(t.Result); kind != "" && kind != "complete" {
		return nil, &TaskError{t, unknownResultType(kind)}
	}
	return t.Result, nil
}

// taskRequest is a request about a task. What stands between has to see the ID, to route it to where the task is
// (Streamable HTTP: Routing Headers).
func taskRequest(method, id string) *request {
	return &request{
		method: method,
		params: append(jsonscan.AppendString([]byte(`{"taskId":`), id), '}'),
		mirror: transport.Mirror{Name: id},
	}
}
