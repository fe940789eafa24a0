package interop

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patient is a ProbeTimeout that no server outlasts by being slow to start on a busy machine.
const patient = 20 * time.Second

// What it costs to find out which revision a server speaks, in round trips beyond those that any beginning takes:
// nothing with a modern server or with a pinned revision, one with a legacy server. The table is printed at the end.
func TestNegotiation(t *testing.T) {
	table := newTable("server", "era", "stdio", "stdio, pinned", "HTTP", "HTTP, pinned")
	for _, line := range []struct {
		name, era   string
		stdio, http *server
	}{
		{"TypeScript SDK", "legacy", &typescriptLegacy, &typescriptLegacyHTTP},
		{"TypeScript SDK", "modern", &typescriptModern, &typescriptModernHTTP},
		{"TypeScript SDK", "dual", &typescript, &typescriptHTTP},
		{"Go SDK", "legacy", &golangLegacy, &golangLegacyHTTP},
		{"Go SDK", "modern", &golangModern, &golangModernHTTP},
		{"Go SDK", "dual", &golang, &golangHTTP},
		{"mcp-go", "dual", &mcpGo, &mcpGoHTTP},
		{"everything of the Go SDK", "dual", &goSDK, nil},
		{"everything of the Go SDK", "legacy", nil, &goSDKHTTP},
		{"everything", "legacy", &everything, &everythingHTTP},
		{"everything, HTTP+SSE", "legacy", nil, &everythingSSE},
		{"everything of 2024", "legacy", &everything2024, nil},
		{"everything of 2024, HTTP+SSE", "legacy", nil, &everything2024SSE},
		{"mcp-proxy", "dual", nil, &mcpProxy},
		{"mcp-proxy, HTTP+SSE", "legacy", nil, &mcpProxySSE},
		{"cortex", "legacy, killed by the probe", &cortex, nil},
		{"effect", "legacy, silent", &effect, nil},
	} {
		byDefault, pinned := negotiate(t, line.stdio)
		byDefaultHTTP, pinnedHTTP := negotiate(t, line.http)
		table.line(line.name, line.era, byDefault, pinned, byDefaultHTTP, pinnedHTTP)
	}
	t.Logf("round trips beyond those of any beginning\n%s", table)
}

// negotiate connects to a server with default options and with every revision that it speaks pinned, one of each era,
// and says what that took.
func negotiate(t *testing.T, s *server) (byDefault, pinned string) {
	if s == nil {
		return "-", "-"
	}
	processes := 1
	if s.name == cortex.name {
		processes = 2 // the first is killed by the probe
	}
	legacy := s.version < mcp.Version20260728
	byDefault = open(t, s, "", s.version, map[bool]int{true: 1}[legacy], processes)
	var all []string
	for _, version := range s.versions() {
		all = append(all, open(t, s, version, version, 0, 1))
	}
	return byDefault, strings.Join(all, ", ")
}

// open connects to a server, checks what that took, and says so.
func open(t *testing.T, s *server, pinned, version string, extra, processes int) (what string) {
	t.Run(s.name+"/"+cmp.Or(pinned, "default"), func(t *testing.T) {
		var o mcp.Options
		if s.name != effect.name { // it is silent however long one waits
			o.ProbeTimeout = patient
		}
		if pinned != "" {
			o.Versions = []string{pinned}
		}
		c := connect(t, *s, o)
		trips := len(c.opening.trips) - max(s.trips, 1)
		t.Logf("%s, extra round trips: %d (%s), processes: %d, %v", c.Server().ProtocolVersion, trips,
			strings.Join(c.opening.trips, ", "), c.opening.processes, c.opening.took.Round(time.Millisecond))
		assert.Equal(t, version, c.Server().ProtocolVersion)
		assert.Equal(t, version >= mcp.Version20260728, c.Server().Modern())
		assert.Equal(t, extra, trips)
		assert.Equal(t, processes, c.opening.processes)
		assert.Contains(t, c.text(s.call.name, s.call.args), s.call.text)
		what = fmt.Sprintf("%d (%s)", trips, version)
	})
	return what
}

// A table is printed with its columns aligned.
type table struct {
	text    strings.Builder
	aligned *tabwriter.Writer
}

func newTable(head ...string) *table {
	x := &table{}
	x.aligned = tabwriter.NewWriter(&x.text, 0, 0, 2, ' ', 0)
	x.line(head...)
	return x
}

func (x *table) line(cells ...string) { fmt.Fprintln(x.aligned, strings.Join(cells, "\t")) }

func (x *table) String() string {
	_ = x.aligned.Flush() // a strings.Builder takes everything
	return x.text.String()
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
