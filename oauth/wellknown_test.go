package oauth

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parseURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}

func TestResourceCandidates(t *testing.T) {
	for server, want := range map[string][]string{
		"https://h":      {"https://h/.well-known/oauth-protected-resource"},
		"https://h/":     {"https://h/.well-known/oauth-protected-resource"},
		"https://h:8443": {"https://h:8443/.well-known/oauth-protected-resource"},
		"https://h/public/mcp": {
			"https://h/.well-known/oauth-protected-resource/public/mcp",
			"https://h/.well-known/oauth-protected-resource",
		},
		"https://h/mcp/": {
			"https://h/.well-known/oauth-protected-resource/mcp/",
			"https://h/.well-known/oauth-protected-resource/mcp",
			"https://h/.well-known/oauth-protected-resource",
		},
		"https://u:p@h/a%2Fb?tenant=1#f": {
			"https://h/.well-known/oauth-protected-resource/a%2Fb?tenant=1",
			"https://h/.well-known/oauth-protected-resource",
		},
	} {
		assert.Equal(t, want, resourceCandidates(parseURL(t, server)), server)
	}
}

func TestServerCandidates(t *testing.T) {
	for issuer, want := range map[string][]string{
		"https://a": {
			"https://a/.well-known/oauth-authorization-server",
			"https://a/.well-known/openid-configuration",
		},
		"https://a/": {
			"https://a/.well-known/oauth-authorization-server",
			"https://a/.well-known/openid-configuration",
		},
		"https://a/t1": { // case 128
			"https://a/.well-known/oauth-authorization-server/t1",
			"https://a/.well-known/openid-configuration/t1",
			"https://a/t1/.well-known/openid-configuration",
		},
		"https://a/x/t%2F1/": {
			"https://a/.well-known/oauth-authorization-server/x/t%2F1",
			"https://a/.well-known/openid-configuration/x/t%2F1",
			"https://a/x/t%2F1/.well-known/openid-configuration",
		},
	} {
		assert.Equal(t, want, serverCandidates(parseURL(t, issuer)), issuer)
	}
}

func TestSameIssuer(t *testing.T) {
	assert.True(t, sameIssuer("https://a", "https://a"))
	assert.True(t, sameIssuer("https://a/", "https://a"), "case 131")
	assert.True(t, sameIssuer("https://a/t", "https://a/t/"))
	assert.False(t, sameIssuer("https://a//", "https://a"))
	assert.False(t, sameIssuer("https://A", "https://a"))
	assert.False(t, sameIssuer("https://a:443", "https://a"))
	assert.False(t, sameIssuer("https://a/t1", "https://a"))
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		resource, server string
		want             bool
	}{
		{"https://h/mcp", "https://h/mcp", true},
		{"https://h/mcp", "https://h/mcp/", true}, // case 125
		{"https://h/mcp/", "https://h/mcp", true},
		{"https://h", "https://h/mcp/", true},
		{"https://h", "https://h/mcp", true}, // case 126
		{"https://h/", "https://h/mcp", true},
		{"https://h/", "https://h", true},
		{"https://other", "https://h/mcp", false},
		{"https://h.other/mcp", "https://h/mcp", false},
		{"HTTPS://H:443/mcp", "https://h/mcp", true},
		{"https://h:8443/mcp", "https://h/mcp", false},
		{"http://h/mcp", "https://h/mcp", false},
		{"http://h/mcp", "http://h:80/mcp", true},
		{"https://h/a", "https://h/a/mcp", true},
		{"https://h/mc", "https://h/mcp", false},
		{"https://h/mcp/more", "https://h/mcp", false},
		{"https://h/MCP", "https://h/mcp", false},
		{"https://h/mcp", "https://h/mcp?key=1", true},
		{"https://h/mcp?key=1", "https://h/mcp?key=1", true},
		{"https://h/mcp?key=2", "https://h/mcp?key=1", false},
		{"https://h/mcp#f", "https://h/mcp", false},
		{"https://u@h/mcp", "https://h/mcp", false},
		{"h/mcp", "https://h/mcp", false},
		{"urn:h:mcp", "https://h/mcp", false},
	} {
		covered := covers(parseURL(t, test.resource), parseURL(t, test.server))
		assert.Equal(t, test.want, covered, "%s for %s", test.resource, test.server)
	}
}

func TestCanonical(t *testing.T) {
	for server, want := range map[string]string{
		"https://mcp.example.com/":              "https://mcp.example.com",
		"https://mcp.example.com":               "https://mcp.example.com",
		"HTTPS://MCP.Example.com:8443/Mcp":      "https://mcp.example.com:8443/Mcp",
		"https://u:p@mcp.example.com/mcp#x":     "https://mcp.example.com/mcp",
		"https://mcp.example.com/server/a%2Fb/": "https://mcp.example.com/server/a%2Fb/",
	} {
		assert.Equal(t, want, canonical(parseURL(t, server)), server)
	}
}
