package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// TestAnAdapterInAFewLines is what a user writes.
func TestAnAdapterInAFewLines(t *testing.T) {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "add"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct{ A, B int }
		if err := call.Bind(&args); err != nil {
			return nil, err
		}
		return mcptest.Text(strconv.Itoa(args.A + args.B)), nil
	})
	client := mcptest.Connect(t, server, nil)
	res, err := client.CallTool(t.Context(), "add", map[string]int{"a": 1, "b": 2})
	require.NoError(t, err)
	require.Equal(t, "3", res.Text())
}

func doNothing(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) { return nil, nil }

func TestTools(t *testing.T) {
	s := new(mcptest.Server)
	add := func(name string, result *mcp.CallToolResult, err error) {
		s.AddTool(&mcp.Tool{Name: name}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			return result, err
		})
	}
	add("says", mcptest.Text("first"), nil)
	add("says", mcptest.Text("hello"), nil)
	add("nothing", nil, nil)
	add("fails", nil, errors.New("disk full"))
	add("refuses", nil, fmt.Errorf("wrapped: %w", &mcp.RPCError{Code: -7, Message: "no"}))
	s.AddTool(&mcp.Tool{Name: "binds"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		args := struct{ N int64 }{N: -1}
		err := call.Bind(&args)
		return mcptest.Text(strconv.FormatInt(args.N, 10)), err
	})
	client := mcptest.Connect(t, s, nil)

	for _, test := range []struct {
		name    string
		args    any
		want    string
		isError bool
	}{
		{"says", nil, "hello", false},
		{"nothing", nil, "", false},
		{"fails", nil, "disk full", true},
		{"binds", json.RawMessage(`{"n":9007199254740993}`), "9007199254740993", false},
		{"binds", nil, "-1", false},
		{"binds", map[string]any{"n": "x"}, "mcptest: arguments: json: cannot unmarshal string", true},
	} {
		res, err := client.CallTool(t.Context(), test.name, test.args)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(res.Text(), test.want), res.Text())
		assert.Equal(t, test.isError, res.IsError)
	}
	for name, code := range map[string]int64{"refuses": -7, "unknown": mcp.CodeInvalidParams} {
		_, err := client.CallTool(t.Context(), name, nil)
		var rpc *mcp.RPCError
		require.ErrorAs(t, err, &rpc)
		assert.Equal(t, code, rpc.Code)
	}
}

func TestPages(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 5, 6} {
		s := &mcptest.Server{PageSize: size}
		var want []string
		for i := range 5 {
			name := fmt.Sprint("tool", i)
			want = append(want, name)
			s.AddTool(&mcp.Tool{Name: name}, doNothing)
		}
		client := mcptest.Connect(t, s, nil)
		names := func() (names []string) {
			tools, err := client.ListTools(t.Context())
			require.NoError(t, err)
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			return names
		}
		assert.Equal(t, want, names())
		if size > 0 {
			assert.Len(t, s.Received("tools/list"), (5+size-1)/size)
		}
		for _, name := range want {
			s.Remove(name)
		}
		assert.Empty(t, names())
		assert.Equal(t, `{"tools":[]}`, dial(t, s).call("tools/list", ""))

		for _, cursor := range []string{"x", "-1", "6", ""} {
			_, err := client.Request(t.Context(), "tools/list", map[string]string{"cursor": cursor})
			assert.ErrorContains(t, err, "unknown cursor (-32602)")
		}
	}
}

// inEachEra runs a test once with a legacy and once with a modern client, each in a bubble.
func inEachEra(t *testing.T, test func(t *testing.T, o *mcp.Options)) {
	for _, version := range []string{mcp.Version20251125, mcp.Version20260728} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, &mcp.Options{Versions: []string{version}}) })
		})
	}
}

func TestResources(t *testing.T) { inEachEra(t, testResources) }

