package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// caching runs a test in a bubble, with a client that has a cache.
func caching(t *testing.T, run func(t *testing.T, c *mcp.Client, p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, &mcp.Options{Cache: mcp.NewCache(0)})
		run(t, c, p)
	})
}

// ask is one way to ask a server for something that may be kept. It returns what tells one answer from another.
type ask func(opts ...mcp.CallOption) (string, error)

// asks are all of them, by method.
func asks(t *testing.T, c *mcp.Client) map[string]ask {
	ctx := t.Context()
	return map[string]ask{
		"tools/list": func(opts ...mcp.CallOption) (string, error) {
			page, err := c.ToolsPage(ctx, nil, opts...)
			if err != nil {
				return "", err
			}
			return page.Items[0].Name, nil
		},
		"prompts/list": func(opts ...mcp.CallOption) (string, error) {
			page, err := c.PromptsPage(ctx, nil, opts...)
			if err != nil {
				return "", err
			}
			return page.Items[0].Name, nil
		},
		"resources/list": func(opts ...mcp.CallOption) (string, error) {
			page, err := c.ResourcesPage(ctx, nil, opts...)
			if err != nil {
				return "", err
			}
			return page.Items[0].Name, nil
		},
		"resources/templates/list": func(opts ...mcp.CallOption) (string, error) {
			page, err := c.ResourceTemplatesPage(ctx, nil, opts...)
			if err != nil {
				return "", err
			}
			return page.Items[0].Name, nil
		},
		"resources/read": reading(t, c, "a:b"),
	}
}

func reading(t *testing.T, c *mcp.Client, uri string) ask {
	return func(opts ...mcp.CallOption) (string, error) {
		result, err := c.ReadResource(t.Context(), uri, opts...)
		if err != nil {
			return "", err
		}
		return result.Contents[0].Text, nil
	}
}

const minute = `"ttlMs":60000,"cacheScope":"private"`

// answerOf is a result of a method, with members beside what tells it from others.
func answerOf(method, name, members string) string {
	return fmt.Sprintf(map[string]string{
		"tools/list":               `{%s,"tools":[{"name":%q,"inputSchema":{}}]}`,
		"prompts/list":             `{%s,"prompts":[{"name":%q}]}`,
		"resources/list":           `{%s,"resources":[{"uri":"u","name":%q}]}`,
		"resources/templates/list": `{%s,"resourceTemplates":[{"uriTemplate":"u","name":%q}]}`,
		"resources/read":           `{%s,"contents":[{"uri":"a:b","text":%q}]}`,
	}[method], members, name)
}

// sent checks that the server is asked, and gets the answer of that name.
func (p *peer) sent(ask ask, method, name, members string, opts ...mcp.CallOption) {
	p.t.Helper()
	got := async(func() (string, error) { return ask(opts...) })
	p.answer(p.expect(method), answerOf(method, name, members))
	text, err := got()
	require.NoError(p.t, err)
	require.Equal(p.t, name, text)
}

// kept checks that the answer of that name comes from the cache. In the bubble, a request that nobody reads times out.
func (p *peer) kept(ask ask, name string, opts ...mcp.CallOption) {
	p.t.Helper()
	text, err := ask(opts...)
	require.NoError(p.t, err)
	require.Equal(p.t, name, text)
}

func TestAnswersAreKeptWhileTheyAreFresh(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		for method, ask := range asks(t, c) {
			p.sent(ask, method, "1", minute)
			time.Sleep(time.Minute - time.Nanosecond)
			p.kept(ask, "1")
			time.Sleep(time.Nanosecond)
			p.sent(ask, method, "2", minute)
			p.kept(ask, "2")
		}
	})
}

