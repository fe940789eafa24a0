package mcptest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/seed62b61957/mcp"
)

// The extension with which a server goes on with a call after it has answered (SEP-2663).

const tasksExtension = "io.modelcontextprotocol/tasks"

// AddTaskTool offers a tool like [Server.AddTool], with whose calls the server goes on as tasks (since 2026-07-28,
// extension io.modelcontextprotocol/tasks). Clients that do not declare the extension wait for the result.
//
// A task belongs to the server: it goes on when the session has ended, and a client may come back to it, so that a test
// has to see to the end of the handler. The handler's ctx ends when the client cancels the task. What it asks the
// client for is asked by the task; [Call.Progress] does nothing, and [Call.Status] something like it.
func (s *Server) AddTaskTool(t *mcp.Tool, h ToolHandler) {
	s.mu.Lock()
	if s.tasks == nil {
		s.tasks = make(map[string]*task)
	}
	s.mu.Unlock()
	run := reportingFailure(typed(h))
	s.tools.add(t.Name, t, func(ctx context.Context, call *Call) (any, error) {
		if !call.modern || call.wantsTasks() != nil {
			return run(ctx, call)
		}
		return s.beginTask(call, run), nil
	})
}

// Status sets what the client is told of how far the call has come, if it is a task.
func (c *Call) Status(message string) {
	if c.task != nil {
		c.task.change(func(state *mcp.Task) { state.StatusMessage = message })
	}
}

// wantsTasks returns the error for a client that does not declare the extension.
func (c *Call) wantsTasks() error {
	var declared struct {
		Extensions map[string]json.RawMessage `json:"extensions"`
	}
	if _, err := c.Meta.Decode(metaCapabilities, &declared); err == nil && declared.Extensions[tasksExtension] != nil {
		return nil
	}
	return &mcp.RPCError{
		Code:    mcp.CodeMissingRequiredClientCapability,
		Message: "the client does not declare the extension for tasks",
		Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
	}
}

// A task is a call that goes on.
type task struct {
	server *Server
	run    Handler
	ctx    context.Context
	cancel context.CancelCauseFunc

	turn   sync.Mutex // for telling of changes in their order
	mu     sync.Mutex
	state  mcp.Task
	call   *Call                      // that goes on when the client has given what it needs
	inputs map[string]json.RawMessage // of that, what has come
}

func (s *Server) beginTask(call *Call, run Handler) any {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	t := &task{server: s, run: run, state: mcp.Task{
		ID: rand.Text(), Status: mcp.TaskWorking, CreatedAt: now, UpdatedAt: now, PollInterval: s.PollInterval,
	}}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	next := *call
	next.task = t
	next.Meta = maps.Clone(call.Meta)
	delete(next.Meta, "progressToken")
	t.call = &next
	s.mu.Lock()
	s.tasks[t.state.ID] = t
	s.mu.Unlock()
	created := createdTask{"task", t.state}
	go t.work(&next)
	return created
}

// createdTask is the answer to a call that goes on.
type createdTask struct {
	Type string
	mcp.Task
}

func (c createdTask) MarshalJSON() ([]byte, error) {
	raw, err := c.Task.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return withMembers(raw, map[string]any{"resultType": c.Type})
}

// work has the handler run until it has a result, or needs the client.
func (t *task) work(call *Call) {
	for {
		result, err := t.run(t.ctx, call)
		var needed *inputRequired
		switch {
		case errors.Is(err, ErrNoAnswer):
			return // it works forever
		case context.Cause(t.ctx) != errCancelled && errors.As(err, &needed):
			next := *call
			next.State, next.inputs, next.answers, next.questions = needed.State, nil, nil, 0
			call = &next
			if len(needed.Requests) == 0 {
				continue
			}
			t.change(func(state *mcp.Task) {
				t.call, t.inputs = call, make(map[string]json.RawMessage)
				state.Status, state.InputRequests = mcp.TaskInputRequired, maps.Clone(needed.Requests)
			})
		default:
			t.change(func(state *mcp.Task) { t.finish(state, result, err) })
		}
		return
	}
}

