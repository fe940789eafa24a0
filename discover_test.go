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
	"github.com/seed62b61957/mcp/transport"
)

const discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{},"logging":{}},` +
	`"instructions":"use it","ttlMs":1,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"peer","version":"2"}}}`

const legacyInitialized = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`

// connecting runs Connect in the background, against a peer that nothing has been said to yet.
func connecting(t testing.TB, ctx context.Context, o *mcp.Options) (func() (*mcp.Client, error), *peer) {
	tr, p := pair(t)
	return async(func() (*mcp.Client, error) {
		c, err := mcp.Connect(ctx, tr, o)
		if err == nil {
			t.Cleanup(func() { c.Close() })
		}
		return c, err
	}), p
}

// modern returns a client of a modern server, and the peer that plays it.
func modern(t testing.TB, o *mcp.Options) (*mcp.Client, *peer) {
	t.Helper()
	connect, p := connecting(t, t.Context(), o)
	p.answer(p.expect("server/discover"), discovered)
	c, err := connect()
	require.NoError(t, err)
	return c, p
}

func metaOf(t testing.TB, m wire) map[string]json.RawMessage {
	t.Helper()
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	require.NoError(t, json.Unmarshal(m.Params, &params))
	return params.Meta
}

func TestAModernServer(t *testing.T) {
	o := &mcp.Options{
		Info:   mcp.Implementation{Name: "me", Version: "3"},
		Roots:  func(context.Context) ([]mcp.Root, error) { return nil, nil },
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, nil },
	}
	connect, p := connecting(t, t.Context(), o)
	discover := p.expect("server/discover")
	checkMeta := func(m wire) {
		meta := metaOf(t, m)
		assert.Equal(t, `"2026-07-28"`, string(meta["io.modelcontextprotocol/protocolVersion"]))
		assert.JSONEq(t, `{"name":"me","version":"3"}`, string(meta["io.modelcontextprotocol/clientInfo"]))
		assert.JSONEq(t, `{"roots":{},"elicitation":{"form":{}}}`, string(meta["io.modelcontextprotocol/clientCapabilities"]))
		assert.NotContains(t, meta, "io.modelcontextprotocol/logLevel", "the server would have to send messages")
	}
	checkMeta(discover)
	p.answer(discover, discovered)
	c, err := connect()
	require.NoError(t, err)
	s := c.Server()
	assert.True(t, s.Modern())
	assert.Equal(t, mcp.Version20260728, s.ProtocolVersion)
	assert.Equal(t, mcp.Implementation{Name: "peer", Version: "2"}, s.Info)
	assert.Equal(t, "use it", s.Instructions)

	list := listTools(c, t.Context())
	m := p.expect("tools/list") // nothing in between: no handshake
	checkMeta(m)
	p.answer(m, `{"resultType":"complete","tools":[`+tool("a")+`],"ttlMs":0,"cacheScope":"private"}`)
	tools, err := list()
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, names(tools))

	result := async(func() (*mcp.CallToolResult, error) {
		return c.CallTool(t.Context(), "a", nil, mcp.WithLogLevel(mcp.LogDebug), mcp.WithMeta(mcp.Meta{
			"mine": json.RawMessage(`1`), "io.modelcontextprotocol/protocolVersion": json.RawMessage(`"forged"`),
		}))
	})
	m = p.expect("tools/call")
	meta := metaOf(t, m)
	assert.Equal(t, `"debug"`, string(meta["io.modelcontextprotocol/logLevel"]))
	assert.Equal(t, `"2026-07-28"`, string(meta["io.modelcontextprotocol/protocolVersion"]))
	assert.Equal(t, `1`, string(meta["mine"]))
	assert.Equal(t, string(m.ID), string(meta["progressToken"]))
	p.answer(m, hello) // without a resultType, as some servers answer
	got, err := result()
	require.NoError(t, err)
	assert.Equal(t, "hello", got.Text())

	require.NoError(t, c.SetLogLevel(t.Context(), mcp.LogWarning), "nothing is sent for it")
	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	m = p.expect("server/discover")
	assert.Equal(t, `"warning"`, string(metaOf(t, m)["io.modelcontextprotocol/logLevel"]))
	p.answer(m, discovered)
	_, err = ping()
	require.NoError(t, err)
}

