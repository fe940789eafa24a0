package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

const hello = `{"content":[{"type":"text","text":"hello"}]}`

func TestAnswersMatchWhateverTheSpellingOfTheID(t *testing.T) {
	for _, spelling := range []string{`%d`, `"%d"`, `%d.0`} {
		t.Run(spelling, func(t *testing.T) {
			c, p := connected(t, nil)
			result := call(c, t.Context(), "a")
			m := p.expect("tools/call")
			var id int
			require.NoError(t, json.Unmarshal(m.ID, &id), "ids on the wire are numbers")
			p.write(`{"jsonrpc":"2.0","id":`+spelling+`,"result":%s}`, id, hello)
			got, err := result()
			require.NoError(t, err)
			assert.Equal(t, "hello", got.Text())
		})
	}
}

func TestDoubledAndInventedAnswersAreDropped(t *testing.T) {
	var log diagnostics
	c, p := connected(t, &mcp.Options{Logger: log.logger()})
	first := call(c, t.Context(), "a")
	m := p.expect("tools/call")
	p.write(`{"jsonrpc":"2.0","id":999,"result":{}}`)
	p.write(`{"jsonrpc":"2.0","result":null}`)
	p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no idea"}}`)
	const again = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"again"}]}}`
	p.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`+strings.Repeat("\n"+again, 5), m.ID, hello, m.ID, m.ID, m.ID, m.ID, m.ID)
	got, err := first()
	require.NoError(t, err)
	assert.Equal(t, "hello", got.Text())

	second := call(c, t.Context(), "b")
	m2 := p.expect("tools/call")
	assert.NotEqual(t, string(m.ID), string(m2.ID), "ids are never used again")
	p.answer(m2, hello)
	_, err = second()
	require.NoError(t, err)
	log.wait(t, "id=999")
	log.wait(t, "no idea")
}

func TestAnAnswerThatCannotBeReadFailsItsCall(t *testing.T) {
	c, p := connected(t, nil)
	result := call(c, t.Context(), "a")
	p.write(`{"jsonrpc":"2.0","id":%s,"result":{"content":[`, p.expect("tools/call").ID)
	_, err := result()
	require.ErrorIs(t, err, mcp.ErrNoResponse)
	assert.False(t, transport.SafeToRetry(err))
}

func TestAnswersInAnyOrder(t *testing.T) {
	c, p := connected(t, nil)
	a := call(c, t.Context(), "a")
	ma := p.expect("tools/call")
	b := call(c, t.Context(), "b")
	mb := p.expect("tools/call")
	p.answer(mb, `{"content":[{"type":"text","text":"b"}]}`)
	got, err := b()
	require.NoError(t, err)
	assert.Equal(t, "b", got.Text())
	p.answer(ma, `{"content":[{"type":"text","text":"a"}]}`)
	got, err = a()
	require.NoError(t, err)
	assert.Equal(t, "a", got.Text())
}

func TestErrorsKeepWhatTheServerSent(t *testing.T) {
	c, p := connected(t, nil)
	result := call(c, t.Context(), "a")
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unknown tool: a","data":{"n":9007199254740993}}}`, p.expect("tools/call").ID)
	_, err := result()
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.Equal(t, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "Unknown tool: a", Data: json.RawMessage(`{"n":9007199254740993}`)}, rpc)
	assert.EqualError(t, err, `mcp: tools/call "a": Unknown tool: a (-32602)`)
	assert.False(t, transport.SafeToRetry(err))
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	c, p := connected(t, nil)
	for _, args := range []struct {
		in   any
		want string
	}{
		{nil, `{}`},
		{map[string]any(nil), `{}`},
		{map[string]any{"q": "a<b && c>d"}, `{"q":"a<b && c>d"}`},
		{map[string]any{"n": int64(9007199254740993)}, `{"n":9007199254740993}`},
		{json.RawMessage("{\n  \"n\": 9007199254740993,\n  \"f\": 1.10\n}"), `{"n":9007199254740993,"f":1.10}`},
		{struct {
			Path string `json:"path"`
		}{"/tmp"}, `{"path":"/tmp"}`},
	} {
		result := async(func() (*mcp.CallToolResult, error) { return c.CallTool(t.Context(), "a", args.in) })
		m := p.expect("tools/call")
		assert.Contains(t, m.line, `"arguments":`+args.want)
		p.answer(m, hello)
		_, err := result()
		require.NoError(t, err)
	}
	for _, bad := range []any{"text", 5, []int{1}, json.RawMessage(`{"a":`), make(chan int)} {
		_, err := c.CallTool(t.Context(), "a", bad)
		require.Error(t, err)
		assert.True(t, transport.SafeToRetry(err), "nothing was sent")
	}
}

func TestLargeIntegersInStructuredContent(t *testing.T) {
	c, p := connected(t, nil)
	result := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), `{"content":[],"structuredContent":{"n":9007199254740993}}`)
	got, err := result()
	require.NoError(t, err)
	assert.Equal(t, `{"n":9007199254740993}`, string(got.StructuredContent))
}

