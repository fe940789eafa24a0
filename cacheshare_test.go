package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// Who shares what, and how much of it there is.

func TestWhoSharesWhat(t *testing.T) {
	const server, user = "https://example.com/mcp", "alice"
	type names struct{ server, user string }
	named := names{server, user}
	for _, test := range []struct {
		name        string
		one, other  names
		scope       string
		shared      bool
		differently *mcp.Options // how the other one introduces itself
	}{
		{name: "public", one: named, other: named, scope: "public", shared: true},
		{name: "private", one: named, other: named, scope: "private", shared: true},
		{name: "public, another user", one: named, other: names{server, "bob"}, scope: "public", shared: true},
		{name: "private, another user", one: named, other: names{server, "bob"}, scope: "private"},
		{name: "public, users unknown", one: names{server, ""}, other: names{server, ""}, scope: "public", shared: true},
		{name: "private, users unknown", one: names{server, ""}, other: names{server, ""}, scope: "private"},
		{name: "private, one user unknown", one: named, other: names{server, ""}, scope: "private"},
		{name: "no scope, another user", one: named, other: names{server, "bob"}, scope: ""},
		{name: "another scope, another user", one: named, other: names{server, "bob"}, scope: "PUBLIC"},
		{name: "public, another server", one: named, other: names{"https://example.com/mcp2", user}, scope: "public"},
		{name: "private, another server", one: named, other: names{"https://example.com/mcp2", user}, scope: "private"},
		{name: "public, servers unknown", one: names{"", user}, other: names{"", user}, scope: "public"},
		{name: "private, servers unknown", one: names{"", user}, other: names{"", user}, scope: "private"},
		{name: "public, nothing known", scope: "public"},
		{name: "public, another client", one: named, other: named, scope: "public",
			differently: &mcp.Options{Info: mcp.Implementation{Name: "another"}}},
		{name: "public, other capabilities", one: named, other: named, scope: "public",
			differently: &mcp.Options{Extensions: map[string]json.RawMessage{"example.com/x": json.RawMessage(`{}`)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := mcp.NewCache(0)
				part := func(n names) *mcp.Cache {
					if n == (names{}) {
						return cache
					}
					return cache.For(n.server, n.user)
				}
				if test.differently == nil {
					test.differently = &mcp.Options{}
				}
				test.differently.Cache = part(test.other)
				c1, p1 := modern(t, &mcp.Options{Cache: part(test.one)})
				c2, p2 := modern(t, test.differently)
				members := `"ttlMs":60000,"cacheScope":"` + test.scope + `"`
				for method, ask := range asks(t, c1) {
					other := asks(t, c2)[method]
					p1.sent(ask, method, "1", members)
					if test.shared {
						p2.kept(other, "1")
					} else {
						p2.sent(other, method, "2", members)
					}
					p1.kept(ask, "1")
				}
			})
		})
	}
}

// sharing runs a test with two users of one server.
func sharing(t *testing.T, run func(t *testing.T, alice, bob ask, a, b *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cache := mcp.NewCache(0)
		c1, a := modern(t, &mcp.Options{Cache: cache.For("s", "alice")})
		c2, b := modern(t, &mcp.Options{Cache: cache.For("s", "bob")})
		run(t, asks(t, c1)["prompts/list"], asks(t, c2)["prompts/list"], a, b)
	})
}

const public = `"ttlMs":60000,"cacheScope":"public"`

func TestAScopeThatChanges(t *testing.T) {
	t.Run("to private", func(t *testing.T) {
		sharing(t, func(t *testing.T, alice, bob ask, a, b *peer) {
			a.sent(alice, "prompts/list", "1", public)
			a.sent(alice, "prompts/list", "2", minute, mcp.WithRefresh())
			a.kept(alice, "2")
			b.sent(bob, "prompts/list", "3", minute, mcp.WithCached())
		})
	})
	t.Run("to public", func(t *testing.T) {
		sharing(t, func(t *testing.T, alice, bob ask, a, b *peer) {
			a.sent(alice, "prompts/list", "1", minute)
			b.sent(bob, "prompts/list", "2", minute)
			a.sent(alice, "prompts/list", "3", public, mcp.WithRefresh())
			a.kept(alice, "3")
			b.kept(bob, "3") // it is newer
			time.Sleep(30 * time.Second)
			b.sent(bob, "prompts/list", "4", minute, mcp.WithRefresh())
			b.kept(bob, "4")
			a.sent(alice, "prompts/list", "5", minute)
		})
	})
}