func TestLegacyAnswersToTheProbe(t *testing.T) {
	for name, answer := range map[string]string{
		"method not found":     `"error":{"code":-32601,"message":"Method not found"}`,
		"invalid params":       `"error":{"code":-32602,"message":"Invalid request parameters"}`,
		"internal error":       `"error":{"code":-32603,"message":"oops"}`,
		"code 0":               `"error":{"code":0,"message":"not initialized"}`,
		"unsupported, -32000":  `"error":{"code":-32000,"message":"Unsupported protocol version"}`,
		"legacy versions only": `"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}`,
		"an empty result":      `"result":{}`,
		"a result of no use":   `"result":[]`,
		"null":                 `"result":null`,
		"legacy discovery":     `"result":{"supportedVersions":["2025-11-25","2025-06-18"],"capabilities":{}}`,
		"versions of no use":   `"result":{"supportedVersions":"2026-07-28","capabilities":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			connect, p := connecting(t, t.Context(), nil)
			p.write(`{"jsonrpc":"2.0","id":%s,%s}`, p.expect("server/discover").ID, answer)
			m := p.expect("initialize")
			assert.Equal(t, mcp.Version20251125, versionOf(t, m))
			p.answer(m, legacyInitialized)
			p.expect("notifications/initialized")
			c, err := connect()
			require.NoError(t, err)
			assert.False(t, c.Server().Modern())
			list := listTools(c, t.Context())
			m = p.expect("tools/list")
			assert.Nil(t, m.Params, "a legacy revision has no _meta on each request")
			p.answer(m, `{"tools":[]}`)
			_, err = list()
			require.NoError(t, err)
		})
	}
}

func TestAServerThatRefusesOnceAndNamesTheVersionIsAskedAgain(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28","2025-11-25"]}}}`
	connect, p := connecting(t, t.Context(), nil)
	p.write(refusal, p.expect("server/discover").ID)
	p.answer(p.expect("server/discover"), discovered)
	c, err := connect()
	require.NoError(t, err)

	result := call(c, t.Context(), "a")
	p.write(refusal, p.expect("tools/call").ID)
	p.answer(p.expect("tools/call"), hello)
	_, err = result()
	require.NoError(t, err)

	result = call(c, t.Context(), "a")
	p.write(refusal, p.expect("tools/call").ID)
	p.write(refusal, p.expect("tools/call").ID)
	_, err = result()
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc, "once is enough")
	assert.EqualValues(t, mcp.CodeUnsupportedProtocolVersion, rpc.Code)
}

func TestSilenceOnTheProbeMeansNothing(t *testing.T) {
	refused := `{"jsonrpc":"2.0","id":%s,"error":{"code":0,"message":"duplicate initialize"}}`
	for _, c := range []struct {
		name   string
		answer func(p *peer, discover, initialize wire)
		modern bool
		after  time.Duration
	}{
		{"a legacy server that never answers it", func(p *peer, _, initialize wire) {
			p.answer(initialize, legacyInitialized)
		}, false, 1200 * time.Millisecond},
		{"a slow legacy server", func(p *peer, discover, initialize wire) {
			time.Sleep(5 * time.Second)
			p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, discover.ID)
			p.answer(initialize, legacyInitialized)
		}, false, 6 * time.Second},
		{"a slow modern server that ignores the handshake", func(p *peer, discover, _ wire) {
			time.Sleep(5 * time.Second)
			p.answer(discover, discovered)
			p.answer(p.expect("server/discover"), discovered)
		}, true, 6 * time.Second},
		{"a slow modern server that refuses the handshake first", func(p *peer, discover, initialize wire) {
			time.Sleep(5 * time.Second)
			p.write(refused, initialize.ID)
			p.answer(discover, discovered)
		}, true, 6 * time.Second},
		{"a slow server that goes over to the handshake", func(p *peer, discover, initialize wire) {
			time.Sleep(5 * time.Second)
			p.answer(discover, discovered)
			p.answer(initialize, legacyInitialized)
			p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, p.expect("server/discover").ID)
		}, false, 6 * time.Second},
		{"a slow server that answers the handshake first, and stays modern", func(p *peer, discover, initialize wire) {
			p.answer(initialize, legacyInitialized)
			time.Sleep(100 * time.Millisecond)
			p.answer(discover, discovered)
			p.answer(p.expect("server/discover"), discovered)
		}, true, 1100 * time.Millisecond},
		{"a server that refuses to be asked again, and the handshake", func(p *peer, discover, initialize wire) {
			p.answer(discover, discovered)
			p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, p.expect("server/discover").ID)
			p.write(refused, initialize.ID)
		}, true, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				connect, p := connecting(t, t.Context(), nil)
				discover := p.expect("server/discover")
				initialize := p.expect("initialize")
				assert.Equal(t, time.Second, time.Since(start))
				c.answer(p, discover, initialize)
				if !c.modern {
					p.expect("notifications/initialized")
				}
				client, err := connect()
				require.NoError(t, err)
				assert.Equal(t, c.modern, client.Server().Modern())
				assert.Equal(t, c.after, time.Since(start))
				result := call(client, t.Context(), "a")
				m := p.expect("tools/call") // and no notice of cancellation for what was not needed
				p.answer(m, hello)
				_, err = result()
				require.NoError(t, err)
			})
		})
	}
}

func TestAServerThatAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		connect, p := connecting(t, t.Context(), nil)
		p.expect("server/discover")
		p.expect("initialize")
		_, err := connect()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(start), "the handshake is waited for as long as any request")
		_, err = p.next()
		require.Error(t, err, "nothing is said about it")
	})
}

func TestContextEndsDetection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		connect, p := connecting(t, ctx, nil)
		p.expect("server/discover")
		p.expect("initialize")
		_, err := connect()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = p.next()
		require.Error(t, err)
	})
}

// reborn is a transport whose first connection ends when it is probed.
type reborn struct {
	t     *testing.T
	peers chan *peer
}

func (r *reborn) Connect(context.Context) (transport.Conn, error) {
	tr, p := pair(r.t)
	r.peers <- p
	return tr.Connect(r.t.Context())
}

func TestAServerThatDiesOfTheProbeIsStartedAgain(t *testing.T) {
	r := &reborn{t, make(chan *peer, 5)}
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), r, nil) })
	p := <-r.peers
	p.expect("server/discover")
	p.conn.Close()
	p = <-r.peers
	p.answer(p.expect("initialize"), legacyInitialized) // without a probe
	p.expect("notifications/initialized")
	c, err := connect()
	require.NoError(t, err)
	assert.Equal(t, "old", c.Server().Info.Name)
	require.NoError(t, c.Close())

	// A server that dies of anything is not started for ever.
	connect = async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), r, nil) })
	for range 2 {
		p = <-r.peers
		p.read()
		p.conn.Close()
	}
	_, err = connect()
	require.ErrorIs(t, err, mcp.ErrClosed)
}

func TestPinnedRevisionsAreNotProbed(t *testing.T) {
	connect, p := connecting(t, t.Context(), &mcp.Options{Versions: []string{mcp.Version20250618}})
	m := p.expect("initialize")
	assert.Equal(t, mcp.Version20250618, versionOf(t, m))
	p.answer(m, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"2"}}`)
	p.expect("notifications/initialized")
	_, err := connect()
	require.NoError(t, err)

	connect, p = connecting(t, t.Context(), &mcp.Options{Versions: []string{mcp.Version20260728}})
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, p.expect("server/discover").ID)
	_, err = connect()
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)

	connect, p = connecting(t, t.Context(), &mcp.Options{Versions: []string{mcp.Version20260728}})
	p.answer(p.expect("server/discover"), `{"supportedVersions":["2027-01-01"],"capabilities":{}}`)
	_, err = connect()
	var version *mcp.VersionError
	require.ErrorAs(t, err, &version)
	assert.Equal(t, []string{"2027-01-01"}, version.Offered)
}

func TestOverExchangesTheServerIsAskedInTurn(t *testing.T) {
	var methods []string
	for _, c := range []struct {
		name    string
		probe   func(out transport.Outgoing) error
		methods []string
		err     bool
	}{
		{"modern", func(out transport.Outgoing) error { return reply(out, discovered) }, []string{"server/discover"}, false},
		{"refused", func(transport.Outgoing) error { return fmt.Errorf("400 Bad Request") },
			[]string{"server/discover", "initialize", "notifications/initialized"}, false},
		{"an empty result", func(out transport.Outgoing) error { return reply(out, `{}`) },
			[]string{"server/discover", "initialize", "notifications/initialized"}, false},
		{"not reached", func(transport.Outgoing) error { return transport.Unsent(fmt.Errorf("connection refused")) },
			[]string{"server/discover"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			methods = nil
			client, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
				methods = append(methods, out.Message.Method)
				switch out.Message.Method {
				case "server/discover":
					assert.Equal(t, mcp.Version20260728, out.Version)
					return c.probe(out)
				case "initialize":
					assert.Empty(t, out.Version)
					return reply(out, initialized)
				}
				return nil
			}), nil)
			assert.Equal(t, c.methods, methods)
			if c.err {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, client.Close())
		})
	}
}
