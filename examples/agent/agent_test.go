package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// An api plays the Chat Completions API: reply says what to answer to the nth request, from 1.
type api struct {
	url   string
	reply func(n int, w http.ResponseWriter, r *http.Request)

	mu       sync.Mutex
	requests []request
}

type request struct {
	Model    string
	Messages []message
	Tools    []struct {
		Type     string
		Function struct{ Name string }
	}
	header http.Header
}

func newAPI(t *testing.T, reply func(n int, w http.ResponseWriter, r *http.Request)) *api {
	a := &api{reply: reply}
	server := httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	a.url = server.URL + "/v1"
	return a
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	got := request{header: r.Header}
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	a.mu.Lock()
	a.requests = append(a.requests, got)
	n := len(a.requests)
	a.mu.Unlock()
	a.reply(n, w, r)
}

func (a *api) received() []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

func answers(w http.ResponseWriter, text string) {
	content, _ := json.Marshal(text)
	fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": %s}}]}`, content)
}

func asks(w http.ResponseWriter, calls ...string) {
	fmt.Fprintf(w, `{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [%s]}}]}`,
		strings.Join(calls, ","))
}

func call(id, name, arguments string) string {
	text, _ := json.Marshal(arguments)
	return fmt.Sprintf(`{"id": %q, "type": "function", "function": {"name": %q, "arguments": %s}}`, id, name, text)
}

// newAgent has one server in memory, "notes", and a terminal whose user says nothing.
func newAgent(t *testing.T, a *api, add func(*mcptest.Server)) (*agent, *bytes.Buffer) {
	t.Helper()
	server := &mcptest.Server{Instructions: "Notes have numbers."}
	add(server)
	var screen bytes.Buffer
	out := newTerminal(strings.NewReader(""), &screen)
	h := host.New(host.Options{
		Transport: func(config.Server, transport.Transport) (transport.Transport, error) {
			return server.Transport(), nil
		},
		Approve: out.approve,
	})
	t.Cleanup(func() { assert.NoError(t, h.Close(context.Background())) })
	require.NoError(t, h.Apply(t.Context(), []config.Server{{Name: "notes"}}))
	model := newChatAPI(a.url, "test-model", "key-of-the-test")
	return &agent{host: h, model: model, out: out}, &screen
}

func addNotes(s *mcptest.Server) {
	s.AddTool(tool("read", "Reads a note.", "id", reads), read)
	s.AddTool(tool("erase", "Erases a note.", "id", destroys), says("erased"))
}

func read(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	var args struct{ ID string }
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	if args.ID == "0" {
		return nil, errors.New("there is no note 0")
	}
	return mcptest.Text("note " + args.ID + "\nis long"), nil
}

