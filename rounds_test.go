package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

const (
	askForName = `"who":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"John"}}}}}`
	askForRoot = `"where":{"method":"roots/list"}`
)

func accepting() *mcp.Options {
	return &mcp.Options{
		Elicit: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if mcp.ClientFromContext(ctx) == nil {
				return nil, errors.New("a handler finds its client")
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///a"}}, nil },
	}
}

func paramsOf(t testing.TB, m wire) map[string]json.RawMessage {
	t.Helper()
	var params map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(m.Params, &params))
	return params
}

func TestInputRounds(t *testing.T) {
	c, p := modern(t, accepting())
	result := async(func() (*mcp.CallToolResult, error) {
		return c.CallTool(t.Context(), "a", map[string]any{"n": 1})
	})
	first := p.expect("tools/call")
	state := `"\u0041\/b\ud800 opaque"` // goes back byte for byte
	p.answer(first, `{"resultType":"input_required","inputRequests":{`+askForName+`,`+askForRoot+`},"requestState":`+state+`}`)
	second := p.expect("tools/call")
	assert.NotEqual(t, string(first.ID), string(second.ID))
	params := paramsOf(t, second)
	assert.Equal(t, state, string(params["requestState"]))
	assert.JSONEq(t, `{"who":{"action":"accept","content":{"name":"John"}},"where":{"roots":[{"uri":"file:///a"}]}}`, string(params["inputResponses"]))
	assert.JSONEq(t, `{"n":1}`, string(params["arguments"]))
	assert.Equal(t, string(second.ID), string(metaOf(t, second)["progressToken"]), "of the new request")

	// A second round does not carry what belongs to the first.
	p.answer(second, `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
	third := p.expect("tools/call")
	params = paramsOf(t, third)
	assert.NotContains(t, params, "requestState")
	assert.JSONEq(t, `{"where":{"roots":[{"uri":"file:///a"}]}}`, string(params["inputResponses"]))
	p.answer(third, hello)
	got, err := result()
	require.NoError(t, err)
	assert.Equal(t, "hello", got.Text())

	next := call(c, t.Context(), "a")
	m := p.expect("tools/call")
	assert.NotContains(t, m.line, "inputResponses", "nor does another call")
	p.answer(m, hello)
	_, err = next()
	require.NoError(t, err)
}

func TestInputRoundsOfPromptsAndResources(t *testing.T) {
	c, p := modern(t, accepting())
	prompt := async(func() (*mcp.GetPromptResult, error) { return c.GetPrompt(t.Context(), "p", nil) })
	p.answer(p.expect("prompts/get"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
	p.answer(p.expect("prompts/get"), `{"resultType":"complete","messages":[]}`)
	_, err := prompt()
	require.NoError(t, err)
	read := async(func() (*mcp.ReadResourceResult, error) { return c.ReadResource(t.Context(), "a:b") })
	p.answer(p.expect("resources/read"), `{"resultType":"input_required","requestState":"s"}`)
	p.answer(p.expect("resources/read"), `{"resultType":"complete","contents":[]}`)
	_, err = read()
	require.NoError(t, err)
}

func TestInputThatCannotBeGiven(t *testing.T) {
	fail := errors.New("the user is away")
	o := accepting()
	o.Roots = nil
	o.Elicit = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, fail }
	for name, answer := range map[string]string{
		"a handler fails":        `{"resultType":"input_required","inputRequests":{` + askForName + `}}`,
		"not declared":           `{"resultType":"input_required","inputRequests":{` + askForRoot + `}}`,
		"nothing is named":       `{"resultType":"input_required"}`,
		"an unknown result type": `{"resultType":"task","taskId":"1"}`,
		"malformed":              `{"resultType":"input_required","inputRequests":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, p := modern(t, o)
			result := call(c, t.Context(), "a")
			p.answer(p.expect("tools/call"), answer)
			_, err := result()
			require.Error(t, err)
			if name == "a handler fails" {
				require.ErrorIs(t, err, fail)
			}
		})
	}
	t.Run("from a list", func(t *testing.T) {
		c, p := modern(t, accepting())
		list := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
		_, err := list()
		require.ErrorContains(t, err, "cannot ask for input")
	})
}

func TestInputRoundsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, &mcp.Options{MaxInputRounds: 3})
		start := time.Now()
		result := call(c, t.Context(), "a")
		for range 4 {
			p.answer(p.expect("tools/call"), `{"resultType":"input_required","requestState":"again"}`)
		}
		_, err := result()
		var rounds *mcp.InputRoundsError
		require.ErrorAs(t, err, &rounds)
		assert.Equal(t, 3, rounds.Rounds)
		assert.Equal(t, 700*time.Millisecond, time.Since(start), "100, 200 and 400 ms between them")
	})
}

