package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// What makes kept answers stale: notifications, and what goes wrong.

// outdating are the notifications, and the methods whose answers they outdate (SEP-2549, Motivation).
var outdating = map[string][]string{
	"notifications/tools/list_changed":     {"tools/list"},
	"notifications/prompts/list_changed":   {"prompts/list"},
	"notifications/resources/list_changed": {"resources/list", "resources/templates/list"},
	"notifications/resources/updated":      {"resources/read"},
	"notifications/message":                {},
}

func TestAChangeOutdatesWhatItIsAboutAndNothingElse(t *testing.T) {
	ways := map[string]func(t *testing.T, c *mcp.Client, p *peer, method string){
		"on a subscription": func(t *testing.T, c *mcp.Client, p *peer, method string) {
			all := mcp.Filter{Tools: true, Prompts: true, Resources: true, URIs: []string{"a:b"}}
			s, m := subscribe(t, c, p, all, `{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}`)
			p.event(string(m.ID), method, `,"uri":"a:b"`)
			p.answer(m, `{}`)
			_, err := rest(t, s)
			require.NoError(t, err)
		},
		"on none": func(t *testing.T, _ *mcp.Client, p *peer, method string) {
			p.notify(method, `{"uri":"a:b"}`)
			synctest.Wait()
		},
	}
	for name, change := range ways {
		for notification, outdated := range outdating {
			t.Run(name+" "+notification, func(t *testing.T) {
				caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
					all := asks(t, c)
					other := reading(t, c, "a:b/c")
					p.sent(other, "resources/read", "other", minute)
					for method, ask := range all {
						p.sent(ask, method, "1", minute)
					}
					change(t, c, p, notification)
					p.kept(other, "other")
					for _, method := range outdated {
						p.kept(all[method], "1", mcp.WithCached())
						p.sent(all[method], method, "1", minute)
					}
					for _, ask := range all {
						p.kept(ask, "1")
					}
				})
			})
		}
	}
}

func TestWhoHearsOfAChangeAndAsksGetsWhatIsTrueNow(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		ask := asks(t, c)["tools/list"]
		p.sent(ask, "tools/list", "1", minute)
		s, m := subscribe(t, c, p, mcp.Filter{Tools: true}, `{"toolsListChanged":true}`)
		p.event(string(m.ID), "notifications/tools/list_changed", ``)
		next(t, s)
		p.sent(ask, "tools/list", "2", minute)
		p.kept(ask, "2")
		p.answer(m, `{}`)
	})
}

func TestAChangeOfAPartOutdatesTheWhole(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		folder, file, other := reading(t, c, "file:///a"), reading(t, c, "file:///b"), reading(t, c, "file:///c")
		asked := mcp.Filter{URIs: []string{"file:///a", "file:///b"}}
		_, m := subscribe(t, c, p, asked, `{"resourceSubscriptions":["file:///a","file:///b"]}`)
		for _, ask := range []ask{folder, file, other} {
			p.sent(ask, "resources/read", "1", minute)
		}
		p.event(string(m.ID), "notifications/resources/updated", `,"uri":"file:///a"`)
		synctest.Wait()
		p.sent(folder, "resources/read", "2", minute)
		p.kept(file, "1")

		p.event(string(m.ID), "notifications/resources/updated", `,"uri":"x://part/of/which"`)
		synctest.Wait()
		p.sent(folder, "resources/read", "3", minute)
		p.sent(file, "resources/read", "3", minute)
		p.kept(other, "1")
		p.answer(m, `{}`)
	})
}

// The answer may have been on its way when the server noticed the change.
func TestAnAnswerThatAChangeOvertookIsNotFresh(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		for method, ask := range asks(t, c) {
			for notification, outdated := range outdating {
				if len(outdated) == 0 || outdated[0] != method {
					continue
				}
				got := async(func() (string, error) { return ask() })
				m := p.expect(method)
				p.notify(notification, `{"uri":"a:b"}`)
				p.answer(m, answerOf(method, "1", minute))
				text, err := got()
				require.NoError(t, err)
				assert.Equal(t, "1", text)
				p.kept(ask, "1", mcp.WithCached())
				p.sent(ask, method, "2", minute)
				p.kept(ask, "2")
			}
		}
	})
}

func TestWhateverCameOfAFetchItLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := mcp.NewCache(0)
		c, p := modern(t, &mcp.Options{Cache: cache})
		read := reading(t, c, "a:b")
		p.sent(read, "resources/read", "1", `"ttlMs":0`)
		got := async(func() (string, error) { return read(mcp.WithTimeout(time.Second)) })
		m := p.expect("resources/read")
		assert.Equal(t, 1, cache.Topics(), "while it is under way")
		p.expect("notifications/cancelled")
		_, err := got()
		require.Error(t, err)
		panicked := async(func() (v any, _ error) {
			defer func() { v = recover() }()
			return read(mcp.WithProgress(func(mcp.Progress) { panic("of the caller") }))
		})
		m = p.expect("resources/read")
		p.notify("notifications/progress", `{"progressToken":`+string(m.ID)+`,"progress":1}`)
		v, _ := panicked()
		assert.Equal(t, "of the caller", v)
		assert.Zero(t, cache.Topics())
	})
}

func TestWhatASubscriptionMayHaveMissedIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &mcp.Options{
			Cache: mcp.NewCache(0),
			On:    mcp.Notifications{ToolsChanged: func(context.Context) {}},
		}
		connect, p := connecting(t, t.Context(), o)
		p.answer(p.expect("server/discover"), `{"supportedVersions":["2026-07-28"],`+
			`"capabilities":{"tools":{"listChanged":true},"resources":{}}}`)
		c, err := connect()
		require.NoError(t, err)
		lists := p.expect("subscriptions/listen")
		p.acknowledge(lists, `{"toolsListChanged":true}`)
		watch := async(func() (any, error) { return nil, c.SubscribeResource(t.Context(), "a:b") })
		resource := p.expect("subscriptions/listen")
		p.acknowledge(resource, `{"resourceSubscriptions":["a:b"]}`)
		_, err = watch()
		require.NoError(t, err)

		all := asks(t, c)
		p.sent(all["tools/list"], "tools/list", "1", minute)
		p.sent(all["resources/read"], "resources/read", "1", minute)
		p.answer(lists, `{}`)
		p.acknowledge(p.expect("subscriptions/listen"), `{"toolsListChanged":true}`)
		synctest.Wait()
		p.sent(all["tools/list"], "tools/list", "2", minute)
		p.kept(all["resources/read"], "1")
		p.answer(resource, `{}`)
		p.acknowledge(p.expect("subscriptions/listen"), `{"resourceSubscriptions":["a:b"]}`)
		synctest.Wait()
		p.sent(all["resources/read"], "resources/read", "2", minute)
		p.kept(all["tools/list"], "2")
	})
}

func TestResultsThatTookInputAreNotKept(t *testing.T) {
	const asking = `{"resultType":"input_required",` + minute + `,"inputRequests":{` + askForRoot + `},"requestState":"s"}`
	o := accepting()
	o.Cache = mcp.NewCache(0)
	t.Run("rounds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := modern(t, o)
			read := reading(t, c, "a:b")
			for _, needed := range []string{
				asking,
				`{"resultType":"input_required",` + minute + `,"inputRequests":{` + askForRoot + `}}`,
				`{"resultType":"input_required",` + minute + `,"requestState":"s"}`,
			} {
				got := async(func() (string, error) { return read(mcp.WithCached()) })
				p.answer(p.expect("resources/read"), needed)
				p.answer(p.expect("resources/read"), answerOf("resources/read", "1", minute+`,"resultType":"complete"`))
				text, err := got()
				require.NoError(t, err)
				assert.Equal(t, "1", text)
			}
			p.sent(read, "resources/read", "2", minute)
			p.kept(read, "2")
		})
	})
	t.Run("by hand", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := modern(t, o)
			read := reading(t, c, "a:b")
			for _, input := range []mcp.CallOption{
				mcp.WithInput(map[string]any{"where": map[string]any{}}, nil), mcp.WithInput(nil, json.RawMessage(`"s"`)),
			} {
				got := async(func() (string, error) { return read(mcp.WithManualInput()) })
				p.answer(p.expect("resources/read"), asking)
				_, err := got()
				var needed *mcp.InputRequiredError
				require.ErrorAs(t, err, &needed)
				for range 2 {
					p.sent(read, "resources/read", "1", minute, input, mcp.WithCached())
				}
			}
			p.sent(read, "resources/read", "2", minute)
			for range 2 {
				p.kept(read, "2")
				p.sent(read, "resources/read", "1", minute, mcp.WithInput(nil, json.RawMessage(`"s"`)))
			}
		})
	})
}

