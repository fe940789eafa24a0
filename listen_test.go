package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// acknowledge answers a subscriptions/listen request.
func (p *peer) acknowledge(m wire, filter string) {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`, m.ID, filter)
}

// event sends a notification on the subscription with the id.
func (p *peer) event(id, method, more string) {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}%s}}`, method, id, more)
}

func listening(c *mcp.Client, ctx context.Context, f mcp.Filter) func() (*mcp.Subscription, error) {
	return async(func() (*mcp.Subscription, error) { return c.Listen(ctx, f) })
}

// subscribe makes a subscription that the peer agrees to.
func subscribe(t *testing.T, c *mcp.Client, p *peer, f mcp.Filter, filter string) (*mcp.Subscription, wire) {
	t.Helper()
	result := listening(c, t.Context(), f)
	m := p.expect("subscriptions/listen")
	p.acknowledge(m, filter)
	s, err := result()
	require.NoError(t, err)
	return s, m
}

// next waits for the next event.
func next(t *testing.T, s *mcp.Subscription) mcp.Event {
	t.Helper()
	for e, err := range s.Events(t.Context()) {
		require.NoError(t, err)
		return e
	}
	t.Fatal("the subscription has ended")
	return mcp.Event{}
}

func rest(t *testing.T, s *mcp.Subscription) (events []mcp.Event, err error) {
	t.Helper()
	for e, failure := range s.Events(t.Context()) {
		if failure != nil {
			return events, failure
		}
		events = append(events, e)
	}
	return events, nil
}

func TestSubscriptions(t *testing.T) {
	c, p := modern(t, nil)
	tools, mt := subscribe(t, c, p, mcp.Filter{Tools: true, Prompts: true}, `{"toolsListChanged":true}`)
	assert.JSONEq(t, `{"toolsListChanged":true,"promptsListChanged":true}`, string(paramsOf(t, mt)["notifications"]))
	assert.Equal(t, mcp.Filter{Tools: true}, tools.Accepted(), "what the server agreed to")
	file, mf := subscribe(t, c, p, mcp.Filter{URIs: []string{"file:///a"}}, `{"resourceSubscriptions":["file:///a"]}`)

	p.event(string(mf.ID), "notifications/resources/updated", `,"uri":"file:///a"`)
	p.event(`"`+string(mt.ID)+`"`, "notifications/tools/list_changed", ``) // some servers make the id a string
	assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, next(t, tools))
	assert.Equal(t, mcp.Event{Kind: mcp.ResourceUpdated, URI: "file:///a"}, next(t, file))

	for range 100 {
		p.event(string(mt.ID), "notifications/tools/list_changed", ``)
	}
	p.answer(mt, `{"resultType":"complete"}`)
	events, err := rest(t, tools)
	require.NoError(t, err, "the server ended it in order")
	assert.NotEmpty(t, events)
	assert.LessOrEqual(t, len(events), 2, "equal changes are one")

	p.event(string(mf.ID), "notifications/cancelled", fmt.Sprintf(`,"requestId":%s`, mf.ID))
	_, err = rest(t, file)
	require.NoError(t, err)
	require.NoError(t, tools.Close())
	require.NoError(t, file.Close())
	assert.JSONEq(t, discovered, string(roundTrip(t, c, p)), "nothing was said about what had ended")
}

// roundTrip makes sure that the next message of the client is this request.
func roundTrip(t *testing.T, c *mcp.Client, p *peer) []byte {
	t.Helper()
	raw := async(func() ([]byte, error) {
		r, err := c.Request(t.Context(), "server/discover", nil)
		return r, err
	})
	p.answer(p.expect("server/discover"), discovered)
	got, err := raw()
	require.NoError(t, err)
	return got
}

func TestAServerThatTellsOfMoreThanItWasAsked(t *testing.T) {
	c, p := modern(t, nil)
	s, m := subscribe(t, c, p, mcp.Filter{Tools: true, TaskIDs: []string{"1"}},
		`{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["2","1"]}`)
	assert.Equal(t, mcp.Filter{Tools: true, TaskIDs: []string{"1"}}, s.Accepted())
	p.event(string(m.ID), "notifications/prompts/list_changed", ``)
	p.event(string(m.ID), "notifications/resources/updated", `,"uri":"a:b"`)
	p.event(string(m.ID), "notifications/tools/list_changed", ``)
	assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, next(t, s))
	p.answer(m, `{}`)
}

func TestASubscriptionWhoseEventsAreNotTaken(t *testing.T) {
	var log diagnostics
	c, p := modern(t, &mcp.Options{Logger: log.logger()})
	s, m := subscribe(t, c, p, mcp.Filter{URIs: []string{"a:b"}}, `{"resourceSubscriptions":["a:b"]}`)
	part := "a:b" + strings.Repeat("x", 1<<20)
	for i := range 20 {
		p.event(string(m.ID), "notifications/resources/updated", fmt.Sprintf(`,"uri":"%s%d"`, part, i))
	}
	log.wait(t, "dropped a change")
	p.answer(m, `{}`)
	events, err := rest(t, s)
	require.NoError(t, err)
	assert.Len(t, events, 15)
}

