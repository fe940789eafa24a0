package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	discoverTimeout = 30 * time.Second // of all requests together
	maxIssuers      = 8                // of one resource that are tried
)

var errDiscoverTooSlow = fmt.Errorf("no metadata within %s", discoverTimeout)

// A discoverer finds out who issues tokens for an MCP server. It may be used concurrently; its fields are constant.
type discoverer struct {
	web    *web
	server *url.URL // of the MCP server
	log    *slog.Logger

	// Where the metadata is, if the user knows better than the specification; web trusts these as well. The issuer in a
	// configured document is believed.
	resourceMetadataURL, serverMetadataURL string
}

// A discovery is what a discoverer found.
type discovery struct {
	resource         string            // the resource to ask tokens for, exactly as the server published it (RFC 8707)
	resourceMetadata *resourceMetadata // nil for a server of 2025-03-26, which has none
	server           *serverMetadata   // validated: its issuer is the one to record
}

// discover looks for the metadata of the server and of its authorization server. The server may have named the URL of
// its own in a challenge (resource_metadata; "" if not). Of several authorization servers, the one with the issuer
// prefer is taken, else the first that there is. It takes at most 30 s.
//
// The error is a [*DiscoveryError], or that of ctx.
func (d *discoverer) discover(ctx context.Context, challenged, prefer string) (*discovery, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, discoverTimeout, errDiscoverTooSlow)
	defer cancel()
	m, err := d.resource(ctx, challenged)
	if err != nil {
		return nil, err
	}
	found := &discovery{resource: canonical(d.server), resourceMetadata: m}
	if m != nil {
		found.resource = cmp.Or(m.resource, found.resource)
	}
	found.server, err = d.authorizationServer(ctx, m, prefer)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// resource returns the metadata of the server, nil if it certainly has none.
func (d *discoverer) resource(ctx context.Context, challenged string) (*resourceMetadata, error) {
	tried := attempts{document: "protected resource metadata"}
	m, err := first(ctx, &tried, d.resourceURLs(challenged), d.resourceAt)
	if err != nil && d.resourceMetadataURL == "" && tried.all(isAbsent) {
		return nil, nil
	}
	return m, err
}

func (d *discoverer) resourceURLs(challenged string) []string {
	if d.resourceMetadataURL != "" {
		return []string{d.resourceMetadataURL}
	}
	urls := resourceCandidates(d.server)
	if challenged == "" {
		return urls
	}
	if u, err := d.server.Parse(challenged); err == nil {
		challenged = u.String() // some servers send only the path
	}
	urls = slices.DeleteFunc(urls, func(u string) bool { return u == challenged })
	return slices.Insert(urls, 0, challenged)
}

func (d *discoverer) resourceAt(ctx context.Context, rawURL string) (*resourceMetadata, error) {
	data, err := d.web.getJSON(ctx, rawURL, nil)
	if err != nil {
		return nil, err
	}
	m := new(resourceMetadata)
	ignored, err := m.read(data)
	if err != nil {
		return nil, err
	}
	d.tolerate(rawURL, ignored)
	switch {
	case m.resource == "" && m.authorizationServers == nil:
		return nil, errNoDocument
	case m.resource == "":
		d.log.Warn("the metadata names no resource", slog.String("url", placeOf(rawURL)))
		return m, nil
	}
	resource, err := url.Parse(m.resource)
	if err != nil || !covers(resource, d.server) {
		return nil, &ResourceError{Server: place(d.server), Resource: m.resource}
	}
	return m, nil
}

// tolerate reports members of a document that could not be used.
func (d *discoverer) tolerate(rawURL string, ignored []string) {
	for _, member := range ignored {
		d.log.Warn("ignored a member of metadata", slog.String("url", placeOf(rawURL)), slog.String("member", member))
	}
}

// attempts are the URLs at which a document was looked for in vain.
type attempts struct {
	document string
	failed   []DiscoveryAttempt
}

// first returns what get finds at the first of the URLs that has something.
func first[T any](
	ctx context.Context, tried *attempts, urls []string, get func(context.Context, string) (*T, error),
) (*T, error) {
	for _, u := range urls {
		v, err := get(ctx, u)
		if err == nil {
			return v, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		tried.failed = append(tried.failed, DiscoveryAttempt{placeOf(u), err})
	}
	return nil, &DiscoveryError{tried.document, tried.failed}
}

// all reports whether there were attempts and each failed as the function says.
func (a *attempts) all(as func(error) bool) bool {
	return len(a.failed) > 0 && !slices.ContainsFunc(a.failed, func(f DiscoveryAttempt) bool { return !as(f.Err) })
}

// isAbsent reports that there is no such document: not that somebody could not give it, or gave a wrong one.
func isAbsent(err error) bool {
	var status statusError
	if !errors.As(err, &status) {
		return errors.Is(err, errNoDocument)
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}
