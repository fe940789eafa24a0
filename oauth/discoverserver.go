package oauth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
)

// authorizationServer returns the metadata of the authorization server for a resource, whose own metadata is nil for a
// server of 2025-03-26.
func (d *discoverer) authorizationServer(
	ctx context.Context, resource *resourceMetadata, prefer string,
) (*serverMetadata, error) {
	switch {
	case d.serverMetadataURL != "":
		return d.configuredServer(ctx)
	case resource == nil:
		return d.legacyServer(ctx)
	case len(resource.authorizationServers) == 0:
		d.log.Warn("the metadata names no authorization server; the server itself is taken for one",
			slog.String("server", place(d.server)))
		return d.serverMetadata(ctx, origin(d.server))
	}
	return d.listedServer(ctx, resource.authorizationServers, prefer)
}

// listedServer returns the first of the issuers that is there. One that fails in a way that may pass is waited for, in
// the sense that no other takes its place: the client may be registered with it, the user may have signed in there.
func (d *discoverer) listedServer(ctx context.Context, issuers []string, prefer string) (*serverMetadata, error) {
	if i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, prefer) }); i > 0 {
		issuers = slices.Concat(issuers[i:i+1], issuers[:i], issuers[i+1:])
	}
	failed := &DiscoveryError{Document: serverDocument}
	for _, issuer := range issuers[:min(len(issuers), maxIssuers)] {
		found, err := d.serverMetadata(ctx, issuer)
		var one *DiscoveryError
		if !errors.As(err, &one) {
			return found, err
		}
		failed.Attempts = append(failed.Attempts, one.Attempts...)
		if slices.ContainsFunc(one.Attempts, func(a DiscoveryAttempt) bool { return !isFinal(a.Err) }) {
			break
		}
	}
	return nil, failed
}

const serverDocument = "authorization server metadata"

// serverMetadata returns the validated metadata of an issuer. The error is a [*DiscoveryError], or that of ctx.
func (d *discoverer) serverMetadata(ctx context.Context, issuer string) (*serverMetadata, error) {
	u, err := d.vetIssuer(issuer)
	if err != nil {
		return nil, &DiscoveryError{serverDocument, []DiscoveryAttempt{{placeOf(issuer), err}}}
	}
	tried := attempts{document: serverDocument}
	return first(ctx, &tried, serverCandidates(u), func(ctx context.Context, rawURL string) (*serverMetadata, error) {
		return d.serverAt(ctx, rawURL, issuer, nil)
	})
}

// vetIssuer reads an issuer identifier (RFC 8414, section 2).
func (d *discoverer) vetIssuer(issuer string) (*url.URL, error) {
	u, err := d.web.vet(issuer)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, &EndpointError{place(u), "an issuer has no query and no fragment"}
	}
	return u, nil
}

// configuredServer believes the issuer in the document: the user vouches for it.
func (d *discoverer) configuredServer(ctx context.Context) (*serverMetadata, error) {
	tried := attempts{document: serverDocument}
	return first(ctx, &tried, []string{d.serverMetadataURL},
		func(ctx context.Context, rawURL string) (*serverMetadata, error) {
			return d.serverAt(ctx, rawURL, "", nil)
		})
}

// legacyServer is the server itself, which has metadata at its root or endpoints with default names (MCP 2025-03-26,
// "Server Metadata Discovery").
func (d *discoverer) legacyServer(ctx context.Context) (*serverMetadata, error) {
	issuer, header := origin(d.server), http.Header{"Mcp-Protocol-Version": {"2025-03-26"}}
	tried := attempts{document: serverDocument}
	found, err := first(ctx, &tried, serverCandidates(&url.URL{Scheme: d.server.Scheme, Host: d.server.Host}),
		func(ctx context.Context, rawURL string) (*serverMetadata, error) {
			return d.serverAt(ctx, rawURL, issuer, header)
		})
	if err == nil || !tried.all(isAbsent) {
		return found, err
	}
	d.log.Info("the server has no metadata; the default endpoints of 2025-03-26 are used",
		slog.String("server", place(d.server)))
	return &serverMetadata{
		issuer:                issuer,
		authorizationEndpoint: issuer + "/authorize",
		tokenEndpoint:         issuer + "/token",
		registrationEndpoint:  issuer + "/register",
		challengeMethods:      []string{"S256"}, // required of every server of that revision
	}, nil
}

// serverAt gets a document and validates it: its issuer, unless none is expected, and the endpoints that every sign-in
// needs. The web vets the others when they are used.
func (d *discoverer) serverAt(
	ctx context.Context, rawURL, issuer string, header http.Header,
) (*serverMetadata, error) {
	data, err := d.web.getJSON(ctx, rawURL, header)
	if err != nil {
		return nil, err
	}
	m := new(serverMetadata)
	ignored, err := m.read(data)
	switch {
	case err != nil:
		return nil, err
	case m.issuer == "" && m.tokenEndpoint == "":
		return nil, errNoDocument
	case m.issuer == "", issuer != "" && !sameIssuer(m.issuer, issuer):
		return nil, &IssuerError{Expected: issuer, Got: m.issuer}
	case m.tokenEndpoint == "":
		return nil, errNoTokenEndpoint
	}
	for _, endpoint := range []string{m.tokenEndpoint, m.authorizationEndpoint} {
		if endpoint == "" {
			continue // not every grant has an authorization endpoint
		}
		if _, err := d.web.vet(endpoint); err != nil {
			return nil, err
		}
	}
	if issuer != "" && m.issuer != issuer {
		d.log.Warn("tolerated an issuer that differs in a slash", slog.String("issuer", m.issuer))
	}
	d.tolerate(rawURL, ignored)
	return m, nil
}

var errNoTokenEndpoint = errors.New("the metadata has no token_endpoint")

// isFinal reports that asking again would change nothing.
func isFinal(err error) bool {
	var issuer *IssuerError
	var endpoint *EndpointError
	return isAbsent(err) || errors.Is(err, errNoTokenEndpoint) || errors.As(err, &issuer) || errors.As(err, &endpoint)
}