func TestContextThatIsDoneSendsNothing(t *testing.T) {
	c, p := connected(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("reason of the caller")
	cancel(reason)
	_, err := c.CallTool(ctx, "a", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, reason)
	assert.True(t, transport.SafeToRetry(err))
	assert.ErrorIs(t, c.Notify(ctx, "notifications/x", nil), context.Canceled)

	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	p.answer(p.expect("ping"), `{}`) // the next message is this one
	_, err = ping()
	require.NoError(t, err)
}

func TestCancellationReturnsAtOnceAndTellsTheServer(t *testing.T) {
	c, p := connected(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	result := call(c, ctx, "slow")
	m := p.expect("tools/call")
	cancel()
	_, err := result() // while the peer reads nothing
	require.ErrorIs(t, err, context.Canceled)
	assert.False(t, transport.SafeToRetry(err))

	notice := p.expect("notifications/cancelled")
	assert.JSONEq(t, fmt.Sprintf(`{"requestId":%s}`, m.ID), string(notice.Params))
	p.answer(m, hello) // too late
	result = call(c, t.Context(), "next")
	p.answer(p.expect("tools/call"), hello)
	_, err = result()
	require.NoError(t, err)
}

func TestCancellationWhileTheServerTakesNoBytes(t *testing.T) {
	c, p := connected(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	blocked := call(c, ctx, "blocked") // its write is under way
	queued := call(c, ctx, "queued")   // and this one waits behind it, or the other way round
	synced := make(chan struct{})
	go func() { p.conn.Read(make([]byte, 1)); close(synced) }()
	<-synced // the first byte is taken, so that one write has begun
	cancel()
	_, err1 := blocked()
	_, err2 := queued()
	require.ErrorIs(t, err1, context.Canceled)
	require.ErrorIs(t, err2, context.Canceled)
	assert.False(t, transport.SafeToRetry(err1) && transport.SafeToRetry(err2), "one of them has begun")
}

func TestInitializeIsNeverCancelledOnTheWire(t *testing.T) {
	tr, p := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(ctx, tr, legacy(nil)) })
	p.expect("initialize")
	cancel()
	_, err := connect()
	require.ErrorIs(t, err, context.Canceled)
	_, err = p.next()
	require.Error(t, err, "the connection ends without another message")
}

func TestConnectContextDoesNotBoundTheClient(t *testing.T) {
	tr, p := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(ctx, tr, legacy(nil)) })
	p.handshake(everything)
	c, err := connect()
	require.NoError(t, err)
	defer c.Close()
	cancel()
	result := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), hello)
	_, err = result()
	require.NoError(t, err)
}

func TestProgressComesInOrderBeforeTheAnswer(t *testing.T) {
	c, p := connected(t, nil)
	var got []string
	result := call(c, t.Context(), "a", mcp.WithProgress(func(pr mcp.Progress) {
		got = append(got, fmt.Sprint(pr.Progress, pr.Message)) // on the goroutine of the call: no lock
	}))
	m := p.expect("tools/call")
	var params struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	require.NoError(t, json.Unmarshal(m.Params, &params))
	require.NotEmpty(t, params.Meta.Token)
	const many = 1000
	var want []string
	for i := range many {
		p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"m"}}`, params.Meta.Token, i, many)
		want = append(want, fmt.Sprint(float64(i), "m"))
	}
	p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1}}`) // nobody asked
	p.answer(m, hello)
	_, err := result()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestPanicInAProgressHandlerIsTheCallersOwn(t *testing.T) {
	c, p := connected(t, nil)
	result := async(func() (r any, err error) {
		defer func() { r = recover() }()
		_, err = c.CallTool(t.Context(), "a", nil, mcp.WithProgress(func(mcp.Progress) { panic("mine") }))
		return nil, err
	})
	m := p.expect("tools/call")
	p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
	r, _ := result()
	assert.Equal(t, "mine", r)
	assert.Zero(t, c.Pending())
	p.answer(m, hello)
	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	p.answer(p.expect("ping"), `{}`)
	_, err := ping()
	require.NoError(t, err)
}