func testResources(t *testing.T, o *mcp.Options) {
	s := new(mcptest.Server)
	read := func(text string) mcptest.ResourceHandler {
		return func(_ context.Context, call *mcptest.Call) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: call.URI, Text: text}}}, nil
		}
	}
	s.AddResource(&mcp.Resource{URI: "file:///a.txt", Name: "a"}, read("a"))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "the.user://{id}/name.txt", Name: "user"}, read("user"))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "tree:///{+path}", Name: "tree"}, read("tree"))
	updated := make(chan string, 10)
	o.On.ResourceUpdated = func(_ context.Context, uri string) { updated <- uri }
	client := mcptest.Connect(t, s, o)
	notFound := mcp.CodeResourceNotFound
	if client.Server().Modern() {
		notFound = mcp.CodeInvalidParams
	}

	resources, err := client.ListResources(t.Context())
	require.NoError(t, err)
	require.Len(t, resources, 1)
	templates, err := client.ListResourceTemplates(t.Context())
	require.NoError(t, err)
	require.Len(t, templates, 2)

	for uri, want := range map[string]string{
		"file:///a.txt": "a", "the.user://7/name.txt": "user", "tree:///a/b": "tree", "tree:///": "tree",
		"file:///b.txt": "", "the.user://7/8/name.txt": "", "the.user://7/nameXtxt": "", "theXuser://7/name.txt": "",
		"x-the.user://7/name.txt": "", "the.user://7/name.txt/x": "",
	} {
		res, err := client.ReadResource(t.Context(), uri)
		if want == "" {
			var rpc *mcp.RPCError
			require.ErrorAs(t, err, &rpc, uri)
			assert.EqualValues(t, notFound, rpc.Code)
			assert.JSONEq(t, `{"uri":"`+uri+`"}`, string(rpc.Data))
			continue
		}
		require.NoError(t, err, uri)
		assert.Equal(t, want, res.Contents[0].Text)
		assert.Equal(t, uri, res.Contents[0].URI)
	}

	require.Error(t, client.SubscribeResource(t.Context(), "file:///unknown"))
	require.NoError(t, client.SubscribeResource(t.Context(), "file:///a.txt"))
	require.NoError(t, client.SubscribeResource(t.Context(), "tree:///x"))
	require.NoError(t, client.UnsubscribeResource(t.Context(), "tree:///x"))
	synctest.Wait() // a modern client does it in the background
	require.NoError(t, s.ResourceUpdated(t.Context(), "tree:///x"))
	require.NoError(t, s.ResourceUpdated(t.Context(), "file:///a.txt"))
	assert.Equal(t, "file:///a.txt", <-updated)
	synctest.Wait()
	assert.Empty(t, updated)
}

func TestPromptsAndCompletion(t *testing.T) {
	s := new(mcptest.Server)
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(_ context.Context, call *mcptest.Call) (*mcp.GetPromptResult, error) {
		var args map[string]string
		if err := call.Bind(&args); err != nil {
			return nil, err
		}
		hello := mcp.PromptMessage{Role: mcp.RoleUser, Content: mcp.Text("Hello " + args["who"])}
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{hello}}, nil
	})
	s.Complete = func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Values: []string{r.Ref.Name + " " + r.Argument + " " + r.Value + "!"}}, nil
	}
	client := mcptest.Connect(t, s, nil)
	prompts, err := client.ListPrompts(t.Context())
	require.NoError(t, err)
	require.Len(t, prompts, 1)
	res, err := client.GetPrompt(t.Context(), "greet", map[string]string{"who": "you"})
	require.NoError(t, err)
	assert.Equal(t, mcp.Text("Hello you"), res.Messages[0].Content)
	_, err = client.GetPrompt(t.Context(), "unknown", nil)
	assert.ErrorContains(t, err, "unknown prompt: unknown (-32602)")
	completed, err := client.Complete(t.Context(),
		&mcp.CompleteRequest{Ref: mcp.PromptRef("greet"), Argument: "who", Value: "m"})
	require.NoError(t, err)
	assert.Equal(t, []string{"greet who m!"}, completed.Values)
}

func TestLogLevelOfASession(t *testing.T) {
	logged := make(chan string, 10)
	s := &mcptest.Server{Logging: true, Versions: []string{mcp.Version20251125}}
	client := mcptest.Connect(t, s, &mcp.Options{On: mcp.Notifications{
		Log: func(_ context.Context, m *mcp.LogMessage) { logged <- string(m.Data) },
	}})
	log := func(level mcp.LogLevel, text string) {
		t.Helper()
		require.NoError(t, s.Sessions()[0].Log(t.Context(), &mcp.LogMessage{Level: level, Data: json.RawMessage(text)}))
	}
	log(mcp.LogDebug, `1`)
	require.NoError(t, client.SetLogLevel(t.Context(), mcp.LogWarning))
	log(mcp.LogNotice, `2`)
	log(mcp.LogWarning, `3`)
	log(mcp.LogEmergency, `4`)
	for _, want := range []string{"1", "3", "4"} {
		assert.Equal(t, want, <-logged)
	}
}

