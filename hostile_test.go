package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestTwoRequestsThatWaitUnderOneID(t *testing.T) {
	var log diagnostics
	release := make(chan struct{})
	_, p := connected(t, &mcp.Options{Logger: log.logger(), Requests: map[string]mcp.RequestHandler{
		"x": func(context.Context, json.RawMessage) (any, error) { <-release; return nil, nil },
	}})
	for i := range 32 {
		p.write(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i)
	}
	p.write(`{"jsonrpc":"2.0","id":"twice","method":"x"}`)
	p.write(`{"jsonrpc":"2.0","id":"twice","method":"x"}`)
	p.ask(`"sync"`, "ping", `{}`)
	close(release)
	for range 33 {
		p.read()
	}
	p.ask(`"sync"`, "ping", `{}`)
	log.wait(t, "already in use")
}

func TestQueuesAreBoundedInBytesWhateverHoldsThem(t *testing.T) {
	const most = 16
	big := strings.Repeat("x", 1<<20)
	var log diagnostics
	release := make(chan struct{})
	defer close(release)
	_, p := connected(t, &mcp.Options{
		Logger: log.logger(),
		Requests: map[string]mcp.RequestHandler{
			"x": func(context.Context, json.RawMessage) (any, error) { <-release; return nil, nil },
		},
		On: mcp.Notifications{Other: func(context.Context, string, json.RawMessage) { <-release }},
	})
	for i := range 32 {
		p.write(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, i)
	}
	for range 2 * most {
		p.write(`{"jsonrpc":"2.0","method":"%s"}`, big)
	}
	log.wait(t, "dropped a notification")
	go func() {
		for i := range 2 * most {
			_, _ = fmt.Fprintf(p.conn, `{"jsonrpc":"2.0","id":"%s%d","method":"x"}`+"\n", big, i)
		}
	}()
	refused := p.read()
	require.NotNil(t, refused.Error, "nothing else is answered yet")
	assert.Equal(t, "too many requests at once", refused.Error.Message)
}