func TestClosingASubscription(t *testing.T) {
	c, p := modern(t, nil)
	s, m := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
	ended := async(func() ([]mcp.Event, error) { return rest(t, s) })
	closed := async(func() (any, error) { return nil, s.Close() })
	assert.JSONEq(t, fmt.Sprintf(`{"requestId":%s}`, m.ID), string(p.expect("notifications/cancelled").Params))
	_, err := closed()
	require.NoError(t, err)
	_, err = ended()
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestSubscriptionsThatFail(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		c, p := modern(t, nil)
		result := listening(c, t.Context(), mcp.Filter{Tools: true})
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, p.expect("subscriptions/listen").ID)
		_, err := result()
		var rpc *mcp.RPCError
		require.ErrorAs(t, err, &rpc)
		assert.EqualError(t, err, "mcp: subscriptions/listen: no (-32601)")
	})
	t.Run("ended at once", func(t *testing.T) {
		c, p := modern(t, nil)
		result := listening(c, t.Context(), mcp.Filter{Tools: true})
		p.answer(p.expect("subscriptions/listen"), `{"resultType":"complete"}`)
		_, err := result()
		require.ErrorContains(t, err, "before it acknowledged")
	})
	t.Run("an error later", func(t *testing.T) {
		c, p := modern(t, nil)
		s, m := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"broken"}}`, m.ID)
		_, err := rest(t, s)
		require.ErrorContains(t, err, "broken")
		require.NoError(t, s.Close())
	})
	t.Run("connection lost", func(t *testing.T) {
		c, p := modern(t, nil)
		s, _ := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
		p.conn.Close()
		_, err := rest(t, s)
		require.ErrorIs(t, err, mcp.ErrClosed)
		require.NoError(t, s.Close())
	})
	t.Run("never acknowledged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := modern(t, nil)
			start := time.Now()
			result := listening(c, t.Context(), mcp.Filter{Tools: true})
			p.expect("subscriptions/listen")
			p.expect("notifications/cancelled")
			_, err := result()
			var limit *mcp.TimeoutError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, time.Minute, time.Since(start))
		})
	})
	t.Run("context of the loop", func(t *testing.T) {
		c, p := modern(t, nil)
		s, _ := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range s.Events(ctx) {
			require.ErrorIs(t, err, context.Canceled)
		}
		closed := async(func() (any, error) { return nil, s.Close() })
		p.expect("notifications/cancelled")
		_, _ = closed()
	})
}

func TestASubscriptionOutlivesTheLimitsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, nil)
		s, m := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
		time.Sleep(24 * time.Hour)
		p.event(string(m.ID), "notifications/tools/list_changed", ``)
		assert.Equal(t, mcp.ToolsChanged, next(t, s).Kind)
		p.answer(m, `{}`)
		_, err := rest(t, s)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	})
}

func TestSubscriptionsOnALegacyConnection(t *testing.T) {
	c, p := connected(t, nil)
	result := listening(c, t.Context(), mcp.Filter{Tools: true, Prompts: true, URIs: []string{"a:b"}})
	m := p.expect("resources/subscribe")
	assert.JSONEq(t, `{"uri":"a:b"}`, string(m.Params))
	p.answer(m, `{}`)
	s, err := result()
	require.NoError(t, err)
	assert.Equal(t, mcp.Filter{Tools: true, URIs: []string{"a:b"}}, s.Accepted(), "it never said that it tells of prompts")

	p.notify("notifications/prompts/list_changed", `{}`)
	p.notify("notifications/resources/updated", `{"uri":"other"}`)
	p.notify("notifications/tools/list_changed", `{}`)
	assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, next(t, s))
	p.notify("notifications/resources/updated", `{"uri":"a:b"}`)
	assert.Equal(t, mcp.Event{Kind: mcp.ResourceUpdated, URI: "a:b"}, next(t, s))

	// Somebody else is interested as well: the server is told only when nobody is.
	own := async(func() (any, error) { return nil, c.SubscribeResource(t.Context(), "a:b") })
	p.answer(p.expect("resources/subscribe"), `{}`)
	_, err = own()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	own = async(func() (any, error) { return nil, c.UnsubscribeResource(t.Context(), "a:b") })
	p.answer(p.expect("resources/unsubscribe"), `{}`)
	_, err = own()
	require.NoError(t, err)

	s, err = c.Listen(t.Context(), mcp.Filter{Tools: true})
	require.NoError(t, err, "without a request")
	p.conn.Close()
	_, err = rest(t, s)
	require.ErrorIs(t, err, mcp.ErrClosed)
}

func TestHandlersOfChangesWorkInBothEras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 10)
		connect, p := connecting(t, t.Context(), &mcp.Options{On: mcp.Notifications{
			ToolsChanged:    func(context.Context) { got <- "tools" },
			ResourceUpdated: func(_ context.Context, uri string) { got <- uri },
		}})
		p.answer(p.expect("server/discover"), `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true}}}`)
		c, err := connect()
		require.NoError(t, err)
		m := p.expect("subscriptions/listen")
		assert.JSONEq(t, `{"toolsListChanged":true}`, string(paramsOf(t, m)["notifications"]), "what there is a handler for")
		p.acknowledge(m, `{"toolsListChanged":true}`)
		p.event(string(m.ID), "notifications/tools/list_changed", ``)
		assert.Equal(t, "tools", <-got)

		// The server ends it: the client listens again after a while, and takes what it may have missed for changed.
		start := time.Now()
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"restarting"}}`, m.ID)
		m = p.expect("subscriptions/listen")
		assert.Equal(t, time.Second, time.Since(start))
		p.acknowledge(m, `{"toolsListChanged":true}`)
		assert.Equal(t, "tools", <-got)

		subscribed := async(func() (any, error) { return nil, c.SubscribeResource(t.Context(), "a:b") })
		m = p.expect("subscriptions/listen")
		assert.JSONEq(t, `{"resourceSubscriptions":["a:b"]}`, string(paramsOf(t, m)["notifications"]))
		p.acknowledge(m, `{"resourceSubscriptions":["a:b"]}`)
		_, err = subscribed()
		require.NoError(t, err)
		p.event(string(m.ID), "notifications/resources/updated", `,"uri":"a:b"`)
		assert.Equal(t, "a:b", <-got)
		require.NoError(t, c.UnsubscribeResource(t.Context(), "a:b"))
		assert.JSONEq(t, fmt.Sprintf(`{"requestId":%s}`, m.ID), string(p.expect("notifications/cancelled").Params))

		refused := async(func() (any, error) { return nil, c.SubscribeResource(t.Context(), "c:d") })
		p.acknowledge(p.expect("subscriptions/listen"), `{}`)
		p.expect("notifications/cancelled")
		_, err = refused()
		var missing *mcp.CapabilityError
		require.ErrorAs(t, err, &missing)
	})
}

func TestListeningAgainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect, p := connecting(t, t.Context(), &mcp.Options{On: mcp.Notifications{ToolsChanged: func(context.Context) {}}})
		p.answer(p.expect("server/discover"), `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
		c, err := connect()
		require.NoError(t, err)
		start := time.Now()
		for range 6 { // it ends at once, as some servers have it
			p.answer(p.expect("subscriptions/listen"), `{"resultType":"complete"}`)
		}
		assert.Equal(t, (1+2+4+8+16)*time.Second, time.Since(start))
		time.Sleep(time.Hour)
		roundTrip(t, c, p)
	})
}

func TestListeningOutlastsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, p := pair(t)
		road := &road{Transport: tr}
		changed := make(chan string, 1)
		connect := async(func() (*mcp.Client, error) {
			return mcp.Connect(t.Context(), road, &mcp.Options{On: mcp.Notifications{
				ToolsChanged: func(context.Context) { changed <- "tools" },
			}})
		})
		p.answer(p.expect("server/discover"), `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
		c, err := connect()
		require.NoError(t, err)
		defer c.Close()
		m := p.expect("subscriptions/listen")
		p.acknowledge(m, `{"toolsListChanged":true}`)
		synctest.Wait()

		road.closed.Store(true)
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"bye"}}`, m.ID)
		time.Sleep(24 * time.Hour)
		assert.InDelta(t, 24*60*2, road.tried.Load(), 10, "tries in a day, not more than one in 30 s")
		road.closed.Store(false)
		for range 3 { // it comes and goes once more
			p.answer(p.expect("subscriptions/listen"), `{"resultType":"complete"}`)
		}
		p.acknowledge(p.expect("subscriptions/listen"), `{"toolsListChanged":true}`)
		assert.Equal(t, "tools", <-changed, "whatever it was")
	})
}

// road is the way to a server, which may be closed.
type road struct {
	transport.Transport
	transport.Conn
	closed atomic.Bool
	tried  atomic.Int64 // while it was
}

func (r *road) Connect(ctx context.Context) (conn transport.Conn, err error) {
	r.Conn, err = r.Transport.Connect(ctx)
	return r, err
}

func (r *road) Send(ctx context.Context, out transport.Outgoing) error {
	if r.closed.Load() {
		r.tried.Add(1)
		return transport.Unsent(transport.ErrUnavailable)
	}
	return r.Conn.Send(ctx, out)
}