func TestProgress(t *testing.T) {
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "work"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		if err := call.Progress(ctx, 1, 2, "half"); err != nil {
			return nil, err
		}
		return nil, call.Progress(ctx, 2, 0, "")
	})
	client := mcptest.Connect(t, s, nil)
	var seen []string
	_, err := client.CallTool(t.Context(), "work", nil, mcp.WithProgress(func(p mcp.Progress) {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		seen = append(seen, string(text))
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{`{"progress":1,"total":2,"message":"half"}`, `{"progress":2}`}, seen)

	w := dial(t, s) // asks for none
	assert.JSONEq(t, `{"content":[]}`, w.call("tools/call", `{"name":"work"}`))
}

// Log messages of a call, in both eras.
func TestLogMessagesOfACall(t *testing.T) {
	inEachEra(t, func(t *testing.T, o *mcp.Options) {
		logged := make(chan string, 10)
		o.On.Log = func(_ context.Context, m *mcp.LogMessage) { logged <- string(m.Data) }
		s := &mcptest.Server{Logging: true}
		s.AddTool(&mcp.Tool{Name: "log"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
			for i, level := range []mcp.LogLevel{mcp.LogNotice, mcp.LogWarning, mcp.LogEmergency} {
				if err := call.Log(ctx, &mcp.LogMessage{Level: level, Data: json.RawMessage(strconv.Itoa(i))}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		client := mcptest.Connect(t, s, o)
		call := func() (seen []string) {
			res, err := client.CallTool(t.Context(), "log", nil)
			require.NoError(t, err)
			require.False(t, res.IsError, res.Text())
			synctest.Wait()
			for len(logged) > 0 {
				seen = append(seen, <-logged)
			}
			return seen
		}
		if client.Server().Modern() {
			assert.Empty(t, call(), "the request did not ask for any")
		} else {
			assert.Equal(t, []string{"0", "1", "2"}, call())
		}
		require.NoError(t, client.SetLogLevel(t.Context(), mcp.LogWarning))
		assert.Equal(t, []string{"1", "2"}, call())
	})
}

func TestAskingALegacyClient(t *testing.T) {
	s := &mcptest.Server{Versions: []string{mcp.Version20251125}}
	s.AddTool(&mcp.Tool{Name: "ask"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		if err := call.Session.Ping(ctx); err != nil {
			return nil, err
		}
		roots, err := call.Session.Roots(ctx)
		if err != nil {
			return nil, err
		}
		sampled, err := call.Session.CreateMessage(ctx, &mcp.CreateMessageRequest{
			MaxTokens: 5,
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("?")}}},
		})
		if err != nil {
			return nil, err
		}
		answer, err := call.Session.Elicit(ctx, &mcp.ElicitRequest{
			Message: "Sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`),
		})
		if err != nil {
			return nil, err
		}
		return mcptest.Text(fmt.Sprint(roots[0].URI, " ", sampled.Model, " ", answer.Action, " ", answer.Content["ok"])), nil
	})
	client := mcptest.Connect(t, s, &mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///r"}}, nil },
		CreateMessage: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("!")}}, nil
		},
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"ok": true}}, nil
		},
	})
	res, err := client.CallTool(t.Context(), "ask", nil)
	require.NoError(t, err)
	assert.Equal(t, "file:///r m accept true", res.Text())

	_, err = s.Sessions()[0].Request(t.Context(), "unknown/method", nil)
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.EqualValues(t, mcp.CodeMethodNotFound, rpc.Code)
}

func TestNotifyReachesEveryClient(t *testing.T) {
	s := new(mcptest.Server)
	told := make(chan string, 2)
	for _, name := range []string{"a", "b"} {
		mcptest.Connect(t, s, &mcp.Options{On: mcp.Notifications{
			Other: func(_ context.Context, method string, params json.RawMessage) {
				told <- name + " " + method + " " + string(params)
			},
		}})
	}
	require.NoError(t, s.Notify(t.Context(), "x", map[string]int{"n": 1}))
	assert.ElementsMatch(t, []string{`a x {"n":1}`, `b x {"n":1}`}, []string{<-told, <-told})
}

func TestRequestsAreServedAtOnce(t *testing.T) {
	s := new(mcptest.Server)
	meet := make(chan struct{})
	s.AddTool(&mcp.Tool{Name: "meet"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	})
	client := mcptest.Connect(t, s, nil)
	results := make(chan error)
	for range 2 {
		go func() {
			_, err := client.CallTool(t.Context(), "meet", nil)
			results <- err
		}()
	}
	require.NoError(t, <-results)
	require.NoError(t, <-results)
}

func TestACancelledCallEndsItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mcptest.Server)
		var handlerEnded time.Time
		s.AddTool(&mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			handlerEnded = time.Now()
			return nil, ctx.Err()
		})
		client := mcptest.Connect(t, s, nil)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.CallTool(ctx, "slow", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.Equal(t, time.Second, handlerEnded.Sub(start))
		assert.Len(t, s.Received("notifications/cancelled"), 1)
	})
}

func TestTheServerMayGo(t *testing.T) {
	s := new(mcptest.Server)
	client := mcptest.Connect(t, s, nil)
	require.NoError(t, s.Sessions()[0].Close())
	<-client.Done()
	assert.ErrorIs(t, client.Err(), mcp.ErrClosed)
}

func TestAClientSeesFaults(t *testing.T) {
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "t"}, doNothing)
	isAnswer := func(m *transport.Message) bool { return m.IsResponse() }
	network := mcptest.Faulty(s.Transport(), mcptest.Truncate(mcptest.ToClient, 2, 40).Where(isAnswer))
	client, err := mcp.Connect(t.Context(), network, nil)
	require.NoError(t, err)
	defer client.Close()
	_, err = client.CallTool(t.Context(), "t", nil)
	var fault *transport.FaultError
	require.ErrorAs(t, err, &fault)
	_, err = client.CallTool(t.Context(), "t", nil)
	require.NoError(t, err)
}

// failing is a test that Connect may fail.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestConnectFailsTheTest(t *testing.T) {
	spy := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		mcptest.Connect(spy, &mcptest.Server{Versions: []string{"9999-01-01"}}, nil)
	}()
	<-done
	assert.Contains(t, spy.message, "9999-01-01")
}