func (t *task) finish(state *mcp.Task, result any, err error) {
	if context.Cause(t.ctx) == errCancelled {
		state.Status = mcp.TaskCancelled
		return
	}
	if err == nil {
		state.Result, err = encoded(result)
	}
	state.Status = mcp.TaskCompleted
	if err != nil {
		state.Status, state.Result = mcp.TaskFailed, nil
		if !errors.As(err, &state.Error) {
			state.Error = &mcp.RPCError{Code: mcp.CodeInternalError, Message: err.Error()}
		}
	}
}

// change changes the state, unless that is final, and tells the clients that listen for it.
func (t *task) change(apply func(*mcp.Task)) {
	t.turn.Lock()
	defer t.turn.Unlock()
	t.mu.Lock()
	if t.state.Status.Final() {
		t.mu.Unlock()
		return
	}
	apply(&t.state)
	t.state.UpdatedAt = time.Now().UTC().Format(time.RFC3339Nano)
	state := t.state
	t.mu.Unlock()
	for _, x := range t.server.Sessions() {
		_ = x.tell(x.ctx, string(mcp.TaskChanged), state) // an error means that nobody is there any longer
	}
}

func (t *task) snapshot() mcp.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// give takes what the client was asked for. When all of it is there, the handler goes on.
func (t *task) give(responses map[string]json.RawMessage) {
	var next *Call
	t.change(func(state *mcp.Task) {
		outstanding := maps.Clone(state.InputRequests)
		for key, response := range responses {
			if _, asked := outstanding[key]; asked {
				t.inputs[key] = response
				delete(outstanding, key)
			}
		}
		state.InputRequests = outstanding
		if state.Status == mcp.TaskInputRequired && len(outstanding) == 0 {
			state.Status, next = mcp.TaskWorking, t.call
			next.inputs = t.inputs
		}
	})
	if next != nil {
		go t.work(next)
	}
}

// giveUp cancels the handler, or the task at once if no handler runs.
func (t *task) giveUp() {
	t.cancel(errCancelled)
	t.change(func(state *mcp.Task) {
		if state.Status == mcp.TaskInputRequired {
			state.Status, state.InputRequests = mcp.TaskCancelled, nil
		}
	})
}

// taskOf finds the task that a request is about.
func taskOf(call *Call) (*task, map[string]json.RawMessage, error) {
	s := call.Session.server
	if !s.offersTasks() {
		return nil, nil, unknownMethod(call)
	}
	if err := call.wantsTasks(); err != nil {
		return nil, nil, err
	}
	var params struct {
		ID string `json:"taskId"`
	}
	_ = json.Unmarshal(call.params(), &params) // which is no task then
	if t := s.task(params.ID); t != nil {
		return t, call.inputs, nil
	}
	return nil, nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "no such task"}
}

func getTask(_ context.Context, call *Call) (any, error) {
	t, _, err := taskOf(call)
	if err != nil {
		return nil, err
	}
	return t.snapshot(), nil
}

func updateTask(_ context.Context, call *Call) (any, error) {
	t, responses, err := taskOf(call)
	if err == nil {
		t.give(responses)
	}
	return nil, err
}

func cancelTask(_ context.Context, call *Call) (any, error) {
	t, _, err := taskOf(call)
	if err == nil {
		t.giveUp()
	}
	return nil, err
}

func (s *Server) offersTasks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks != nil
}

// task returns the task of that ID, nil if there is none. Nothing is ever forgotten.
func (s *Server) task(id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[id]
}

// knownTasks are those of the tasks that there are.
func (s *Server) knownTasks(ids []string) (known []string) {
	for _, id := range ids {
		if s.task(id) != nil {
			known = append(known, id)
		}
	}
	return known
}