func TestACursorThatTheServerNoLongerKnows(t *testing.T) {
	page := func(name, ttl, next string) string {
		return `{"ttlMs":` + ttl + `,"cacheScope":"public","tools":[` + tool(name) + `]` + next + `}`
	}
	const unknown = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown cursor"}}`
	first := func(t *testing.T, c *mcp.Client, p *peer) {
		got := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), page("a", "60000", `,"nextCursor":"2"`))
		p.answer(p.expect("tools/list"), page("b", "0", ``))
		_, err := got()
		require.NoError(t, err)
	}
	t.Run("the whole list is read anew", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			first(t, c, p)
			got := listTools(c, t.Context())
			p.write(unknown, p.expect("tools/list").ID)
			p.answer(p.expect("tools/list"), page("A", "60000", `,"nextCursor":"3"`))
			p.answer(p.expect("tools/list"), page("B", "60000", ``))
			tools, err := got()
			require.NoError(t, err)
			assert.Equal(t, []string{"A", "B"}, names(tools))
			tools, err = c.ListTools(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"A", "B"}, names(tools))
		})
	})
	t.Run("also if it is of a page that did not come from the cache", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			first(t, c, p)
			got := listTools(c, t.Context())
			p.answer(p.expect("tools/list"), page("b", "0", `,"nextCursor":"3"`))
			p.write(unknown, p.expect("tools/list").ID)
			p.answer(p.expect("tools/list"), page("A", "60000", ``))
			tools, err := got()
			require.NoError(t, err)
			assert.Equal(t, []string{"A"}, names(tools))
		})
	})
	t.Run("not one that the server did not get to answer about", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			first(t, c, p)
			start := time.Now()
			got := async(func() (any, error) { return c.ListTools(t.Context(), mcp.WithTimeout(time.Second)) })
			p.expect("tools/list")
			p.expect("notifications/cancelled")
			_, err := got()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start), "it is not asked again")
			p.kept(asks(t, c)["tools/list"], "a")
		})
	})
	t.Run("once", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			first(t, c, p)
			got := listTools(c, t.Context())
			p.write(unknown, p.expect("tools/list").ID)
			p.answer(p.expect("tools/list"), page("A", "60000", `,"nextCursor":"3"`))
			p.write(unknown, p.expect("tools/list").ID)
			_, err := got()
			var rpc *mcp.RPCError
			require.ErrorAs(t, err, &rpc)
		})
	})
	t.Run("not where nothing came from the cache", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			got := listTools(c, t.Context())
			p.answer(p.expect("tools/list"), page("a", "60000", `,"nextCursor":"2"`))
			p.write(unknown, p.expect("tools/list").ID)
			_, err := got()
			var rpc *mcp.RPCError
			require.ErrorAs(t, err, &rpc)
		})
	})
	t.Run("not where the server did not answer", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			first(t, c, p)
			got := listTools(c, t.Context())
			p.expect("tools/list")
			p.conn.Close()
			_, err := got()
			require.ErrorIs(t, err, mcp.ErrClosed)
		})
	})
	t.Run("the next walk begins anew", func(t *testing.T) {
		caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
			prompts := asks(t, c)["prompts/list"]
			p.sent(prompts, "prompts/list", "1", minute)
			first(t, c, p)
			got := async(func() (any, error) {
				for _, err := range c.Tools(t.Context()) {
					if err != nil {
						return nil, err
					}
				}
				return nil, errors.New("there was no error")
			})
			p.write(unknown, p.expect("tools/list").ID)
			_, err := got()
			var rpc *mcp.RPCError
			require.ErrorAs(t, err, &rpc)
			p.sent(asks(t, c)["tools/list"], "tools/list", "A", minute, mcp.WithCached())
			p.kept(prompts, "1")
		})
	})
}

// indexed is a client whose calls repeat parameters, of a server with one tool whose schemas are set by the test.
type indexed struct {
	client        *mcp.Client
	input, output string
	lists         int
	params        []transport.MirrorParam
	refuse        bool // a call without parameters
}

func newIndexed(t *testing.T, cache *mcp.Cache) *indexed {
	x := &indexed{input: `{}`, output: `{}`}
	var err error
	x.client, err = mcp.Connect(t.Context(), mirroring{exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "server/discover":
			return reply(out, discovered)
		case "tools/list":
			x.lists++
			return reply(out, `{`+public+`,"tools":[{"name":"t","inputSchema":`+x.input+`,"outputSchema":`+x.output+`}]}`)
		}
		x.params = out.Mirror.Params
		if x.refuse && len(x.params) == 0 {
			out.Deliver(&transport.Message{ID: out.Message.ID, Error: &mcp.RPCError{Code: mcp.CodeHeaderMismatch}})
			return nil
		}
		return reply(out, `{"content":[],"structuredContent":{"n":1}}`)
	})}, &mcp.Options{Cache: cache})
	require.NoError(t, err)
	t.Cleanup(func() { x.client.Close() })
	return x
}

func (x *indexed) list(t *testing.T, opts ...mcp.CallOption) {
	t.Helper()
	_, err := x.client.ListTools(t.Context(), opts...)
	require.NoError(t, err)
}

func (x *indexed) call(t *testing.T, opts ...mcp.CallOption) error {
	t.Helper()
	_, err := x.client.CallTool(t.Context(), "t", map[string]any{"region": "eu"}, opts...)
	return err
}

const (
	regional  = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	malformed = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":""}}}`
	noNumber  = `{"type":"object","properties":{"n":{"type":"string"}}}`
)