func TestWhatMayNotBeKept(t *testing.T) {
	for name, members := range map[string]string{
		"nothing said":           `"resultType":"complete"`,
		"no time":                `"cacheScope":"private"`,
		"stale at once":          `"ttlMs":0,"cacheScope":"public"`,
		"negative":               `"ttlMs":-60000,"cacheScope":"public"`,
		"a string":               `"ttlMs":"60000","cacheScope":"public"`,
		"a fraction":             `"ttlMs":60000.5,"cacheScope":"public"`,
		"null":                   `"ttlMs":null,"cacheScope":"public"`,
		"beyond any integer":     `"ttlMs":1e30,"cacheScope":"public"`,
		"below any integer":      `"ttlMs":-1e30,"cacheScope":"public"`,
		"taken back at the end":  minute + `,"ttlMs":0`,
		"the smallest duration?": `"ttlMs":-9223372036854775808`,
	} {
		t.Run(name, func(t *testing.T) {
			caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
				for method, ask := range asks(t, c) {
					p.sent(ask, method, "1", members)
					p.sent(ask, method, "2", members, mcp.WithCached())
				}
			})
		})
	}
}

func TestWhatIsUnusualAndMayBeKept(t *testing.T) {
	for name, members := range map[string]string{
		"no scope":             `"ttlMs":60000`,
		"an unknown scope":     `"ttlMs":60000,"cacheScope":"everybody"`,
		"a scope of no use":    `"ttlMs":60000,"cacheScope":true`,
		"a resultType":         minute + `,"resultType":"complete"`,
		"an exponent":          `"ttlMs":6e4`,
		"longer than anything": `"ttlMs":9223372036854775807`,
		"a float of that":      `"ttlMs":9e18`,
	} {
		t.Run(name, func(t *testing.T) {
			caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
				ask := asks(t, c)["tools/list"]
				p.sent(ask, "tools/list", "1", members)
				time.Sleep(59 * time.Second)
				p.kept(ask, "1")
			})
		})
	}
}

func TestWithoutACacheNothingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, nil)
		for method, ask := range asks(t, c) {
			p.sent(ask, method, "1", minute)
			p.sent(ask, method, "2", minute, mcp.WithCached())
			p.sent(ask, method, "3", minute, mcp.WithRefresh())
		}
	})
}

func TestOfALegacyServerNothingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{Cache: mcp.NewCache(0)})
		for method, ask := range asks(t, c) {
			p.sent(ask, method, "1", minute)
			p.sent(ask, method, "2", minute, mcp.WithCached())
		}
	})
}

func TestEachRequestHasItsOwnAnswer(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		all := asks(t, c)
		for method, ask := range all {
			p.sent(ask, method, method, minute)
		}
		other := reading(t, c, "a:c")
		p.sent(other, "resources/read", "other", minute)
		p.kept(other, "other")
		for method, ask := range all {
			p.kept(ask, method)
		}
	})
}

func TestEachPageHasItsOwnTime(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		list := func() []string {
			tools, err := c.ListTools(t.Context())
			require.NoError(t, err)
			return names(tools)
		}
		page := func(name, ttl, next string) string {
			return `{"ttlMs":` + ttl + `,"cacheScope":"public","tools":[` + tool(name) + `]` + next + `}`
		}
		got := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), page("a", "60000", `,"nextCursor":""`))
		time.Sleep(10 * time.Second)
		p.answer(p.expect("tools/list"), page("b", "20000", `,"nextCursor":"3"`))
		p.answer(p.expect("tools/list"), page("c", "60000", ``))
		tools, err := got()
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "c"}, names(tools))
		time.Sleep(20*time.Second - 1)
		assert.Equal(t, []string{"a", "b", "c"}, list())

		time.Sleep(time.Nanosecond) // the page in the middle is over, and the others are not
		got = listTools(c, t.Context())
		m := p.expect("tools/list")
		assert.Equal(t, `""`, string(paramsOf(t, m)["cursor"]))
		p.answer(m, page("B", "60000", `,"nextCursor":"3"`))
		tools, err = got()
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "B", "c"}, names(tools))
		assert.Equal(t, []string{"a", "B", "c"}, list())
	})
}