func TestTheNewerOfTwoAnswersCounts(t *testing.T) {
	sharing(t, func(t *testing.T, alice, bob ask, a, b *peer) {
		slow := async(func() (string, error) { return bob() })
		m := b.expect("prompts/list")
		a.sent(alice, "prompts/list", "new", minute)
		b.answer(m, answerOf("prompts/list", "old", public))
		_, err := slow()
		require.NoError(t, err)
		a.kept(alice, "new")
		b.kept(bob, "old")
	})
}

func TestAChangeThatOneClientHearsOfIsOneForAllOfTheServer(t *testing.T) {
	sharing(t, func(t *testing.T, alice, bob ask, a, b *peer) {
		a.sent(alice, "prompts/list", "1", minute)
		b.sent(bob, "prompts/list", "2", minute)
		got := async(func() (string, error) { return bob(mcp.WithRefresh()) })
		m := b.expect("prompts/list")
		a.notify("notifications/prompts/list_changed", `{}`)
		synctest.Wait()
		b.answer(m, answerOf("prompts/list", "3", minute))
		_, err := got()
		require.NoError(t, err)
		a.sent(alice, "prompts/list", "4", minute)
		b.sent(bob, "prompts/list", "5", minute)
	})
}

func TestAChangeOfOneServerIsNoneOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := mcp.NewCache(0)
		c1, a := modern(t, &mcp.Options{Cache: cache})
		c2, b := modern(t, &mcp.Options{Cache: cache})
		ask := asks(t, c2)["prompts/list"]
		b.sent(ask, "prompts/list", "1", minute)
		a.notify("notifications/prompts/list_changed", `{}`)
		got := async(func() (*mcp.Page[mcp.Prompt], error) { return c1.PromptsPage(t.Context(), new("2")) })
		a.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown cursor"}}`, a.expect("prompts/list").ID)
		_, err := got()
		require.Error(t, err)
		b.kept(ask, "1")
	})
}

// All pages of a list have the scope of the first one, whatever a server says.
func TestAPageIsAsPrivateAsTheFirstOne(t *testing.T) {
	for first, shared := range map[string]bool{
		public:                              true,
		minute:                              false,
		`"ttlMs":0,"cacheScope":"private"`:  false,
		`"ttlMs":0,"cacheScope":"public"`:   false, // nothing is known of it any longer
		`"ttlMs":60000,"cacheScope":"else"`: false,
	} {
		t.Run(first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := mcp.NewCache(0)
				c1, a := modern(t, &mcp.Options{Cache: cache.For("s", "alice")})
				c2, b := modern(t, &mcp.Options{Cache: cache.For("s", "bob")})
				second := func(c *mcp.Client) ask {
					return func(opts ...mcp.CallOption) (string, error) {
						page, err := c.PromptsPage(t.Context(), new("2"), opts...)
						if err != nil {
							return "", err
						}
						return page.Items[0].Name, nil
					}
				}
				a.sent(asks(t, c1)["prompts/list"], "prompts/list", "1", first)
				a.sent(second(c1), "prompts/list", "2", public)
				a.kept(second(c1), "2")
				if shared {
					b.kept(second(c2), "2")
				} else {
					b.sent(second(c2), "prompts/list", "2", public)
				}
			})
		})
	}
}