func TestToolsFromTheCacheAreKnownToCalls(t *testing.T) {
	cache := mcp.NewCache(0).For("s", "")
	teller, x := newIndexed(t, cache), newIndexed(t, cache)
	teller.input, teller.output = regional, noNumber
	teller.list(t)
	x.list(t)
	require.Zero(t, x.lists)
	require.NoError(t, x.call(t))
	assert.Equal(t, []transport.MirrorParam{{Name: "Region", Value: "eu"}}, x.params)
	var wrong *mcp.OutputError
	require.ErrorAs(t, x.call(t, mcp.WithValidation()), &wrong)
	require.Zero(t, x.lists)

	late := newIndexed(t, cache) // it has listed nothing itself
	require.ErrorAs(t, late.call(t, mcp.WithValidation()), &wrong)
	require.Zero(t, late.lists)

	teller.input = malformed
	teller.list(t, mcp.WithRefresh())
	tools, err := x.client.ListTools(t.Context())
	require.NoError(t, err)
	assert.Empty(t, tools, "it must not be used")
	require.Zero(t, x.lists)
}

func TestAServerThatMissesParametersIsListedAgainPastTheCache(t *testing.T) {
	x := newIndexed(t, mcp.NewCache(0))
	x.list(t)
	x.refuse, x.input = true, regional
	require.NoError(t, x.call(t))
	assert.Equal(t, 2, x.lists)
	assert.Equal(t, []transport.MirrorParam{{Name: "Region", Value: "eu"}}, x.params)
	x.list(t)
	assert.Equal(t, 2, x.lists, "what was listed again was kept")
}

func TestWhatIsNoLongerFreshTeachesNothingAboutTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := mcp.NewCache(0).For("s", "")
		x, other := newIndexed(t, cache), newIndexed(t, cache)
		other.output = noNumber
		other.list(t)
		time.Sleep(time.Minute)
		x.list(t, mcp.WithCached())
		require.Zero(t, x.lists)
		require.NoError(t, x.call(t, mcp.WithValidation()), "it has listed the tools as they are")
		assert.Equal(t, 1, x.lists)

		other.list(t, mcp.WithRefresh())
		time.Sleep(time.Minute)
		x.list(t, mcp.WithCached())
		require.NoError(t, x.call(t, mcp.WithValidation()), "what it knew is still what counts")
		assert.Equal(t, 1, x.lists)
	})
}

func TestAWalkOverAPageThatIsNoLongerFreshForgetsNoTools(t *testing.T) {
	checked := func(name string) string {
		return `{"name":"` + name + `","inputSchema":{},"outputSchema":{"type":"object"}}`
	}
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		got := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), `{"ttlMs":1000,"tools":[`+checked("a")+`],"nextCursor":"2"}`)
		p.answer(p.expect("tools/list"), `{"ttlMs":60000,"tools":[`+checked("b")+`]}`)
		_, err := got()
		require.NoError(t, err)
		require.Equal(t, 2, c.KnownTools())
		time.Sleep(time.Second)
		tools, err := c.ListTools(t.Context(), mcp.WithCached())
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, names(tools))
		assert.Equal(t, 2, c.KnownTools())

		got = listTools(c, t.Context())
		p.answer(p.expect("tools/list"), `{"ttlMs":1000,"tools":[],"nextCursor":"2"}`)
		_, err = got()
		require.NoError(t, err)
		assert.Equal(t, 1, c.KnownTools(), "a fresh page from the cache is as good as one of the server's")
	})
}

func TestAChangeOnASubscriptionOfTheCallersIsKnownToCalls(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		validated := func() func() (*mcp.CallToolResult, error) {
			return call(c, t.Context(), "a", mcp.WithValidation())
		}
		got := validated()
		p.answer(p.expect("tools/list"), answerOf("tools/list", "a", minute))
		p.answer(p.expect("tools/call"), hello)
		_, err := got()
		require.NoError(t, err)
		s, m := subscribe(t, c, p, mcp.Filter{Tools: true, Prompts: true},
			`{"toolsListChanged":true,"promptsListChanged":true}`)
		p.event(string(m.ID), "notifications/tools/list_changed", ``)
		next(t, s)
		got = validated()
		p.answer(p.expect("tools/list"), answerOf("tools/list", "a", minute))
		p.answer(p.expect("tools/call"), hello)
		_, err = got()
		require.NoError(t, err)

		p.event(string(m.ID), "notifications/prompts/list_changed", ``) // which is not about tools
		next(t, s)
		time.Sleep(time.Minute)
		got = validated()
		p.answer(p.expect("tools/call"), hello)
		_, err = got()
		require.NoError(t, err)
		p.answer(m, `{}`)
	})
}
