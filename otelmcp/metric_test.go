package otelmcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/otelmcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// boundaries are what the conventions give for each of the histograms.
var boundaries = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

func TestDurationsOfOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(t)
		s := newServer()
		s.AddTool(&mcp.Tool{Name: "slow"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			time.Sleep(3 * time.Second)
			return nil, &mcp.RPCError{Code: -7, Message: "no"}
		})
		handled := make(chan struct{})
		o := accepting(r)
		o.Versions = []string{mcp.Version20251125}
		o.On.Other = func(context.Context, string, json.RawMessage) {
			time.Sleep(time.Second)
			close(handled)
		}
		c := mcptest.Connect(t, s, r.instrumented(o))
		for range 2 {
			_, err := c.CallTool(t.Context(), "slow", nil)
			require.Error(t, err)
		}
		_, err := c.ReadResource(t.Context(), "file:///a")
		require.NoError(t, err)
		_, err = c.CallTool(t.Context(), "asks", nil)
		require.NoError(t, err)
		require.NoError(t, s.Sessions()[0].Notify(t.Context(), "made/up", nil))
		<-handled
		synctest.Wait()

		sent, points := r.points("mcp.client.operation.duration")
		assert.Equal(t, "s", sent.Unit)
		found := map[string]map[string]string{}
		for _, p := range points {
			a := attributes(p.Attributes.ToSlice())
			found[a["mcp.method.name"]+" "+a["gen_ai.tool.name"]] = a
			assert.Equal(t, boundaries, p.Bounds)
			if a["gen_ai.tool.name"] == "slow" {
				assert.EqualValues(t, 2, p.Count)
				assert.Equal(t, 6.0, p.Sum)
			}
		}
		v := mcp.Version20251125
		assert.Equal(t, map[string]map[string]string{
			"initialize ":                {"mcp.method.name": "initialize", "mcp.protocol.version": v},
			"notifications/initialized ": {"mcp.method.name": "notifications/initialized", "mcp.protocol.version": v},
			"resources/read ":            {"mcp.method.name": "resources/read", "mcp.protocol.version": v},
			"tools/call asks": {
				"mcp.method.name": "tools/call", "mcp.protocol.version": v,
				"gen_ai.tool.name": "asks", "gen_ai.operation.name": "execute_tool",
			},
			"tools/call slow": {
				"mcp.method.name": "tools/call", "mcp.protocol.version": v,
				"gen_ai.tool.name": "slow", "gen_ai.operation.name": "execute_tool",
				"error.type": "-7", "rpc.response.status_code": "-7",
			},
		}, found)

		received, points := r.points("mcp.server.operation.duration")
		assert.Equal(t, "s", received.Unit)
		found = map[string]map[string]string{}
		for _, p := range points {
			a := attributes(p.Attributes.ToSlice())
			found[a["mcp.method.name"]] = a
			assert.Equal(t, boundaries, p.Bounds)
			if a["mcp.method.name"] == "_OTHER" {
				assert.Equal(t, 1.0, p.Sum)
			}
		}
		assert.Equal(t, map[string]map[string]string{
			"elicitation/create": {"mcp.method.name": "elicitation/create", "mcp.protocol.version": v},
			"_OTHER":             {"mcp.method.name": "_OTHER", "mcp.protocol.version": v},
		}, found)
	})
}

func TestDurationsOfSessions(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		end     func(*mcp.Client, *mcptest.Server)
		want    []string // error types
	}{
		"closed": {mcp.Version20251125, func(c *mcp.Client, _ *mcptest.Server) { _ = c.Close() }, []string{""}},
		"lost": {mcp.Version20251125, func(_ *mcp.Client, s *mcptest.Server) { _ = s.Sessions()[0].Close() },
			[]string{"connection_closed"}},
		"none in this revision": {mcp.Version20260728, func(c *mcp.Client, _ *mcptest.Server) { _ = c.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := record(t), newServer()
				c, err := mcp.Connect(t.Context(), otelmcp.Transport(s.Transport(), r.options()...),
					&mcp.Options{Versions: []string{test.version}})
				require.NoError(t, err)
				time.Sleep(time.Minute)
				test.end(c, s)
				<-c.Done()
				require.NoError(t, c.Close())

				session, points := r.points("mcp.client.session.duration")
				require.Len(t, points, len(test.want))
				for i, p := range points {
					assert.Equal(t, "s", session.Unit)
					assert.Equal(t, boundaries, p.Bounds)
					assert.EqualValues(t, 1, p.Count)
					assert.Equal(t, 60.0, p.Sum)
					a := attributes(p.Attributes.ToSlice())
					assert.Equal(t, test.want[i], a["error.type"])
					assert.Equal(t, test.version, a["mcp.protocol.version"])
				}
			})
		})
	}
}

// unreachable is a connection that takes nothing.
type unreachable struct{ stub }

func (u unreachable) Connect(context.Context) (transport.Conn, error) { return u, nil }
func (u unreachable) Send(context.Context, transport.Outgoing) error {
	return transport.Unsent(&net.OpError{Op: "dial", Err: io.EOF})
}

func TestAnErrorOfTheTransportIsClassified(t *testing.T) {
	r := record(t)
	_, err := mcp.Connect(t.Context(), unreachable{stub{make(chan struct{})}},
		r.instrumented(&mcp.Options{Versions: []string{mcp.Version20251125}}))
	require.Error(t, err)
	span := r.only("initialize")
	assert.Equal(t, map[string]string{
		"mcp.method.name": "initialize", "jsonrpc.request.id": "1", "error.type": "*net.OpError",
		"network.transport": "tcp", "network.protocol.name": "http",
	}, attributes(span.Attributes()))
	assert.Empty(t, span.Status().Description, "the text of an error may say more than a trace should")
}

// A stub is a connection on which nothing happens.
type stub struct{ closed chan struct{} }

func (s stub) Connect(context.Context) (transport.Conn, error) { return s, nil }
func (s stub) Send(context.Context, transport.Outgoing) error  { return nil }
func (s stub) Traits() transport.Traits                        { return transport.Traits{Name: "http"} }
func (s stub) Close() error                                    { close(s.closed); return nil }
func (s stub) Receive(ctx context.Context) (*transport.Message, error) {
	select {
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestASessionThatIsReplacedHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(t)
		conn, err := otelmcp.Transport(stub{make(chan struct{})}, r.options()...).Connect(t.Context())
		require.NoError(t, err)
		initialized := transport.Outgoing{
			Message: &transport.Message{Method: "notifications/initialized"}, Version: mcp.Version20250618,
		}
		require.NoError(t, conn.Send(t.Context(), initialized))
		time.Sleep(time.Minute)
		require.NoError(t, conn.Send(t.Context(), initialized))
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // as a client does before it closes the connection
		_, err = conn.Receive(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, conn.Close())
		_, err = conn.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)

		got := map[string]float64{}
		_, points := r.points("mcp.client.session.duration")
		for _, p := range points {
			a := attributes(p.Attributes.ToSlice())
			got[a["error.type"]] = p.Sum
			assert.Equal(t, "tcp", a["network.transport"])
			assert.Equal(t, "http", a["network.protocol.name"])
		}
		assert.Equal(t, map[string]float64{"session_expired": 60, "": 1}, got)
	})
}
