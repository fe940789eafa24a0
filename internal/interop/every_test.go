package interop

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every server connects with default options, in the revision that it speaks, lists its tools, refuses what it has not,
// answers a call, and leaves nothing behind.
func TestEveryServer(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			c := connect(t, s, mcp.Options{})
			if s.dual && c.opening.took >= time.Second { // so slow to start that it was offered either era
				assert.Contains(t, bothEras, c.Server().ProtocolVersion)
			} else {
				assert.Equal(t, s.version, c.Server().ProtocolVersion)
			}
			assert.NotEmpty(t, c.Server().Info.Name)

			tools, err := c.ListTools(c.ctx())
			require.NoError(t, err)
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
				assert.NotEmpty(t, tool.InputSchema, tool.Name)
			}
			assert.Subset(t, names, s.tools)

			pings(t, s, c)
			refusesUnknownTool(t, c)
			text := c.text(s.call.name, s.call.args)
			assert.Contains(t, text, s.call.text)
			if s.says != "" { // the client never waits for its logger
				assert.Eventually(t, func() bool { return strings.Contains(c.log.String(), s.says) }, wait, time.Millisecond)
			}
			c.closed()
			assert.ErrorIs(t, c.Err(), mcp.ErrClosed)
		})
	}
}

func pings(t *testing.T, s server, c *session) {
	err := c.Ping(c.ctx())
	if s.name != leanspec.name {
		assert.NoError(t, err)
		return
	}
	var refused *mcp.RPCError // it does not know ping
	require.ErrorAs(t, err, &refused)
	assert.EqualValues(t, mcp.CodeMethodNotFound, refused.Code)
	assert.NoError(t, c.Err())
}

// Servers disagree on what a tool that does not exist is. None of their answers ends the connection.
func refusesUnknownTool(t *testing.T, c *session) {
	result, err := c.CallTool(c.ctx(), "no-such-tool", nil)
	var refused *mcp.RPCError
	if err != nil {
		require.ErrorAs(t, err, &refused)
	} else {
		assert.True(t, result.IsError)
	}
}

// What a server does not offer is an empty list, and it is not asked for it.
func TestListsThatAreNotOffered(t *testing.T) {
	for _, s := range []server{filesystem, timeMCP, leanspec, mcpTime} {
		t.Run(s.name, func(t *testing.T) {
			c := connect(t, s, mcp.Options{})
			resources, err := c.ListResources(c.ctx())
			require.NoError(t, err)
			assert.Empty(t, resources)
			prompts, err := c.ListPrompts(c.ctx())
			require.NoError(t, err)
			assert.Empty(t, prompts)
			assert.NotContains(t, c.log.String(), "the server offers a list that it does not have")
			_, err = c.GetPrompt(c.ctx(), "any", nil)
			var missing *mcp.CapabilityError
			assert.ErrorAs(t, err, &missing)
		})
	}
}

// A revision that the caller pins is the one that is spoken, by servers that can.
func TestPinnedVersion(t *testing.T) {
	for _, version := range []string{
		mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, mcp.Version20251125,
	} {
		t.Run(version, func(t *testing.T) {
			c := connect(t, everything, mcp.Options{Versions: []string{version}})
			assert.Equal(t, version, c.Server().ProtocolVersion)
			assert.Equal(t, everything.call.text, c.text(everything.call.name, everything.call.args))
		})
	}
}

// The bars for Close. The machine may be busy, so the best of three tries counts.
func TestCloseIsBounded(t *testing.T) {
	sh := []string{"-c", `trap "" TERM; "$@"; sleep 600`, "sh"}
	for _, test := range []struct {
		name   string
		server server
		args   []string // of a shell in front of the server
		most   time.Duration
	}{
		{"ends with its input", memory, nil, 500 * time.Millisecond},
		{"is of a modern revision", typescriptModern, nil, 500 * time.Millisecond},
		{"ignores the end of its input", everything2024, nil, 600 * time.Millisecond},
		{"its launcher ignores SIGTERM too", mcpTime, sh, 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			var best time.Duration
			for try := range 3 {
				line := test.server.commandLine(t)
				if test.args != nil {
					line = append(append([]string{"/bin/sh"}, test.args...), line...)
				}
				c := connectTo(t, line[0], line[1:], mcp.Options{})
				took := c.closed()
				t.Logf("Close took %v", took)
				if try == 0 || took < best {
					best = took
				}
				if best <= test.most {
					return
				}
			}
			assert.LessOrEqual(t, best, test.most)
		})
	}
}

// A server that fails to start says why on its standard error; that is in the error of Connect.
func TestServerThatFailsToStart(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	program := filesystem.command
	_, err := mcp.Connect(t.Context(), &stdio.Transport{
		Command: path(t, program[0]), Args: []string{path(t, program[1]), missing},
	}, nil)
	require.Error(t, err)
	assert.ErrorIs(t, err, mcp.ErrClosed)
	assert.ErrorContains(t, err, missing)
}
