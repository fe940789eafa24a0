package mcp_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func versionOf(t *testing.T, m wire) string {
	t.Helper()
	var params struct {
		ProtocolVersion string
		ClientInfo      json.RawMessage
	}
	require.NoError(t, json.Unmarshal(m.Params, &params))
	return params.ProtocolVersion
}

func TestTheServersRevisionIsAccepted(t *testing.T) {
	for _, version := range []string{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105} {
		tr, p := pair(t)
		connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
		m := p.expect("initialize")
		assert.Equal(t, mcp.Version20251125, versionOf(t, m), "the newest is asked for")
		p.answer(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"get_time":{"x":1}},"adapter":{}},"serverInfo":{"name":"s","title":"S","version":"2"},"instructions":"use it","_meta":{"a":1}}`, version))
		p.expect("notifications/initialized")
		c, err := connect()
		require.NoError(t, err)
		s := c.Server()
		assert.Equal(t, version, s.ProtocolVersion)
		assert.Equal(t, "s", s.Info.Name)
		assert.Equal(t, "2", s.Info.Version)
		assert.Equal(t, "use it", s.Instructions)
		assert.NotNil(t, s.Capabilities.Tools)
		assert.Nil(t, s.Capabilities.Prompts)
		assert.Equal(t, `1`, string(s.Meta["a"]))
		require.NoError(t, c.Close())
	}
}

func TestOtherRevisionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		o       *mcp.Options
		offered string
	}{
		{nil, "9999-01-01"},
		{&mcp.Options{Versions: []string{mcp.Version20250618}}, mcp.Version20241105},
	} {
		tr, p := pair(t)
		connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(c.o)) })
		p.answer(p.expect("initialize"), fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"2"}}`, c.offered))
		_, err := connect()
		var version *mcp.VersionError
		require.ErrorAs(t, err, &version)
		assert.Equal(t, []string{c.offered}, version.Offered)
		_, err = p.next()
		require.Error(t, err, "the connection is closed, without initialized")
	}
}

func TestAServerThatRefusesAVersionIsAskedForTheOneItNames(t *testing.T) {
	tr, p := pair(t)
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
	m := p.expect("initialize")
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["1.0","2024-11-05","2025-03-26"],"requested":"x"}}}`, m.ID)
	m = p.expect("initialize")
	assert.Equal(t, mcp.Version20250326, versionOf(t, m))
	p.answer(m, `{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"2"}}`)
	p.expect("notifications/initialized")
	c, err := connect()
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestHandshakeThatFails(t *testing.T) {
	for name, answer := range map[string]string{
		"an error":             `"error":{"code":-32603,"message":"not today"}`,
		"a result of no use":   `"result":[1]`,
		"no mutual version":    `"error":{"code":-32602,"message":"no","data":{"supported":["1.0"]}}`,
		"a number for version": `"result":{"protocolVersion":"20251125","capabilities":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			tr, p := pair(t)
			connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
			p.write(`{"jsonrpc":"2.0","id":%s,%s}`, p.expect("initialize").ID, answer)
			_, err := connect()
			require.ErrorContains(t, err, "mcp: connect: ")
			_, err = p.next()
			require.Error(t, err, "the connection is closed")
		})
	}
}

func TestSloppyInitializeResults(t *testing.T) {
	var log diagnostics
	for _, result := range []string{
		`{}`,
		`{"protocolVersion":null,"capabilities":null,"serverInfo":null}`,
		`{"protocolVersion":"2025-11-25","capabilities":[],"serverInfo":"me","instructions":7}`,
	} {
		tr, p := pair(t)
		connect := async(func() (*mcp.Client, error) {
			return mcp.Connect(t.Context(), tr, legacy(&mcp.Options{Logger: log.logger()}))
		})
		p.notify("notifications/message", `{"level":"info","data":"before the answer"}`)
		p.answer(p.expect("initialize"), result)
		p.expect("notifications/initialized")
		c, err := connect()
		require.NoError(t, err, result)
		assert.Equal(t, mcp.Version20251125, c.Server().ProtocolVersion)
		require.NoError(t, c.Close())
	}
	log.wait(t, "no protocol version")
}

func TestASilentServerDoesNotHoldConnectForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, p := pair(t)
		start := time.Now()
		connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
		p.expect("initialize")
		_, err := connect()
		var limit *mcp.TimeoutError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, "initialize", limit.Method)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestVersionsOption(t *testing.T) {
	for _, versions := range [][]string{{}, {"2025-11-25", "1.0"}} {
		_, err := mcp.Connect(t.Context(), nil, &mcp.Options{Versions: versions})
		assert.ErrorContains(t, err, "Options.Versions")
	}
	tr, p := pair(t)
	connect := async(func() (*mcp.Client, error) {
		return mcp.Connect(t.Context(), tr, &mcp.Options{Versions: []string{mcp.Version20241105, mcp.Version20250326}})
	})
	m := p.expect("initialize")
	assert.Equal(t, mcp.Version20250326, versionOf(t, m), "the newest of them, whatever the order")
	p.answer(m, `{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"2"}}`)
	p.expect("notifications/initialized")
	c, err := connect()
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestBatches(t *testing.T) {
	for version, warned := range map[string]bool{mcp.Version20250326: false, mcp.Version20251125: true} {
		var log diagnostics
		tr, p := pair(t)
		connect := async(func() (*mcp.Client, error) {
			return mcp.Connect(t.Context(), tr, legacy(&mcp.Options{Logger: log.logger()}))
		})
		p.answer(p.expect("initialize"), fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"2"}}`, version))
		p.expect("notifications/initialized")
		c, err := connect()
		require.NoError(t, err)
		a := call(c, t.Context(), "a")
		ma := p.expect("tools/call")
		p.write(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":%s,"result":%s},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, ma.ID, hello)
		for range 2 {
			assert.JSONEq(t, `{}`, string(p.read().Result))
		}
		got, err := a()
		require.NoError(t, err)
		assert.Equal(t, "hello", got.Text())
		if warned {
			log.wait(t, "batch")
		} else {
			assert.NotContains(t, log.String(), "batch")
		}
		require.NoError(t, c.Close())
	}
}