func TestLimits(t *testing.T) {
	// elapsed runs a call against a peer that makes progress every interval, n times, and never answers.
	elapsed := func(t *testing.T, o *mcp.Options, interval time.Duration, n int, opts ...mcp.CallOption) (time.Duration, error) {
		c, p := connected(t, o)
		start := time.Now()
		result := call(c, t.Context(), "slow", opts...)
		m := p.expect("tools/call")
		for range n {
			time.Sleep(interval)
			p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
		}
		_, err := result()
		took := time.Since(start)
		p.expect("notifications/cancelled")
		return took, err
	}
	for _, c := range []struct {
		name     string
		o        *mcp.Options
		interval time.Duration
		n        int
		opts     []mcp.CallOption
		want     time.Duration
		err      mcp.TimeoutError
	}{
		{"default", nil, 0, 0, nil, time.Minute, mcp.TimeoutError{Method: "tools/call", Limit: time.Minute}},
		{"progress renews, without a handler", nil, 50 * time.Second, 4, nil, 260 * time.Second, mcp.TimeoutError{Method: "tools/call", Limit: time.Minute}},
		{"maximum", nil, 50 * time.Second, 71, nil, time.Hour, mcp.TimeoutError{Method: "tools/call", Limit: time.Hour, Hard: true}},
		{"of the client", &mcp.Options{Timeout: time.Second, MaxTimeout: 3 * time.Second}, 0, 0, nil, time.Second, mcp.TimeoutError{Method: "tools/call", Limit: time.Second}},
		{"of the call", nil, 0, 0, []mcp.CallOption{mcp.WithTimeout(5 * time.Second)}, 5 * time.Second, mcp.TimeoutError{Method: "tools/call", Limit: 5 * time.Second}},
		{"maximum of the call", nil, time.Second, 6, []mcp.CallOption{mcp.WithTimeout(0), mcp.WithMaxTimeout(7 * time.Second)}, 7 * time.Second, mcp.TimeoutError{Method: "tools/call", Limit: 7 * time.Second, Hard: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := elapsed(t, c.o, c.interval, c.n, c.opts...)
				var limit *mcp.TimeoutError
				require.ErrorAs(t, err, &limit)
				assert.Equal(t, c.err, *limit)
				assert.Equal(t, c.want, took)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.NotErrorIs(t, err, context.Canceled)
			})
		})
	}
}

func TestHumanTimeDoesNotCountAsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{
			Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				time.Sleep(10 * time.Minute)
				return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
			},
		})
		start := time.Now()
		result := call(c, t.Context(), "asks")
		p.expect("tools/call")
		p.write(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
		p.read() // the answer, after ten minutes
		_, err := result()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 11*time.Minute, time.Since(start), "the idle limit counts from the answer on")
		p.expect("notifications/cancelled")
	})
}

func TestClosedConnectionFailsEveryCall(t *testing.T) {
	c, p := connected(t, nil)
	pending := call(c, t.Context(), "a")
	p.expect("tools/call")
	p.conn.Close()
	_, err := pending()
	require.ErrorIs(t, err, mcp.ErrClosed)
	assert.False(t, transport.SafeToRetry(err), "the server may have acted on it")
	<-c.Done()
	require.ErrorIs(t, c.Err(), mcp.ErrClosed)
	_, err = c.CallTool(t.Context(), "b", nil)
	require.ErrorIs(t, err, mcp.ErrClosed)
	assert.True(t, transport.SafeToRetry(err), "nothing was sent")
	assert.True(t, strings.HasPrefix(err.Error(), `mcp: tools/call "b": connection lost: `), err.Error())
}

func TestCloseFromManyGoroutines(t *testing.T) {
	c, p := connected(t, nil)
	pending := call(c, t.Context(), "a")
	p.expect("tools/call")
	require.NoError(t, c.Err())
	closers := make([]func() (any, error), 10)
	for i := range closers {
		closers[i] = async(func() (any, error) { return nil, c.Close() })
	}
	for _, closed := range closers {
		_, err := closed()
		assert.NoError(t, err)
	}
	require.NoError(t, c.Close())
	_, err := pending()
	require.ErrorIs(t, err, mcp.ErrClosed)
	assert.EqualError(t, err, `mcp: tools/call "a": client closed`)
	assert.EqualError(t, c.Err(), "mcp: client closed")
}

func TestRawRequestsAndNotifications(t *testing.T) {
	c, p := connected(t, nil)
	raw := async(func() (json.RawMessage, error) {
		return c.Request(t.Context(), "x/y", map[string]any{"a": 1, "_meta": map[string]any{"mine": true}},
			mcp.WithProgress(func(mcp.Progress) {}), mcp.WithMeta(mcp.Meta{"more": json.RawMessage(`[1]`)}))
	})
	m := p.expect("x/y")
	assert.JSONEq(t, fmt.Sprintf(`{"a":1,"_meta":{"mine":true,"more":[1],"progressToken":%s}}`, m.ID), string(m.Params))
	p.answer(m, `{"any":9007199254740993}`)
	got, err := raw()
	require.NoError(t, err)
	assert.Equal(t, `{"any":9007199254740993}`, string(got))

	for _, params := range []any{nil, map[string]any(nil)} {
		note := async(func() (any, error) { return nil, c.Notify(t.Context(), "notifications/z", params) })
		assert.NotContains(t, p.expect("notifications/z").line, "params", "an object, or nothing at all")
		_, err = note()
		require.NoError(t, err)
	}
	_, err = c.Request(t.Context(), "x", []int{1})
	assert.ErrorContains(t, err, "not an object")
}
