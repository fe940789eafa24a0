package config_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// wild is what files in the form of well-known applications say. The files were written for this test.
var wild = map[string]struct {
	options *config.Options
	servers []config.Server
	inputs  []config.Input
}{
	"claude-desktop": {servers: []config.Server{
		{Name: "notes", Type: config.Stdio, Command: "npx", Args: []string{
			"-y", "@example/notes-server", "/Users/kim/Documents", "/Users/kim/Desktop",
		}},
		{Name: "database", Type: config.Stdio, Command: `C:\Program Files\nodejs\node.exe`,
			Args: []string{`C:\servers\database\index.js`},
			Env:  map[string]string{"DATABASE_URL": "postgres://kim:hunter2@db.example/shop"}},
	}},
	"claude-code": {servers: []config.Server{
		{Name: "tickets", Type: config.HTTP, URL: "${TICKETS_URL:-https://tickets.example}/mcp",
			Headers: map[string]string{"Authorization": "Bearer ${TICKETS_TOKEN}"},
			Extra:   map[string]json.RawMessage{"headersHelper": raw(`"/opt/bin/print-headers"`)}},
		{Name: "errors", Type: config.SSE, URL: "https://errors.example/sse"},
		{Name: "files", Type: config.Stdio, Command: "${HOME_BIN:-/usr/local/bin}/files-server",
			Args: []string{"--config", "${FILES_CONFIG:-./files.toml}"},
			Env:  map[string]string{"CACHE_DIR": "${CACHE_DIR:-/tmp}"}},
		{Name: "calendar", Type: config.HTTP, URL: "https://calendar.example/mcp", OAuth: &config.OAuth{
			ClientID: "c0ffee", CallbackPort: 8431, Scope: "calendar:read calendar:write",
			AuthServerMetadataURL: "https://login.example/.well-known/openid-configuration",
		}},
	}},
	"cursor": {servers: []config.Server{
		{Name: "local", Type: config.Stdio, Command: "python", Args: []string{"${workspaceFolder}/tools/server.py"},
			Env:   map[string]string{"API_KEY": "${env:API_KEY}"},
			Extra: map[string]json.RawMessage{"envFile": raw(`"${workspaceFolder}/.env"`)}},
		{Name: "Remote API", Type: config.HTTP, URL: "https://api.example/mcp",
			Headers: map[string]string{"X-Api-Key": "${env:REMOTE_KEY}"},
			Extra: map[string]json.RawMessage{
				"auth": raw("{\n        \"CLIENT_ID\": \"abc\",\n        \"scopes\": [\"read\", \"write\"]\n      }"),
			}},
	}},
	"vscode": {
		servers: []config.Server{
			{Name: "forge", Type: config.HTTP, URL: "https://${input:region}.forge.example/mcp",
				Headers: map[string]string{"Authorization": "Bearer ${input:forge-token}"}},
			{Name: "io.github.example/browser", Type: config.Stdio, Command: "npx",
				Args: []string{"-y", "@example/browser@latest"},
				Cwd:  "${workspaceFolder}", Env: map[string]string{"PORT": "9222", "HEADLESS": "true"},
				Extra: map[string]json.RawMessage{
					"sandboxEnabled": raw(`true`), "dev": raw(`{ "watch": "src/**/*.ts" }`),
				}},
		},
		inputs: []config.Input{
			{ID: "forge-token", Type: "promptString", Description: "Token for the forge", Password: true},
			{ID: "region", Type: "pickString", Description: "Region", Options: []string{"eu", "us"}, Default: "eu"},
		},
	},
	"windsurf": {servers: []config.Server{
		{Name: "registry", Type: config.HTTP, URL: "https://registry.example/mcp",
			Headers: map[string]string{"Authorization": "Bearer ${env:REGISTRY_TOKEN}"},
			Extra:   map[string]json.RawMessage{"disabledTools": raw(`["delete"]`)}},
		{Name: "chart", Type: config.Stdio, Command: "uvx", Args: []string{"chart-server"}, Disabled: true},
	}},
	"cline": {servers: []config.Server{
		{Name: "search", Type: config.Stdio, Command: "node", Args: []string{"/home/kim/search/build/index.js"},
			Env: map[string]string{"SEARCH_KEY": "s3cr3t"}, Timeout: 90 * time.Second,
			Extra: map[string]json.RawMessage{"alwaysAllow": raw(`["search", "suggest"]`)}},
		{Name: "github.com/example/servers/tree/main/src/wiki", Type: config.HTTP,
			URL: "https://wiki.example/mcp", Disabled: true, Timeout: time.Minute,
			Extra: map[string]json.RawMessage{"autoApprove": raw(`[]`)}},
		{Name: "old", Type: config.SSE, URL: "http://localhost:3001/sse"},
	}},
	"gemini-cli": {options: &config.Options{TimeoutUnit: time.Millisecond}, servers: []config.Server{
		{Name: "maps", Type: config.HTTP, URL: "https://maps.example/mcp", Timeout: 5 * time.Second,
			Extra: map[string]json.RawMessage{"trust": raw(`false`), "includeTools": raw(`["route"]`)}},
		{Name: "build", Type: config.Stdio, Command: "docker", Cwd: "./build", Timeout: 30 * time.Second,
			Args: []string{"run", "-i", "--rm", "-e", "TOKEN", "build-server"},
			Env:  map[string]string{"TOKEN": "$BUILD_TOKEN"}},
	}},
	"copilot-cli": {servers: []config.Server{
		{Name: "lint", Type: config.Stdio, Command: "npx", Args: []string{"-y", "@example/lint"},
			Extra: map[string]json.RawMessage{"tools": raw(`["*"]`)}},
	}},
}

func TestFilesOfOtherApplications(t *testing.T) {
	paths, err := filepath.Glob("testdata/wild/*.json")
	require.NoError(t, err)
	require.Len(t, paths, len(wild))
	for name, want := range wild {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "wild", name+".json")
			file, err := config.ParseFile(path, want.options)
			require.NoError(t, err)
			requireServers(t, want.servers, file.Servers)
			assert.Equal(t, want.inputs, file.Inputs)
			for _, s := range file.Servers {
				assert.Equal(t, path, s.File)
			}
		})
	}
}

// requireServers compares servers in their order. What they format as shows no difference, so it names the fields.
func requireServers(t *testing.T, want, got []config.Server) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		w, g := want[i], got[i]
		assert.Equal(t, fields(w), fields(g))
		assert.True(t, w.Equal(g), "%s: there are fields that this test does not compare", w.Name)
	}
}

// fields are those of a Server in a form that shows them.
func fields(s config.Server) map[string]any {
	var oauth map[string]any
	if o := s.OAuth; o != nil {
		oauth = map[string]any{
			"ClientID": o.ClientID, "ClientSecret": o.ClientSecret, "CallbackPort": o.CallbackPort, "Extra": o.Extra,
			"CallbackURL": o.CallbackURL, "Scope": o.Scope, "ClientName": o.ClientName, "Registration": o.Registration,
			"AuthServerMetadataURL": o.AuthServerMetadataURL,
		}
	}
	return map[string]any{
		"Name": s.Name, "Type": s.Type, "Command": s.Command, "Args": s.Args, "Env": s.Env, "Cwd": s.Cwd, "URL": s.URL,
		"Headers": s.Headers, "OAuth": oauth, "Disabled": s.Disabled, "Description": s.Description,
		"Timeout": s.Timeout, "Extra": s.Extra,
	}
}
