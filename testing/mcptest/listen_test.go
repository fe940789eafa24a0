package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

const (
	toolsChanged    = string(mcp.ToolsChanged)
	promptsChanged  = string(mcp.PromptsChanged)
	resourceUpdated = string(mcp.ResourceUpdated)
)

// listens subscribes, checks the acknowledgement, and returns the id.
func (w *wire) listens(filter, agreed string) transport.ID {
	w.t.Helper()
	id := w.request("subscriptions/listen", withModernMeta(`"notifications":`+filter))
	m := w.next()
	assert.Equal(w.t, "notifications/subscriptions/acknowledged", m.Method)
	assert.JSONEq(w.t, `{"notifications":`+agreed+`,`+tag(id)+`}`, string(m.Params))
	return id
}

func tag(id transport.ID) string {
	return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id.String() + `}`
}

// hears checks what comes next on a subscription.
func (w *wire) hears(id transport.ID, method, members string) {
	w.t.Helper()
	m := w.next()
	assert.Equal(w.t, method, m.Method)
	assert.JSONEq(w.t, `{`+members+tag(id)+`}`, string(m.Params))
}

// hasNothingToRead checks that nothing waits for a modern client. It works in a bubble only.
func (w *wire) hasNothingToRead() {
	w.t.Helper()
	synctest.Wait()
	assert.Contains(w.t, w.modern("server/discover", ""), "supportedVersions")
}

// library offers tools and two resources.
func library() *mcptest.Server {
	s := greeter()
	s.AddResource(&mcp.Resource{URI: "a:1"}, nil)
	s.AddResource(&mcp.Resource{URI: "a:2"}, nil)
	return s
}

func TestListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := library()
		w := dial(t, s)
		lists := w.listens(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false}`,
			`{"toolsListChanged":true}`)
		files := w.listens(`{"resourceSubscriptions":["a:1","a:3"],"toolsListChanged":true}`,
			`{"resourceSubscriptions":["a:1"],"toolsListChanged":true}`)
		w.listens(`{}`, `{}`)

		tell := func(f func() error) {
			go func() { assert.NoError(t, f()) }()
		}
		tell(func() error { return s.Notify(ctx, toolsChanged, map[string]any{"x": 1}) })
		w.hears(lists, toolsChanged, `"x":1,`)
		w.hears(files, toolsChanged, `"x":1,`)
		tell(func() error { return s.Notify(ctx, toolsChanged, nil) })
		w.hears(lists, toolsChanged, ``)
		w.hears(files, toolsChanged, ``)
		tell(func() error { return s.ResourceUpdated(ctx, "a:1") })
		w.hears(files, resourceUpdated, `"uri":"a:1",`)
		tell(func() error { return s.Notify(ctx, resourceUpdated, map[string]any{"uri": "a:1"}) })
		w.hears(files, resourceUpdated, `"uri":"a:1",`)

		require.NoError(t, s.ResourceUpdated(ctx, "a:2"))
		require.NoError(t, s.Notify(ctx, promptsChanged, nil))
		require.NoError(t, s.Notify(ctx, string(mcp.ResourcesChanged), nil))
		w.hasNothingToRead()

		w.notify("notifications/cancelled", `{"requestId":`+lists.String()+`}`)
		synctest.Wait()
		tell(func() error { return s.Notify(ctx, toolsChanged, nil) })
		w.hears(files, toolsChanged, ``)
		w.hasNothingToRead()
	})
}

func TestListeningToEveryKind(t *testing.T) {
	s := library()
	s.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
	w := dial(t, s)
	const all = `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`
	id := w.listens(all, all)
	for _, kind := range []mcp.EventKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged} {
		go s.Notify(t.Context(), string(kind), nil)
		w.hears(id, string(kind), ``)
	}
}

func TestOnlyWhatTheServerSaysIsAgreedTo(t *testing.T) {
	const all = `{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}`
	for capabilities, want := range map[string]string{
		`{"tools":{},"resources":{}}`:                        `{}`,
		`{"tools":{"listChanged":true},"resources":{}}`:      `{"toolsListChanged":true}`,
		`{"resources":{"listChanged":true}}`:                 `{"resourcesListChanged":true}`,
		`{"resources":{"subscribe":true},"prompts":"what?"}`: `{"resourceSubscriptions":["a:1"]}`,
	} {
		s := library()
		s.Capabilities = json.RawMessage(capabilities)
		dial(t, s).listens(all, want)
	}
}

func TestListeningToNothingInParticular(t *testing.T) {
	w := dial(t, library())
	assert.Equal(t, "no filter of notifications (-32602)", w.modern("subscriptions/listen", ""))
	assert.Equal(t, "no filter of notifications (-32602)", w.modern("subscriptions/listen", `"notifications":5`))
}

func TestEndSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := library()
		w := dial(t, s)
		first := w.listens(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
		second := w.listens(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
		session := s.Sessions()[0]
		ended := make(chan error)
		go func() { ended <- session.EndSubscriptions(t.Context()) }()
		for _, id := range []transport.ID{first, second} {
			synctest.Wait()
			select {
			case <-ended:
				t.Fatal("ended before everything was sent")
			default:
			}
			m := w.next()
			assert.Equal(t, id, m.ID)
			assert.JSONEq(t, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":`+id.String()+
				`,"io.modelcontextprotocol/serverInfo":{"name":"mcptest","version":"1"}}}`, string(m.Result))
		}
		require.NoError(t, <-ended)
		require.NoError(t, session.EndSubscriptions(t.Context()), "nothing is left to end")
		require.NoError(t, s.Notify(t.Context(), toolsChanged, nil))
		w.hasNothingToRead()
	})
}

func TestNothingIsSentOutOfTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := library()
		w := dial(t, s)
		id := w.request("subscriptions/listen", withModernMeta(`"notifications":{"toolsListChanged":true}`))
		synctest.Wait() // the acknowledgement is on its way, and not read
		told, late, ended := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { told <- s.Notify(ctx, toolsChanged, nil) }()
		go func() { ended <- s.Sessions()[0].EndSubscriptions(ctx) }()
		synctest.Wait()
		assert.Empty(t, told)
		assert.Empty(t, ended)
		cancel(cause)
		require.ErrorIs(t, <-told, cause)
		require.ErrorIs(t, <-ended, cause)

		// What waits behind the acknowledgement when the client cancels is for nobody.
		go func() { late <- s.Notify(t.Context(), toolsChanged, nil) }()
		synctest.Wait()
		w.notify("notifications/cancelled", `{"requestId":`+id.String()+`}`)
		require.NoError(t, <-late)
		w.hasNothingToRead()
	})
}

func TestNothingIsSentAfterTheEnd(t *testing.T) {
	for range 20 { // a select takes either of what is ready
		synctest.Test(t, func(t *testing.T) {
			s := library()
			w := dial(t, s)
			id := w.listens(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
			ended := make(chan error)
			go func() { ended <- s.Sessions()[0].EndSubscriptions(t.Context()) }()
			synctest.Wait() // the result is on its way, and not read
			require.NoError(t, s.Notify(t.Context(), toolsChanged, nil))
			assert.Equal(t, id, w.next().ID)
			require.NoError(t, <-ended)
			w.hasNothingToRead()
		})
	}
}

func TestASubscriptionEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := library()
		w := dial(t, s)
		w.listens(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
		session := s.Sessions()[0]
		w.conn.Close()
		synctest.Wait()
		require.NoError(t, s.Notify(t.Context(), toolsChanged, nil))
		require.NoError(t, session.EndSubscriptions(t.Context()))
	})
}

func TestAClientListens(t *testing.T) {
	inEachEra(t, func(t *testing.T, o *mcp.Options) {
		s := library()
		changed := make(chan struct{}, 1)
		o.On.ToolsChanged = func(context.Context) { changed <- struct{}{} }
		client := mcptest.Connect(t, s, o)
		sub, err := client.Listen(t.Context(), mcp.Filter{Tools: true, Prompts: true, URIs: []string{"a:1"}})
		require.NoError(t, err)
		assert.Equal(t, mcp.Filter{Tools: true, URIs: []string{"a:1"}}, sub.Accepted())
		synctest.Wait() // the handler's subscription is made in the background
		require.NoError(t, s.Notify(t.Context(), toolsChanged, nil))
		<-changed
		require.NoError(t, s.ResourceUpdated(t.Context(), "a:2"))
		require.NoError(t, s.ResourceUpdated(t.Context(), "a:1"))
		var events []mcp.Event
		for e, err := range sub.Events(t.Context()) {
			require.NoError(t, err)
			if events = append(events, e); len(events) == 2 {
				break
			}
		}
		assert.Equal(t, []mcp.Event{{Kind: mcp.ToolsChanged}, {Kind: mcp.ResourceUpdated, URI: "a:1"}}, events)
		require.NoError(t, sub.Close())
		synctest.Wait()
		require.NoError(t, s.ResourceUpdated(t.Context(), "a:1"))
	})
}