func TestACacheIsBounded(t *testing.T) {
	text := strings.Repeat("x", 10_000)
	room := 3 * (len(text) + 1500) // for three, with what comes on top
	bounded := func(t *testing.T, run func(t *testing.T, p *peer, read func(n int) ask)) {
		synctest.Test(t, func(t *testing.T) {
			c, p := modern(t, &mcp.Options{Cache: mcp.NewCache(room)})
			run(t, p, func(n int) ask { return reading(t, c, fmt.Sprint("a:", n)) })
		})
	}
	t.Run("what was used least recently goes first", func(t *testing.T) {
		bounded(t, func(t *testing.T, p *peer, read func(n int) ask) {
			for n := range 3 {
				p.sent(read(n), "resources/read", text, minute)
			}
			p.kept(read(0), text)
			p.sent(read(3), "resources/read", text, minute)
			p.kept(read(3), text)
			p.kept(read(2), text)
			p.kept(read(0), text)
			p.sent(read(1), "resources/read", text, minute)
			p.sent(read(3), "resources/read", text, minute)
		})
	})
	t.Run("what is too large is not kept, and costs the others nothing", func(t *testing.T) {
		bounded(t, func(t *testing.T, p *peer, read func(n int) ask) {
			for n := range 3 {
				p.sent(read(n), "resources/read", text, minute)
			}
			for range 2 {
				p.sent(read(3), "resources/read", strings.Repeat(text, 4), minute)
			}
			for n := range 3 {
				p.kept(read(n), text)
			}
		})
	})
	t.Run("as many go as there has to be room for", func(t *testing.T) {
		bounded(t, func(t *testing.T, p *peer, read func(n int) ask) {
			for n := range 3 {
				p.sent(read(n), "resources/read", text, minute)
			}
			p.sent(read(3), "resources/read", text+text, minute)
			p.kept(read(2), text)
			p.kept(read(3), text+text)
			p.sent(read(1), "resources/read", text, minute)
		})
	})
	t.Run("what is replaced makes room", func(t *testing.T) {
		bounded(t, func(t *testing.T, p *peer, read func(n int) ask) {
			for n := range 3 {
				for range 10 {
					p.sent(read(n), "resources/read", text, minute, mcp.WithRefresh())
				}
			}
			for n := range 3 {
				p.kept(read(n), text)
			}
		})
	})
	t.Run("small answers count as well", func(t *testing.T) {
		bounded(t, func(t *testing.T, p *peer, read func(n int) ask) {
			for n := range 60 { // which have 20 kB of text
				p.sent(read(n), "resources/read", "x", minute)
			}
			p.sent(read(0), "resources/read", "x", minute)
		})
	})
}

func TestACacheThatIsNone(t *testing.T) {
	_, err := mcp.Connect(t.Context(), (&mcptest.Server{}).Transport(), &mcp.Options{Cache: &mcp.Cache{}})
	require.EqualError(t, err, "mcp: connect: Options.Cache is not from NewCache")
}

func TestHintsAsADuration(t *testing.T) {
	assert.Equal(t, 1500*time.Millisecond, mcp.CacheHints{TTLMs: 1500}.TTL())
	assert.Equal(t, 292*365*24*time.Hour, mcp.CacheHints{TTLMs: math.MaxInt64}.TTL().Truncate(365*24*time.Hour))
}

// Many clients and calls on one small cache; the race detector looks on.
func TestACacheInUseByMany(t *testing.T) {
	s := &mcptest.Server{TTL: time.Millisecond, PageSize: 2}
	read := func(_ context.Context, call *mcptest.Call) (*mcp.ReadResourceResult, error) {
		contents := []*mcp.ResourceContents{{URI: call.URI, Text: strings.Repeat(call.URI, 500)}}
		return &mcp.ReadResourceResult{Contents: contents, Cache: mcp.CacheHints{TTLMs: 1, Scope: mcp.CachePublic}}, nil
	}
	for n := range 5 {
		uri := fmt.Sprint("a:", n)
		s.AddResource(&mcp.Resource{URI: uri, Name: uri}, read)
	}
	cache := mcp.NewCache(10_000).For("s", "me")
	var running sync.WaitGroup
	for n := range 4 {
		c, err := mcp.Connect(t.Context(), s.Transport(), &mcp.Options{Cache: cache})
		require.NoError(t, err)
		defer c.Close()
		for m := range 3 {
			running.Go(func() {
				opts := [][]mcp.CallOption{nil, {mcp.WithCached()}, {mcp.WithRefresh()}}[m]
				for i := range 100 {
					uri := fmt.Sprint("a:", (i+n)%5)
					result, err := c.ReadResource(t.Context(), uri, opts...)
					if assert.NoError(t, err) {
						assert.Equal(t, strings.Repeat(uri, 500), result.Contents[0].Text)
					}
					resources, err := c.ListResources(t.Context(), opts...)
					if assert.NoError(t, err) {
						assert.Len(t, resources, 5)
					}
					assert.NoError(t, s.Notify(t.Context(), "notifications/resources/updated", map[string]string{"uri": uri}))
				}
			})
		}
	}
	running.Wait()
}