func TestTheHintsAreThereToSee(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		assert.Equal(t, mcp.CacheHints{TTLMs: 1, Scope: mcp.CachePublic}, c.Server().Cache)
		for range 2 { // from the server, and from the cache
			page := async(func() (*mcp.Page[mcp.Tool], error) { return c.ToolsPage(t.Context(), nil, mcp.WithRefresh()) })
			p.answer(p.expect("tools/list"), answerOf("tools/list", "a", minute))
			tools, err := page()
			require.NoError(t, err)
			assert.Equal(t, mcp.CacheHints{TTLMs: 60000, Scope: mcp.CachePrivate}, tools.Cache)
			assert.Equal(t, time.Minute, tools.Cache.TTL())
		}
		tools, err := c.ToolsPage(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, time.Minute, tools.Cache.TTL())
		p.sent(reading(t, c, "a:b"), "resources/read", "1", `"ttlMs":60000,"cacheScope":"other"`)
		result, err := c.ReadResource(t.Context(), "a:b")
		require.NoError(t, err)
		assert.Equal(t, mcp.CacheHints{TTLMs: 60000, Scope: "other"}, result.Cache)
	})
}

func TestCallsForOrPastTheCache(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		for method, ask := range asks(t, c) {
			p.sent(ask, method, "1", minute, mcp.WithCached())
			p.sent(ask, method, "2", minute, mcp.WithRefresh())
			p.kept(ask, "2")
			time.Sleep(time.Hour)
			p.kept(ask, "2", mcp.WithRefresh(), mcp.WithCached())
			p.sent(ask, method, "3", minute, mcp.WithCached(), mcp.WithRefresh())
			p.kept(ask, "3")
		}
	})
}

func TestCallsWithMetadataOrHeadersOfTheirOwnPassTheCacheBy(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		ask := asks(t, c)["tools/list"]
		p.sent(ask, "tools/list", "1", minute)
		for _, own := range []mcp.CallOption{
			mcp.WithMeta(mcp.Meta{"tenant": json.RawMessage(`1`)}), mcp.WithHeader("Authorization", "other"),
		} {
			p.sent(ask, "tools/list", "2", minute, own)
			p.sent(ask, "tools/list", "3", minute, own, mcp.WithCached())
			p.sent(ask, "tools/list", "4", minute, own, mcp.WithRefresh())
			p.kept(ask, "1")
		}
		p.kept(ask, "1", mcp.WithLogLevel(mcp.LogDebug), mcp.WithProgress(func(mcp.Progress) {}), mcp.WithMeta(nil))
	})
}

func TestOnlyWhatMayBeKeptIs(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		for range 2 {
			raw := async(func() (json.RawMessage, error) { return c.Request(t.Context(), "tools/list", nil) })
			p.answer(p.expect("tools/list"), answerOf("tools/list", "1", minute))
			_, err := raw()
			require.NoError(t, err)
			ping := async(func() (any, error) { return nil, c.Ping(t.Context(), mcp.WithCached()) })
			p.answer(p.expect("server/discover"), discovered)
			_, err = ping()
			require.NoError(t, err)
			prompt := async(func() (any, error) { return c.GetPrompt(t.Context(), "p", nil, mcp.WithCached()) })
			p.answer(p.expect("prompts/get"), `{`+minute+`,"messages":[]}`)
			_, err = prompt()
			require.NoError(t, err)
			prompt = async(func() (any, error) { return c.GetPrompt(t.Context(), "p", nil) })
			p.answer(p.expect("prompts/get"), `{`+minute+`,"messages":5}`)
			_, err = prompt()
			require.ErrorContains(t, err, "unusable")
		}
	})
}

