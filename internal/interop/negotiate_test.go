package interop

import (
	"strings"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patient is a ProbeTimeout that no server outlasts by being slow to start on a busy machine.
const patient = 20 * time.Second

// What it costs to find out which revision a server speaks, in requests beyond the one that any beginning takes:
// nothing with a modern server or with a pinned revision, one with a legacy server.
func TestNegotiation(t *testing.T) {
	type row struct {
		server    server
		kind      string
		pinned    string
		version   string
		extra     int
		processes int
	}
	rows := []row{
		{everything, "legacy", "", mcp.Version20251125, 1, 1},
		{everything, "legacy", mcp.Version20251125, mcp.Version20251125, 0, 1},
		{everything2024, "legacy", "", mcp.Version20241105, 1, 1},
		{everything2024, "legacy", mcp.Version20241105, mcp.Version20241105, 0, 1},
		{cortex, "legacy, killed by the probe", "", mcp.Version20250618, 1, 2},
		{cortex, "legacy, killed by the probe", mcp.Version20250618, mcp.Version20250618, 0, 1},
		{effect, "legacy, silent", "", mcp.Version20250618, 1, 1},
		{effect, "legacy, silent", mcp.Version20250618, mcp.Version20250618, 0, 1},
		{typescriptModern, "modern", "", mcp.Version20260728, 0, 1},
		{typescriptModern, "modern", mcp.Version20260728, mcp.Version20260728, 0, 1},
	}
	for _, s := range servers {
		if !s.dual {
			continue
		}
		rows = append(rows, row{s, "dual", "", mcp.Version20260728, 0, 1})
		for _, version := range bothEras {
			rows = append(rows, row{s, "dual", version, version, 0, 1})
		}
	}
	for _, r := range rows {
		name, o := "default", mcp.Options{ProbeTimeout: patient}
		if r.server.name == effect.name {
			o.ProbeTimeout = 0 // it is silent however long one waits
		}
		if r.pinned != "" {
			name, o.Versions = r.pinned, []string{r.pinned}
		}
		t.Run(r.server.name+"/"+name, func(t *testing.T) {
			c := connect(t, r.server, o)
			server := c.Server()
			extra := len(c.opening.requests) - 1
			t.Logf("%s: %s, extra round trips: %d (%s), processes: %d, %v", r.kind, server.ProtocolVersion, extra,
				strings.Join(c.opening.requests, ", "), c.opening.processes, c.opening.took.Round(time.Millisecond))
			assert.Equal(t, r.version, server.ProtocolVersion)
			assert.Equal(t, r.version >= mcp.Version20260728, server.Modern())
			assert.Equal(t, r.extra, extra)
			assert.Equal(t, r.processes, c.opening.processes)
			assert.Contains(t, c.text(r.server.call.name, r.server.call.args), r.server.call.text)
		})
	}
}

// A server that never answers the probe costs the time of the probe, and not much more. The machine may be busy, so the
// best of three tries counts.
func TestSilentServerConnectsSoon(t *testing.T) {
	const most = 2 * time.Second
	var best time.Duration
	for try := range 3 {
		took := connect(t, effect, mcp.Options{}).opening.took
		t.Logf("Connect took %v", took)
		if try == 0 || took < best {
			best = took
		}
		if best < most {
			return
		}
	}
	assert.Less(t, best, most)
}

// A revision that the server does not speak ends Connect with what the server said, and leaves nothing.
func TestPinnedVersionThatTheServerDoesNotSpeak(t *testing.T) {
	t.Run("a modern server", func(t *testing.T) {
		err := refused(t, typescriptModern, mcp.Version20251125)
		var refusal *mcp.RPCError
		require.ErrorAs(t, err, &refusal)
		assert.EqualValues(t, mcp.CodeUnsupportedProtocolVersion, refusal.Code)
	})
	for _, s := range []server{everything, everything2024, filesystem, leanspec, mcpTime} {
		t.Run(s.name, func(t *testing.T) {
			err := refused(t, s, mcp.Version20260728)
			var refusal *mcp.RPCError
			require.ErrorAs(t, err, &refusal)
		})
	}
	t.Run(cortex.name, func(t *testing.T) {
		assert.ErrorIs(t, refused(t, cortex, mcp.Version20260728), mcp.ErrClosed)
	})
	t.Run("a legacy server of one revision", func(t *testing.T) {
		err := refused(t, everything2024, mcp.Version20251125)
		var mismatch *mcp.VersionError
		require.ErrorAs(t, err, &mismatch)
		assert.Equal(t, []string{mcp.Version20241105}, mismatch.Offered)
	})
}
