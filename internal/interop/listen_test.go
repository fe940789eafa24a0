package interop

import (
	"context"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// next returns the next event of a subscription.
func (s *session) next(sub *mcp.Subscription) mcp.Event {
	s.t.Helper()
	for e, err := range sub.Events(s.ctx()) {
		require.NoError(s.t, err)
		return e
	}
	require.FailNow(s.t, "the subscription has ended")
	panic("unreachable")
}

func TestListen(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		const uri = "test://note"
		c := connect(mcp.Options{})
		tools, err := c.Listen(c.ctx(), mcp.Filter{Tools: true})
		require.NoError(t, err)
		assert.Equal(t, mcp.Filter{Tools: true}, tools.Accepted())
		note, err := c.Listen(c.ctx(), mcp.Filter{URIs: []string{uri}})
		require.NoError(t, err)

		c.text("add-tool", nil)
		assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, c.next(tools))
		assert.Equal(t, "here", c.text("added-1", nil))
		c.text("touch-note", nil)
		assert.Equal(t, mcp.Event{Kind: mcp.ResourceUpdated, URI: uri}, c.next(note))

		// What is closed hears nothing more; the others go on, but for those of the Go SDK, which with the end of one
		// forgets all that listen to lists on the connection.
		require.NoError(t, note.Close())
		c.text("add-tool", nil)
		if c.Server().Info.Name != "interop-golang" || !c.Server().Modern() || c.http != nil {
			assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, c.next(tools))
		}
		for range note.Events(c.ctx()) {
			assert.Fail(t, "an event after Close")
		}

		// The end of the connection is the end of a subscription, and says so.
		c.closed()
		for _, err := range tools.Events(c.ctx()) {
			assert.ErrorIs(t, err, mcp.ErrClosed)
		}
	})
}

// Servers that offer to tell of changes accept a subscription in either era, and it can be closed again.
func TestListenOnServersInGo(t *testing.T) {
	for _, s := range []server{goSDK, mcpGo, mcpGoHTTP} {
		inBothEras(t, s, func(t *testing.T, connect func(mcp.Options) *session) {
			c := connect(mcp.Options{})
			f := mcp.Filter{Tools: true, Prompts: true, Resources: true}
			sub, err := c.Listen(c.ctx(), f)
			require.NoError(t, err)
			assert.Equal(t, f, sub.Accepted())
			require.NoError(t, sub.Close())
			assert.Contains(t, c.text(s.call.name, s.call.args), s.call.text)
		})
	}
}

// What is not offered is not accepted. A server of 2026-07-28 that has nothing to tell may end the subscription.
func TestListenToWhatIsNotOffered(t *testing.T) {
	nothing := func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		sub, err := c.Listen(c.ctx(), mcp.Filter{Prompts: true})
		require.NoError(t, err)
		accepted := sub.Accepted()
		assert.True(t, accepted.IsZero())
		require.NoError(t, sub.Close())
		for e, err := range sub.Events(c.ctx()) {
			assert.Fail(t, "an event", "%v %v", e, err)
		}
	}
	inEveryWay(t, nothing)
	inBothEras(t, mcpProxy, nothing)
}

// The handlers of Options hear of changes in either era without asking for it.
func TestChangesReachHandlers(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		changed := make(chan struct{}, 1)
		c := connect(mcp.Options{On: mcp.Notifications{
			ToolsChanged: func(context.Context) { send(changed, struct{}{}) },
		}})
		require.Eventually(t, func() bool { // since 2026-07-28 it listens in the background
			c.text("add-tool", nil)
			select {
			case <-changed:
				return true
			case <-time.After(100 * time.Millisecond):
				return false
			}
		}, wait, time.Millisecond)
	})
}

func TestSubscribedResource(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		const uri = "test://note"
		updated := make(chan string, 1)
		c := connect(mcp.Options{On: mcp.Notifications{
			ResourceUpdated: func(_ context.Context, uri string) { send(updated, uri) },
		}})
		require.NoError(t, c.SubscribeResource(c.ctx(), uri))
		c.text("touch-note", nil)
		assert.Equal(t, uri, receive(t, updated))
		require.NoError(t, c.UnsubscribeResource(c.ctx(), uri))
		assert.Equal(t, typescript.call.text, c.text(typescript.call.name, typescript.call.args))
	})
}
