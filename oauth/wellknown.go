package oauth

import (
	"net/url"
	"strings"
)

const (
	wellKnownResource = "/.well-known/oauth-protected-resource"
	wellKnownOAuth    = "/.well-known/oauth-authorization-server"
	wellKnownOpenID   = "/.well-known/openid-configuration"
)

// origin is scheme, host and port, without a slash.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// resourceCandidates are the URLs where the metadata of a server may be: at its path, then at the root (RFC 9728,
// section 3.1; MCP, "Protected Resource Metadata Discovery Requirements"). With a slash at the end of the path, that
// URL is tried as it is written and without the slash.
func resourceCandidates(server *url.URL) []string {
	base := origin(server) + wellKnownResource
	path, query := server.EscapedPath(), ""
	if server.RawQuery != "" {
		query = "?" + server.RawQuery
	}
	var urls []string
	if strings.Trim(path, "/") != "" {
		urls = append(urls, base+path+query)
		if short := strings.TrimRight(path, "/"); short != path {
			urls = append(urls, base+short+query)
		}
	}
	return append(urls, base)
}

// serverCandidates are the URLs where the metadata of an issuer may be, in the order of the specification (MCP,
// "Authorization Server Metadata Discovery").
func serverCandidates(issuer *url.URL) []string {
	base, path := origin(issuer), strings.TrimRight(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{base + wellKnownOAuth, base + wellKnownOpenID}
	}
	return []string{base + wellKnownOAuth + path, base + wellKnownOpenID + path, base + path + wellKnownOpenID}
}

// sameIssuer reports whether a and b name the same authorization server when metadata is looked for. They should be
// equal (RFC 8414, section 3.3), but libraries add a slash to URLs, or take it away.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// covers reports whether a token for the resource is one for the server: it is the server's own URL, or one above it
// at the same origin. Whole segments of the path are compared, and a slash at the end says nothing.
func covers(resource, server *url.URL) bool {
	if !sameOrigin(resource, server) || resource.User != nil || resource.Fragment != "" {
		return false
	}
	if resource.RawQuery != "" && resource.RawQuery != server.RawQuery {
		return false
	}
	above, path := strings.TrimRight(resource.EscapedPath(), "/"), strings.TrimRight(server.EscapedPath(), "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// canonical is the resource of a server that names none (MCP, "Canonical Server URI").
func canonical(server *url.URL) string {
	u := *server
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	if u.Path == "/" {
		u.Path, u.RawPath = "", ""
	}
	return u.String()
}
