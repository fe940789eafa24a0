package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/transport"
)

// call calls tools with deadlines until the host is closed.
func (r *torture) call(random *rand.Rand) {
	scope := r.host.Scope()
	defer func() { scope.Close() }()
	for {
		if random.IntN(50) == 0 {
			scope.Close()
			scope = r.host.Scope()
		}
		if r.callOnce(random, scope) {
			return
		}
		time.Sleep(time.Duration(20+random.IntN(200)) * time.Millisecond)
	}
}

// callOnce makes a call, and reports whether the host is closed. Some lose their scope while they wait.
func (r *torture) callOnce(random *rand.Rand, scope *host.Scope) (closed bool) {
	c := r.choose(random)
	limit := time.Duration(20+random.IntN(3000)) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if random.IntN(20) == 0 {
		scope = r.host.Scope()
		c.scoped = true
		defer time.AfterFunc(limit/4, scope.Close).Stop()
	}
	args := map[string]any{"text": c.text, "sleep": c.sleep}
	begun := time.Now()
	var result *mcp.CallToolResult
	var err error
	if c.byServer {
		result, err = scope.CallServerTool(ctx, c.server, c.tool, args)
	} else {
		result, err = scope.CallTool(ctx, c.name, args)
	}
	r.punctual("call", limit, time.Since(begun))
	if err == nil {
		r.right(c, result)
		return false
	}
	if transport.SafeToRetry(err) {
		r.mu.Lock()
		r.unsent[c.text] = true
		r.mu.Unlock()
	}
	r.count("call: " + r.classify(c, err))
	return errors.Is(err, host.ErrClosed)
}

// punctual asserts that something has ended in time.
func (r *torture) punctual(what string, limit, took time.Duration) {
	late := took - limit
	assert.Less(r.t, late, tortureGrace, "%s with a deadline of %v took %v", what, limit, took)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = max(r.late, late)
}

// A tortureCall is a call of a tool.
type tortureCall struct {
	server, tool string
	name         string // for the model
	byServer     bool   // called by server and tool
	text         string
	sleep        int
	scoped       bool // its scope may be closed
	least        int  // revision of the server that may answer
}

func (r *torture) choose(random *rand.Rand) *tortureCall {
	c := &tortureCall{text: strconv.FormatInt(r.texts.Add(1), 10)}
	catalog := r.host.Catalog()
	r.check(catalog)
	if len(catalog.Tools) == 0 || random.IntN(6) == 0 {
		c.byServer, c.server, c.tool = true, r.victims[random.IntN(len(r.victims))].name, "echo"
	} else {
		t := catalog.Tools[random.IntN(len(catalog.Tools))]
		c.name, c.server, c.tool = t.Name, t.Server, t.Tool.Name
		if c.tool == "never" && random.IntN(4) > 0 {
			c.byServer, c.tool = true, "which"
		}
		c.sleep = map[string]int{"sleep": random.IntN(2000)}[c.tool]
	}
	c.least = int(r.names[c.server].revision.Load())
	return c
}

// right asserts that an answer is that of the tool that was called, of the server that was meant, as it is configured.
func (r *torture) right(c *tortureCall, result *mcp.CallToolResult) {
	r.count("call: right")
	var answer torturedAnswer
	if !assert.NoError(r.t, json.Unmarshal([]byte(result.Text()), &answer), "%+v", result) {
		return
	}
	assert.Equal(r.t, []string{c.server, c.tool, c.text}, []string{answer.Server, answer.Tool, answer.Text})
	if r.names[c.server].address == "" {
		revision, err := strconv.Atoi(answer.Revision)
		assert.NoError(r.t, err)
		assert.GreaterOrEqual(r.t, revision, c.least, "%s was answered by one of an old configuration", c.server)
	}
	assert.NotEqual(r.t, "never", c.tool)
}

// classify names the type of an error, and asserts that there is one that a caller can do something with.
func (r *torture) classify(c *tortureCall, err error) string {
	var state *host.StateError
	var missing *host.NotFoundError
	var limit *mcp.TimeoutError
	var rpc *mcp.RPCError
	safe := transport.SafeToRetry(err)
	switch {
	case errors.Is(err, host.ErrClosed):
		assert.True(r.t, r.closing.Load(), "closed before it was: %v", err)
		return "host.ErrClosed"
	case errors.Is(err, host.ErrScopeClosed):
		assert.True(r.t, c.scoped, "the scope was closed by nobody: %v", err)
		return "host.ErrScopeClosed"
	case errors.As(err, &state):
		assert.True(r.t, safe, err)
		assert.Equal(r.t, c.server, state.Server)
		return "host.StateError, " + string(state.State)
	case errors.As(err, &missing):
		assert.True(r.t, safe, err)
		may := !c.byServer || r.names[c.server].mayBeRemoved() || strings.HasPrefix(c.tool, "set")
		assert.True(r.t, may, err)
		return "host.NotFoundError"
	case errors.As(err, &limit):
		return "mcp.TimeoutError"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprint("context.DeadlineExceeded, sent: ", !safe)
	case errors.Is(err, mcp.ErrClosed):
		return "mcp.ErrClosed"
	case errors.Is(err, mcp.ErrSessionExpired):
		return "mcp.ErrSessionExpired"
	case errors.Is(err, transport.ErrUnavailable):
		return "transport.ErrUnavailable"
	case errors.Is(err, mcp.ErrNoResponse):
		return "mcp.ErrNoResponse"
	case errors.As(err, &rpc):
		assert.EqualValues(r.t, mcp.CodeInvalidParams, rpc.Code, err)
		assert.Contains(r.t, c.tool, "set", err)
		return "mcp.RPCError, no such tool"
	case safe:
		return "transport.SafeToRetry" // such as a connection that was refused
	}
	assert.Fail(r.t, "an error without a type", "%#v: %v", err, err)
	return "other"
}

// watch follows the events, and looks at the catalogs that come with them.
func (r *torture) watch() {
	for e := range r.host.Events(context.Background()) {
		r.check(e.Catalog)
		if e.Gone {
			r.count("event: gone")
		} else {
			r.count("event: " + string(e.Status.State))
		}
	}
}

// check asserts that a catalog has, of each server in it, the tools of one set, and all of them.
func (r *torture) check(c *host.Catalog) {
	if r.checked.Swap(c) == c {
		return
	}
	const size = setSize + 4 // with those of fixed
	for i := 0; i < len(c.Tools); i += size {
		if !assert.LessOrEqual(r.t, i+size, len(c.Tools), "the last server has too few tools") {
			return
		}
		r.checkServer(c.Generation, c.Tools[i:i+size])
	}
}

func (r *torture) checkServer(generation uint64, tools []host.Tool) {
	server, text := tools[0].Server, tools[0].Tool.Description
	var set int64
	_, err := fmt.Sscanf(text, server+" with set %d", &set)
	assert.NoError(r.t, err, "%q is listed as of %s", text, server)
	want := setTools(set)
	slices.Sort(want)
	var got []string
	for _, tool := range tools {
		assert.Equal(r.t, server, tool.Server, "catalog %d", generation)
		assert.Equal(r.t, text, tool.Tool.Description, "catalog %d", generation)
		got = append(got, tool.Tool.Name)
	}
	assert.Equal(r.t, want, got, "catalog %d has half a set of tools", generation)
}
