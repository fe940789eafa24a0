package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// unasked is a transport whose exchanges work, and which has something to say besides.
type unasked struct {
	*exchanges
	says chan *transport.Message
}

func (u *unasked) Connect(context.Context) (transport.Conn, error) { return u, nil }

func (u *unasked) Receive(ctx context.Context) (*transport.Message, error) {
	select {
	case m := <-u.says:
		return m, nil
	case <-u.closed:
		return nil, transport.ErrClosed
	}
}

// fault says that something is wrong with what arrives unasked.
func (u *unasked) fault(err error) {
	u.says <- &transport.Message{Fault: fmt.Errorf("the cable was cut: %w", err)}
}

const telling = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{},` +
	`"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}`

// tell makes a client that listens for the tools and for two resources, and records what its handlers are called for.
func tell(
	t *testing.T, ping func(transport.Outgoing) error,
) (u *unasked, c *mcp.Client, s *mcp.Subscription, changes func() []string) {
	u = &unasked{says: make(chan *transport.Message)}
	u.exchanges = exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "initialize":
			return reply(out, telling)
		case "ping":
			return ping(out)
		}
		if out.Message.IsRequest() {
			return reply(out, `{}`)
		}
		return nil
	})
	changed := make(chan string, 10)
	c, err := mcp.Connect(t.Context(), u, legacy(&mcp.Options{On: mcp.Notifications{
		ToolsChanged:    func(context.Context) { changed <- "tools" },
		PromptsChanged:  func(context.Context) { changed <- "prompts" },
		ResourceUpdated: func(_ context.Context, uri string) { changed <- uri },
	}}))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	s, err = c.Listen(t.Context(), mcp.Filter{Tools: true, URIs: []string{"file:///a"}})
	require.NoError(t, err)
	require.NoError(t, c.SubscribeResource(t.Context(), "file:///b"))
	return u, c, s, func() (names []string) {
		synctest.Wait()
		for len(changed) > 0 {
			names = append(names, <-changed)
		}
		return names
	}
}

func pong(out transport.Outgoing) error { return reply(out, `{}`) }

func TestWhatWasMissedCountsAsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, c, s, changes := tell(t, pong)
		u.fault(transport.ErrMissed)
		assert.Equal(t, []string{"tools", "file:///a", "file:///b"}, changes(), "prompts do not change")
		require.NoError(t, c.Err())
		require.NoError(t, s.Close())
		events, err := rest(t, s)
		require.NoError(t, err)
		assert.Equal(t, []mcp.Event{
			{Kind: mcp.ToolsChanged}, {Kind: mcp.ResourceUpdated, URI: "file:///a"},
		}, events)
	})
}

func TestSubscriptionsEndWhenNothingIsHeardAnyMore(t *testing.T) {
	for name, ping := range map[string]func(transport.Outgoing) error{
		"the server lives": pong,
		"it knows no ping": func(out transport.Outgoing) error {
			out.Deliver(&transport.Message{ID: out.Message.ID, Error: &transport.RPCError{Code: mcp.CodeMethodNotFound}})
			return nil
		},
		"it does not answer": func(transport.Outgoing) error { return nil },
		"it is away":         func(transport.Outgoing) error { return errors.New("no way") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, c, s, changes := tell(t, ping)
				u.fault(transport.ErrUnheard)
				events, err := rest(t, s)
				assert.Empty(t, events)
				assert.ErrorIs(t, err, transport.ErrUnheard)
				assert.ErrorContains(t, err, "mcp: the cable was cut: nothing is received unasked any more")
				assert.NotErrorIs(t, err, mcp.ErrClosed)
				assert.Empty(t, changes())
				require.NoError(t, c.Err())
				require.NoError(t, s.Close())
			})
		})
	}
}

func TestAForgottenSessionIsFoundOutWhenNothingIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgotten := true
		u, c, s, changes := tell(t, func(out transport.Outgoing) error {
			if forgotten {
				forgotten = false
				return transport.Unsent(transport.ErrSessionExpired)
			}
			return pong(out)
		})
		u.fault(transport.ErrUnheard)
		assert.Equal(t, []string{"tools", "prompts", "file:///a", "file:///b"}, changes(), "the new one may have others")
		require.NoError(t, c.Err())
		for range 2 {
			assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, next(t, s))
			u.says <- &transport.Message{Method: string(mcp.ToolsChanged)}
			synctest.Wait()
		}
	})
}

func TestAClientThatEndsBeforeItKnowsWhyNothingIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, c, s, _ := tell(t, func(transport.Outgoing) error { return nil })
		u.fault(transport.ErrUnheard)
		time.Sleep(time.Second)
		require.NoError(t, c.Close())
		_, err := rest(t, s)
		assert.ErrorIs(t, err, mcp.ErrClosed)
	})
}
