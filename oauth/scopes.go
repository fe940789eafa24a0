package oauth

import (
	"slices"
	"strings"
)

const offlineAccess = "offline_access" // OpenID Connect Core 1.0, section 11

// scopesFor are the scopes to ask for (MCP, "Scope Selection Strategy"): those of the configuration, else those that
// the server demanded, else those that its metadata names, else none at all, which leaves it to the authorization
// server. What a step-up demands is asked for in any case, and nothing is dropped that was asked for or granted before
// ("Step-Up Authorization Flow").
func (a *Authorizer) scopesFor(demanded, supported []string, held *credentials, stepUp bool) []string {
	var scopes []string
	if held != nil {
		scopes = union(held.Asked, held.Scopes)
	}
	switch {
	case a.config.Scopes != nil:
		scopes = union(scopes, a.config.Scopes)
	case demanded != nil:
		scopes = union(scopes, demanded)
	default:
		scopes = union(scopes, supported)
	}
	if stepUp {
		scopes = union(scopes, demanded)
	}
	return scopes
}

// withOfflineAccess asks for a refresh token where the authorization server lists the scope that means one, and does
// not ask where it lists scopes without that one. It does not turn a request for the server's default scopes into one
// for this scope alone.
func withOfflineAccess(scopes, advertised []string) []string {
	switch {
	case slices.Contains(advertised, offlineAccess) && len(scopes) > 0:
		return union(scopes, []string{offlineAccess})
	case len(advertised) > 0 && !slices.Contains(advertised, offlineAccess):
		return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s == offlineAccess })
	}
	return scopes
}

// Servers name scopes by the hundred thousand, if they like: neither of these may take time in the square of that.

// union returns the scopes of both, each once, in their order.
func union(a, b []string) []string {
	all, has := slices.Clone(a), setOf(a)
	for _, s := range b {
		if !has[s] {
			has[s] = true
			all = append(all, s)
		}
	}
	return all
}

// includes reports whether all of these scopes are among those.
func includes(those, these []string) bool {
	has := setOf(those)
	return !slices.ContainsFunc(these, func(s string) bool { return !has[s] })
}

func setOf(scopes []string) map[string]bool {
	set := make(map[string]bool, len(scopes))
	for _, s := range scopes {
		set[s] = true
	}
	return set
}

// splitScopes reads a scope parameter; nil is one that says nothing.
func splitScopes(text string) []string {
	scopes := strings.Fields(text)
	if len(scopes) == 0 {
		return nil
	}
	return union(nil, scopes)
}

func joinScopes(scopes []string) string { return strings.Join(scopes, " ") }