// Everything that a model gets wrong has a result from which it can learn, and the calls of one reply keep their order.
func TestConversation(t *testing.T) {
	a := newAPI(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			answers(w, "It is \x1b[31mlong.")
			return
		}
		asks(w,
			call("a", "mcp__notes__read", `{"id": "1"}`),
			call("b", "mcp__notes__read", `{"id": "2"}`),
			call("c", "mcp__notes__read", `{"id": "0"}`),
			call("d", "mcp__notes__write", `{}`),
			call("e", "mcp__notes__read", `{"id": `),
			call("f", "mcp__notes__read", `{}`),
			call("g", "mcp__notes__erase", `{"id": "1"}`),
			`{"function": {"name": "mcp__notes__read", "arguments": {"id": "3"}}}`, // as some servers write it
		)
	})
	agent, screen := newAgent(t, a, addNotes)
	require.NoError(t, agent.turn(t.Context(), "What do my notes say?"))

	requests := a.received()
	require.Len(t, requests, 2)
	assert.Equal(t, "Bearer key-of-the-test", requests[0].header.Get("Authorization"))
	assert.Equal(t, "test-model", requests[0].Model)
	require.Len(t, requests[0].Tools, 2)
	assert.Equal(t, "function", requests[0].Tools[0].Type)
	assert.Equal(t, "mcp__notes__erase", requests[0].Tools[0].Function.Name)
	assert.Equal(t, "system", requests[0].Messages[0].Role)
	assert.Contains(t, requests[0].Messages[0].Content, "About the functions of notes: Notes have numbers.")
	assert.Equal(t, []message{{Role: "user", Content: "What do my notes say?"}}, requests[0].Messages[1:])

	conversation := requests[1].Messages[1:]
	require.Len(t, conversation, 10)
	assert.Equal(t, requests[0].Messages[:2], requests[1].Messages[:2], "what was said stays the same for the cache")
	for i, call := range conversation[1].ToolCalls {
		result := conversation[2+i]
		assert.Equal(t, "tool", result.Role)
		assert.Equal(t, call.ID, result.ToolCallID)
		assert.NotEmpty(t, call.ID)
	}
	assert.Equal(t, jsonText(`{"id": "3"}`), conversation[1].ToolCalls[7].Function.Arguments)
	assert.Equal(t, "note 1\nis long", conversation[2].Content)
	assert.Equal(t, "note 2\nis long", conversation[3].Content)
	assert.Contains(t, conversation[4].Content, "there is no note 0")
	assert.Equal(t, "There is no function of that name.", conversation[5].Content)
	assert.Contains(t, conversation[6].Content, "JSON")
	assert.Contains(t, conversation[7].Content, "id")
	assert.Equal(t, "Not called: the user has refused this call.", conversation[8].Content)
	assert.Equal(t, "note 3\nis long", conversation[9].Content)

	assert.Contains(t, screen.String(), "-> notes/read {\"id\": \"1\"}\n")
	assert.Contains(t, screen.String(), "<- notes/read: note 1 ...\n")
	assert.Contains(t, screen.String(), "It is \uFFFD[31mlong.\n")
	assert.Len(t, agent.past, 11)
}

func TestEndlessCallsAreBounded(t *testing.T) {
	a := newAPI(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		asks(w, call(fmt.Sprint(n), "mcp__notes__read", `{"id": "1"}`))
	})
	agent, _ := newAgent(t, a, addNotes)
	assert.Equal(t, errTooManyRounds, agent.turn(t.Context(), "Go on."))
	assert.Len(t, a.received(), maxRounds)
	checkPast(t, agent.past)
}

func TestManyCallsInOneReply(t *testing.T) {
	a := newAPI(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			answers(w, "ok")
			return
		}
		var calls []string
		for i := range 3 * maxCalls {
			calls = append(calls, call(fmt.Sprint(i), "mcp__notes__read", `{"id": "1"}`))
		}
		asks(w, calls...)
	})
	agent, _ := newAgent(t, a, addNotes)
	require.NoError(t, agent.turn(t.Context(), "All of them."))
	checkPast(t, agent.past)
	made := 0
	for _, m := range agent.past {
		if m.Content == "note 1\nis long" {
			made++
		}
	}
	assert.Equal(t, maxCalls, made)
}

// A turn that is interrupted leaves a conversation that goes on.
func TestInterruptedCall(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	a := newAPI(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			answers(w, "as you like")
			return
		}
		asks(w, call("1", "mcp__notes__wait", `{}`), call("2", "mcp__notes__read", `{"id": "1"}`))
	})
	agent, _ := newAgent(t, a, func(s *mcptest.Server) {
		addNotes(s)
		s.AddTool(tool("wait", "", "", reads), func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
			interrupt(errInterrupted)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	assert.Equal(t, errInterrupted, agent.turn(ctx, "Wait."))
	assert.Len(t, a.received(), 1)
	checkPast(t, agent.past)
	assert.Equal(t, "The user has interrupted this call. It may have had an effect.", agent.past[2].Content)

	require.NoError(t, agent.turn(t.Context(), "Never mind."))
	checkPast(t, agent.past)
}

func TestInterruptedReply(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	a := newAPI(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		interrupt(errInterrupted)
		<-r.Context().Done()
	})
	agent, _ := newAgent(t, a, addNotes)
	assert.Equal(t, errInterrupted, agent.turn(ctx, "Think."))
}

// checkPast checks what the APIs insist on: after a reply with calls there is a result for each of them.
func checkPast(t *testing.T, past []message) {
	t.Helper()
	for i, m := range past {
		for j, call := range m.ToolCalls {
			require.Less(t, i+1+j, len(past))
			assert.Equal(t, call.ID, past[i+1+j].ToolCallID)
		}
	}
}