func TestAnAnswerThatMayNotBeKeptTakesThePlaceOfOneThatMay(t *testing.T) {
	for name, answer := range map[string]string{
		"no longer to be kept": `"result":` + answerOf("resources/read", "2", `"ttlMs":0`),
		"gone":                 `"error":{"code":-32602,"message":"no such resource"}`,
		"not without input":    `"result":{"resultType":"input_required",` + minute + `,"requestState":"s"}`,
		"of a kind to come":    `"result":{"resultType":"partial",` + minute + `,"contents":[]}`,
		"of no use":            `"result":{` + minute + `,"contents":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
				read := reading(t, c, "a:b")
				p.sent(read, "resources/read", "1", minute)
				got := async(func() (string, error) { return read(mcp.WithRefresh(), mcp.WithManualInput()) })
				p.write(`{"jsonrpc":"2.0","id":%s,%s}`, p.expect("resources/read").ID, answer)
				_, _ = got()
				p.sent(read, "resources/read", "3", minute, mcp.WithCached())
			})
		})
	}
}

func TestAPageOfNoUseIsNotKept(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		list := asks(t, c)["tools/list"]
		p.sent(list, "tools/list", "1", minute)
		got := async(func() (string, error) { return list(mcp.WithRefresh()) })
		p.answer(p.expect("tools/list"), `{`+minute+`,"tools":5}`)
		_, err := got()
		require.ErrorContains(t, err, "unusable")
		p.sent(list, "tools/list", "2", minute, mcp.WithCached())
	})
}

func TestAnAnswerThatNeverCameChangesNothing(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		read := reading(t, c, "a:b")
		p.sent(read, "resources/read", "1", minute)
		got := async(func() (string, error) { return read(mcp.WithRefresh(), mcp.WithTimeout(time.Second)) })
		p.expect("resources/read")
		p.expect("notifications/cancelled")
		_, err := got()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		p.kept(read, "1")
	})
}

func TestAnOlderAnswerDoesNotTakeThePlaceOfANewerOne(t *testing.T) {
	for _, newer := range []string{"public", "private"} {
		for _, older := range []string{"public", "private"} {
			t.Run(newer+" after "+older, func(t *testing.T) {
				caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
					read := reading(t, c, "a:b")
					slow := async(func() (string, error) { return read() })
					first := p.expect("resources/read")
					p.sent(read, "resources/read", "new", `"ttlMs":60000,"cacheScope":"`+newer+`"`)
					p.answer(first, answerOf("resources/read", "old", `"ttlMs":600000,"cacheScope":"`+older+`"`))
					text, err := slow()
					require.NoError(t, err)
					assert.Equal(t, "old", text, "what it was answered")
					p.kept(read, "new")
					time.Sleep(time.Minute)
					p.sent(read, "resources/read", "newest", minute)
				})
			})
		}
	}
}

func TestAnAnswerOfAnotherSessionIsNotKept(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		ask := asks(t, c)["tools/list"]
		got := async(func() (string, error) { return ask() })
		p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`,
			p.expect("tools/list").ID)
		p.answer(p.expect("tools/list"), answerOf("tools/list", "1", minute))
		_, err := got()
		require.NoError(t, err)
		p.sent(ask, "tools/list", "2", minute)
		p.kept(ask, "2")
	})
}

func TestAHitIsACallLikeAnyOther(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		read := reading(t, c, "a:b")
		p.sent(read, "resources/read", "1", minute)
		cause := fmt.Errorf("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := c.ReadResource(ctx, "a:b")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, cause)
		assert.Contains(t, err.Error(), `mcp: resources/read "a:b": `)
		_ = c.Close()
		_, err = read(mcp.WithCached())
		require.ErrorIs(t, err, mcp.ErrClosed)
	})
}

func TestResultsShareNothingWithTheCache(t *testing.T) {
	caching(t, func(t *testing.T, c *mcp.Client, p *peer) {
		page := func() (*mcp.Page[mcp.Tool], error) { return c.ToolsPage(t.Context(), nil) }
		got := async(page)
		p.answer(p.expect("tools/list"), `{`+minute+`,"tools":[{"name":"a","inputSchema":{"type":"object"}}],`+
			`"_meta":{"m":[1]},"nextCursor":"n"}`)
		for range 3 { // what the server sent, and what the cache gave twice
			tools, err := got()
			require.NoError(t, err)
			assert.Equal(t, "a", tools.Items[0].Name)
			assert.Equal(t, `{"type":"object"}`, string(tools.Items[0].InputSchema))
			assert.Equal(t, `[1]`, string(tools.Meta["m"]))
			assert.Equal(t, "n", *tools.NextCursor)
			clear(tools.Items[0].InputSchema)
			clear(tools.Meta["m"])
			clear(tools.Meta)
			*tools.NextCursor = "x"
			tools.Items[0].Name = "x"
			tools.Items[0] = nil
			got = page
		}
	})
}