func TestHumanTimeInRoundsCountsForTheMaximumOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := accepting()
		var think time.Duration
		o.Elicit = func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			select {
			case <-time.After(think):
				return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c, p := modern(t, o)
		think = 30 * time.Minute
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForName+`}}`)
		p.answer(p.expect("tools/call"), hello)
		_, err := result()
		require.NoError(t, err)

		think = 2 * time.Hour
		start := time.Now()
		result = call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForName+`}}`)
		_, err = result()
		var limit *mcp.TimeoutError
		require.ErrorAs(t, err, &limit)
		assert.True(t, limit.Hard)
		assert.Equal(t, time.Hour, time.Since(start))
	})
}

func TestInputRequestsAreHandledAtOnce(t *testing.T) {
	both := make(chan struct{})
	o := accepting()
	o.Elicit = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		both <- struct{}{}
		return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
	}
	o.Roots = func(context.Context) ([]mcp.Root, error) {
		<-both
		return nil, nil
	}
	c, p := modern(t, o)
	result := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForName+`,`+askForRoot+`}}`)
	m := p.expect("tools/call")
	assert.JSONEq(t, `{"who":{"action":"decline"},"where":{"roots":[]}}`, string(paramsOf(t, m)["inputResponses"]))
	p.answer(m, hello)
	_, err := result()
	require.NoError(t, err)
}

func TestManualInput(t *testing.T) {
	c, p := modern(t, nil)
	result := call(c, t.Context(), "a", mcp.WithManualInput())
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`},"requestState":"s\u0041"}`)
	_, err := result()
	var needed *mcp.InputRequiredError
	require.ErrorAs(t, err, &needed)
	assert.Equal(t, "roots/list", needed.Requests["where"].Method)

	result = call(c, t.Context(), "a", mcp.WithInput(map[string]any{"where": map[string]any{"roots": []any{}}}, needed.State))
	m := p.expect("tools/call")
	assert.Equal(t, `"s\u0041"`, string(paramsOf(t, m)["requestState"]))
	assert.JSONEq(t, `{"where":{"roots":[]}}`, string(paramsOf(t, m)["inputResponses"]))
	p.answer(m, hello)
	_, err = result()
	require.NoError(t, err)
}

func TestRawRequestsOfAModernRevision(t *testing.T) {
	c, p := modern(t, nil)
	for _, params := range []any{
		json.RawMessage(`{"_meta":{"mine":1},"a":2}`),
		json.RawMessage(`{"\u005fmeta":{"mine":1},"a":2}`),
	} {
		result := async(func() (json.RawMessage, error) { return c.Request(t.Context(), "x", params) })
		m := p.expect("x")
		meta := metaOf(t, m)
		assert.Equal(t, `1`, string(meta["mine"]))
		assert.Equal(t, `"2026-07-28"`, string(meta["io.modelcontextprotocol/protocolVersion"]), "what the caller adds replaces nothing")
		assert.Equal(t, 1, strings.Count(m.line, "meta\":{"), "one _meta: "+m.line)
		p.answer(m, `{}`)
		_, err := result()
		require.NoError(t, err)

		note := async(func() (any, error) { return nil, c.Notify(t.Context(), "notifications/x", params) })
		m = p.expect("notifications/x")
		meta = metaOf(t, m)
		assert.Equal(t, `1`, string(meta["mine"]))
		assert.Contains(t, meta, "io.modelcontextprotocol/protocolVersion")
		_, err = note()
		require.NoError(t, err)
	}
	result := async(func() (json.RawMessage, error) {
		return c.Request(t.Context(), "x", nil, mcp.WithInput(nil, json.RawMessage(`"s"`)))
	})
	m := p.expect("x")
	assert.Equal(t, `"s"`, string(paramsOf(t, m)["requestState"]))
	p.answer(m, `{}`)
	_, err := result()
	require.NoError(t, err)
}

func TestACallEndsThoughAHandlerDoesNotMindItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		c, p := modern(t, &mcp.Options{Roots: func(context.Context) ([]mcp.Root, error) {
			<-release
			return nil, nil
		}})
		requests := make(map[string]mcp.InputRequest)
		for i := range 100 { // more than run at once
			requests[strconv.Itoa(i)] = mcp.InputRequest{Method: "roots/list"}
		}
		asked, err := json.Marshal(requests)
		require.NoError(t, err)
		result := call(c, t.Context(), "a", mcp.WithMaxTimeout(time.Second))
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":`+string(asked)+`}`)
		_, err = result()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
