package config

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A Registration is the way to a client id.
type Registration string

// The ways. Auto is what package oauth does by itself: a Client ID Metadata Document if the authorization server takes
// such and the application has one, else dynamic registration.
const (
	Auto Registration = "auto"
	DCR  Registration = "dcr"  // dynamic client registration (RFC 7591) only
	CIMD Registration = "cimd" // a Client ID Metadata Document only
)

// OAuth says how to sign in to a server at a URL. All of it is optional. Nothing that formats it shows what it holds.
type OAuth struct {
	// ClientID is a client that somebody has registered, and ClientSecret its secret, "" for a public client.
	ClientID, ClientSecret string

	// CallbackPort is the port on which the answer to a sign-in is taken; 0 means any.
	CallbackPort int
	// CallbackURL is the redirect URL: http, on a loopback host, without a query. "" means the application's own. A
	// port in it is that of CallbackPort, if that is set.
	CallbackURL string

	// Scope is asked for in place of what the server names: scopes with a space between.
	Scope string

	// ClientName is the name under which a client is registered dynamically; "" means the application's.
	ClientName string
	// Registration is the way to a client id if there is no ClientID; "" means [Auto].
	Registration Registration

	// AuthServerMetadataURL is where the metadata of the authorization server is, if not where the specification looks
	// for it: https, or http on a loopback host.
	AuthServerMetadataURL string

	// Extra has the fields that this package does not know, as they are written, without comments.
	Extra map[string]json.RawMessage
}

// check returns what is wrong. Values with references are left for when they are expanded.
func (o *OAuth) check(expanded bool) (field, reason string) {
	ready := func(text string) bool { return text != "" && (expanded || !hasReference(text)) }
	switch {
	case o.ClientSecret != "" && o.ClientID == "":
		return "clientSecret", "needs clientId"
	case o.Registration == CIMD && o.ClientID != "":
		return "clientRegistration", `"cimd" conflicts with clientId`
	case o.Registration == DCR && o.ClientID != "":
		return "clientRegistration", `"dcr" conflicts with clientId: a client that is registered is not registered again`
	case o.Registration == CIMD && o.ClientName != "":
		return "clientRegistration", `"cimd" conflicts with clientName: the name is in the document`
	case ready(o.Scope) && !isScope(o.Scope):
		return "scope", "is not a list of scopes with spaces between (RFC 6749, section 3.3)"
	}
	if ready(o.CallbackURL) {
		if reason := o.checkCallback(); reason != "" {
			return "callbackUrl", reason
		}
	}
	if ready(o.AuthServerMetadataURL) {
		u := httpURL(o.AuthServerMetadataURL)
		if u == nil || u.User != nil || u.Fragment != "" || u.Scheme == "http" && !isLoopback(u.Hostname()) {
			return "authServerMetadataUrl", "is not an https URL, nor an http URL of localhost, 127.0.0.1 or [::1]"
		}
	}
	return "", ""
}

func (o *OAuth) checkCallback() (reason string) {
	u := httpURL(o.CallbackURL)
	if u == nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.User != nil ||
		strings.ContainsAny(o.CallbackURL, "?#") {
		return "is not an http URL of localhost, 127.0.0.1 or [::1] without a query and a fragment"
	}
	if port := u.Port(); o.CallbackPort != 0 && port != "" && port != strconv.Itoa(o.CallbackPort) {
		return "conflicts with callbackPort: they name different ports"
	}
	return ""
}

// isScope knows what RFC 6749 allows in scopes. More than one space between them is no harm.
func isScope(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return strings.TrimSpace(text) != ""
}