func TestQueuesForSlowHandlersAreBoundedInBytes(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	release := make(chan struct{})
	logged := make(chan int, 1000)
	var log diagnostics
	c, p := connected(t, &mcp.Options{Logger: log.logger(), On: mcp.Notifications{
		ToolsChanged: func(context.Context) { <-release },
		Log:          func(_ context.Context, m *mcp.LogMessage) { logged <- len(m.Data) },
	}})
	p.notify("notifications/tools/list_changed", `{}`)
	for range 40 {
		p.notify("notifications/message", `{"level":"info","data":"`+big+`"}`)
	}
	p.ask(`1`, "ping", `{}`)
	close(release)
	log.wait(t, "dropped a notification")

	seen := make(chan mcp.Progress, 100)
	result := call(c, t.Context(), "a", mcp.WithProgress(func(pr mcp.Progress) {
		if pr.Progress == 0 {
			p.ask(`2`, "ping", `{}`) // by now all that follows has arrived
		}
		seen <- pr
	}))
	m := p.expect("tools/call")
	for i := range 40 {
		p.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"message":%q}`, m.ID, i+1, big))
	}
	p.answer(m, hello)
	_, err := result()
	require.NoError(t, err)
	assert.LessOrEqual(t, len(seen), 40)
	assert.LessOrEqual(t, len(logged), 16)
}

// stuckLogger never comes back from the message.
type stuckLogger struct {
	slog.Handler
	on      string
	release chan struct{}
}

func (h stuckLogger) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, h.on) {
		<-h.release
	}
	return nil
}

func (h stuckLogger) WithAttrs([]slog.Attr) slog.Handler { return h }

func TestALoggerThatNeverReturnsStopsNothing(t *testing.T) {
	h := stuckLogger{slog.NewTextHandler(&diagnostics{}, nil), "", make(chan struct{})}
	defer close(h.release)
	c, p := connected(t, &mcp.Options{Logger: slog.New(h)})
	p.write(`no message`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	result := call(c, ctx, "slow")
	p.expect("tools/call")
	_, err := result()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	p.expect("notifications/cancelled")
	next := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), hello)
	_, err = next()
	require.NoError(t, err)
	p.conn.Close()
	<-c.Done()
	require.NoError(t, c.Close())
}

// closingLogger closes the client that logs.
type closingLogger struct {
	slog.Handler
	client chan *mcp.Client
	closed chan struct{}
}

func (h closingLogger) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "connection lost") {
		(<-h.client).Close()
		close(h.closed)
	}
	return nil
}

func (h closingLogger) WithAttrs([]slog.Attr) slog.Handler { return h }

func TestALoggerMayCloseTheClient(t *testing.T) {
	h := closingLogger{slog.NewTextHandler(&diagnostics{}, nil), make(chan *mcp.Client, 1), make(chan struct{})}
	c, p := connected(t, &mcp.Options{Logger: slog.New(h)})
	h.client <- c
	p.conn.Close()
	<-h.closed
	require.NoError(t, c.Close())
}

func TestPatternsOfAFormAreBounded(t *testing.T) {
	var fields []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","default":"a","pattern":"%s"}`, i, strings.Repeat(`(\\pL|\\pN){0,999}`, 60)))
	}
	schema := `{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := mcp.ParseElicitSchema(json.RawMessage(schema))
	require.NoError(t, err)
	require.NoError(t, s.Validate(s.Fill(nil)))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "what they are compiled to")
}

func TestToolsThatAreNoLongerListedAreForgotten(t *testing.T) {
	c, p := connected(t, nil)
	for _, name := range []string{"old", "new"} {
		list := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), `{"tools":[{"name":"`+name+`","inputSchema":{},"outputSchema":{"type":"object"}}]}`)
		_, err := list()
		require.NoError(t, err)
	}
	assert.Equal(t, 1, c.KnownTools())

	// Who reads pages by hand never says which one is the last.
	big := strings.Repeat("x", 1<<20)
	for _, form := range []string{
		`{"name":"t%d","inputSchema":{},"outputSchema":{"description":"%s"}}`,
		`{"name":"t%d%s","inputSchema":{}}`,
	} {
		for i := range 40 {
			page := async(func() (*mcp.Page[mcp.Tool], error) { return c.ToolsPage(t.Context(), nil) })
			p.answer(p.expect("tools/list"), `{"tools":[`+fmt.Sprintf(form, i, big)+`]}`)
			_, err := page()
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, c.KnownTools(), 17)
	}
}

func TestAWalkKeepsNoPages(t *testing.T) {
	const pages, size = 40, 1 << 20
	s := &mcptest.Server{}
	s.AddTool(&mcp.Tool{Name: "a"}, nil)
	n := 0
	s.Handle("tools/list", func(context.Context, *mcptest.Call) (any, error) {
		n++
		more := fmt.Sprintf(`,"nextCursor":"%d%s"`, n, strings.Repeat("x", size))
		if n == pages {
			more = ""
		}
		return json.RawMessage(`{"tools":[{"name":"a","inputSchema":{}}]` + more + `}`), nil
	})
	before := heapBytes()
	c := mcptest.Connect(t, s, nil)
	seen := 0
	for _, err := range c.Tools(t.Context()) {
		require.NoError(t, err)
		if seen++; seen == pages {
			received := 0 // the server's own memory of the requests
			for _, m := range s.Received() {
				received += len(m.Params)
			}
			assert.Less(t, heapBytes()-before-received, pages*size/2)
		}
	}
	assert.Equal(t, pages, seen)
}

func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestProgressThatWasNotAskedForRenewsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, p := connecting(t, t.Context(), legacy(nil))
		start := time.Now()
		m := p.expect("initialize")
		time.Sleep(50 * time.Second)
		p.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":1}`, m.ID))
		_, err := connect()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestHandlersDoNotSuspendTheLimitOfTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := legacy(&mcp.Options{Roots: func(ctx context.Context) ([]mcp.Root, error) { <-ctx.Done(); return nil, ctx.Err() }})
		connect, p := connecting(t, t.Context(), o)
		start := time.Now()
		p.expect("initialize")
		p.write(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
		_, err := connect()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestAnErrorWithoutAnIDAnswersTheHandshake(t *testing.T) {
	connect, p := connecting(t, t.Context(), nil)
	p.expect("server/discover")
	p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`)
	p.expect("initialize")
	p.write(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`)
	_, err := connect()
	require.ErrorContains(t, err, "Parse error")
}

func TestKeepAliveHasALimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{KeepAlive: 3 * time.Second, Timeout: time.Second})
		m := p.expect("ping")
		time.Sleep(1500 * time.Millisecond)
		p.answer(m, `{}`)
		p.answer(p.expect("ping"), `{}`)
		require.NoError(t, c.Err())
	})
}

func TestMistakesOfTheCaller(t *testing.T) {
	_, err := mcp.Connect(t.Context(), nil, nil)
	require.ErrorContains(t, err, "transport")
	c, p := connected(t, nil)
	_, err = c.Request(t.Context(), "", nil)
	require.ErrorContains(t, err, "the method is empty")
	require.ErrorContains(t, c.Notify(t.Context(), "", nil), "the method is empty")
	result := call(c, t.Context(), "a", nil, mcp.WithTimeout(0))
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"%s"}}`, p.expect("tools/call").ID, strings.Repeat("long ", 1<<20))
	_, err = result()
	assert.Less(t, len(err.Error()), 2<<10)
	completed := async(func() (any, error) { return c.Complete(t.Context(), nil) })
	p.answer(p.expect("completion/complete"), `{}`)
	_, err = completed()
	require.NoError(t, err)
}
