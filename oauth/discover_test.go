package oauth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	pathResource = "/.well-known/oauth-protected-resource/mcp"
	rootResource = "/.well-known/oauth-protected-resource"
	rootOAuth    = "/.well-known/oauth-authorization-server"
	rootOpenID   = "/.well-known/openid-configuration"
)

type object = map[string]any

// discovererFor looks for what opens the server at a URL.
func discovererFor(t *testing.T, server string, change ...func(*discoverer)) *discoverer {
	t.Helper()
	u := parseURL(t, server)
	d := &discoverer{web: newWeb(webOptions{server: u}), server: u, log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(d)
	}
	return d
}

// logged makes a discoverer log to a buffer.
func logged(b *bytes.Buffer) func(*discoverer) {
	return func(d *discoverer) { d.log = slog.New(slog.NewTextHandler(b, nil)) }
}

// documentOf is the metadata of an issuer.
func documentOf(issuer string) object {
	base := strings.TrimSuffix(issuer, "/")
	return object{"issuer": issuer, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token"}
}

// sites are an MCP server whose path is /mcp and an authorization server, both on loopback.
func sites(t *testing.T) (mcp, as *site) { return newSite(t), newSite(t) }

func TestDiscoveryInTheOrderOfTheSpecification(t *testing.T) {
	for name, test := range map[string]struct {
		challenged, at string // where the metadata of the server is; by a challenge or not
		tenant         string // path of the issuer
		serverAt       string
		mcpAsked       []string
		asAsked        []string
	}{
		"named in the challenge": { // auth/metadata-default
			challenged: pathResource, at: pathResource, serverAt: rootOAuth,
			mcpAsked: []string{pathResource}, asAsked: []string{rootOAuth},
		},
		"at the path, OpenID": { // auth/metadata-var1
			at: pathResource, serverAt: rootOpenID,
			mcpAsked: []string{pathResource}, asAsked: []string{rootOAuth, rootOpenID},
		},
		"at the root, issuer with a path": { // auth/metadata-var2
			at: rootResource, tenant: "/tenant1", serverAt: rootOAuth + "/tenant1",
			mcpAsked: []string{pathResource, rootResource}, asAsked: []string{rootOAuth + "/tenant1"},
		},
		"anywhere, OpenID appended": { // auth/metadata-var3, case 128
			challenged: "/custom/location.json", at: "/custom/location.json", tenant: "/tenant1",
			serverAt: "/tenant1" + rootOpenID,
			mcpAsked: []string{"/custom/location.json"},
			asAsked:  []string{rootOAuth + "/tenant1", rootOpenID + "/tenant1", "/tenant1" + rootOpenID},
		},
		"not where the challenge says": { // case 133
			challenged: "/custom/location.json", at: pathResource, serverAt: rootOAuth,
			mcpAsked: []string{"/custom/location.json", pathResource}, asAsked: []string{rootOAuth},
		},
		"the path once, the root after it": {
			challenged: pathResource, at: rootResource, serverAt: rootOAuth,
			mcpAsked: []string{pathResource, rootResource}, asAsked: []string{rootOAuth},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mcp, as := sites(t)
			issuer := as.URL + test.tenant
			mcp.document(test.at, object{"resource": mcp.URL + "/mcp", "authorization_servers": []string{issuer}})
			as.document(test.serverAt, documentOf(issuer))
			challenged := test.challenged
			if challenged != "" {
				challenged = mcp.URL + challenged
			}
			found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), challenged, "")
			require.NoError(t, err)
			assert.Equal(t, mcp.URL+"/mcp", found.resource)
			assert.Equal(t, issuer, found.server.issuer)
			assert.Equal(t, issuer+"/token", found.server.tokenEndpoint)
			assert.Equal(t, test.mcpAsked, mcp.asked())
			assert.Equal(t, test.asAsked, as.asked())
		})
	}
}

func TestChallengeWithOnlyThePathOfTheMetadata(t *testing.T) {
	mcp, as := sites(t)
	mcp.document("/meta", object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, documentOf(as.URL))
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "/meta", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"/meta"}, mcp.asked())
}

func TestChallengeThatLeadsNowhereIsNoEnd(t *testing.T) { // case 133
	mcp, as := sites(t)
	mcp.status("/broken", http.StatusInternalServerError)
	mcp.text("/page", "text/html", "<html>")
	mcp.document("/other", object{"resource": "https://other.example.com", "authorization_servers": []string{as.URL}})
	mcp.document(pathResource, object{"resource": mcp.URL + "/mcp", "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, documentOf(as.URL))
	for _, challenged := range []string{
		mcp.URL + "/missing", mcp.URL + "/broken", mcp.URL + "/page", mcp.URL + "/other",
		"http://internal.example.com/meta", "ftp://x", "http://[", "%zz",
	} {
		found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), challenged, "")
		if assert.NoError(t, err, challenged) {
			assert.Equal(t, as.URL, found.server.issuer)
		}
	}
}

func TestResourceIsExactlyWhatTheServerPublished(t *testing.T) {
	for name, test := range map[string]struct{ server, resource string }{
		"case 125: without the slash": {"/mcp/", "/mcp"},
		"case 125: the origin":        {"/mcp/", ""},
		"case 126: the origin":        {"/mcp", ""},
		"the origin with a slash":     {"/mcp", "/"},
		"with the slash":              {"/mcp", "/mcp/"},
	} {
		t.Run(name, func(t *testing.T) {
			mcp, as := sites(t)
			mcp.document(rootResource, object{
				"resource": mcp.URL + test.resource, "authorization_servers": []string{as.URL},
			})
			as.document(rootOAuth, documentOf(as.URL))
			found, err := discovererFor(t, mcp.URL+test.server).discover(t.Context(), "", "")
			require.NoError(t, err)
			assert.Equal(t, mcp.URL+test.resource, found.resource)
			assert.Equal(t, found.resource, found.resourceMetadata.resource)
		})
	}
}

func TestMetadataOfAnotherResourceIsRefused(t *testing.T) { // auth/resource-mismatch
	for _, other := range []string{"https://evil.example.com/mcp", "/mcp/below", "/mc", "%zz"} {
		mcp, as := sites(t)
		resource := other
		if strings.HasPrefix(other, "/") {
			resource = mcp.URL + other
		}
		mcp.document(pathResource, object{"resource": resource, "authorization_servers": []string{as.URL}})
		as.document(rootOAuth, documentOf(as.URL))
		_, err := discovererFor(t, mcp.URL+"/mcp?key=secret").discover(t.Context(), "", "")
		var mismatch *ResourceError
		require.ErrorAs(t, err, &mismatch)
		assert.Equal(t, ResourceError{Server: mcp.URL + "/mcp", Resource: resource}, *mismatch)
		assert.NotContains(t, err.Error(), "secret")
		assert.Empty(t, as.asked())
		mcp.unasked(t, rootOAuth, "/authorize", "/register")
	}
}

func TestMetadataWithoutAResource(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{"authorization_servers": []string{as.URL}, "scopes_supported": "a b"})
	as.document(rootOAuth, documentOf(as.URL))
	var log bytes.Buffer
	found, err := discovererFor(t, mcp.URL+"/mcp", logged(&log)).discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, mcp.URL+"/mcp", found.resource)
	assert.Equal(t, []string{"a", "b"}, found.resourceMetadata.scopes)
	assert.Contains(t, log.String(), "the metadata names no resource")
}

func TestNoMetadataBecauseOfAFailureIsNotAnOldServer(t *testing.T) {
	for _, code := range []int{
		http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTooManyRequests,
		http.StatusRequestTimeout, http.StatusTooEarly, http.StatusNoContent,
	} {
		mcp := newSite(t)
		mcp.status(rootResource, code)
		_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
		var failed *DiscoveryError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "protected resource metadata", failed.Document)
		assert.Equal(t, []DiscoveryAttempt{
			{mcp.URL + pathResource, statusError(http.StatusNotFound)},
			{mcp.URL + rootResource, statusError(code)},
		}, failed.Attempts)
		mcp.unasked(t, rootOAuth)
	}
}

func TestServerThatIsGone(t *testing.T) {
	mcp := newSite(t)
	mcp.Close()
	_, err := discovererFor(t, mcp.URL+"/mcp?key=secret").discover(t.Context(), "", "")
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	assert.ErrorContains(t, err, "no usable protected resource metadata: "+mcp.URL+pathResource+": dial tcp")
	assert.ErrorContains(t, err, "; "+mcp.URL+rootResource+": dial tcp")
	assert.NotContains(t, err.Error(), "secret")
}

func TestConfiguredResourceMetadata(t *testing.T) {
	mcp, as := sites(t)
	mcp.document("/meta", object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, documentOf(as.URL))
	d := discovererFor(t, mcp.URL+"/mcp", func(d *discoverer) { d.resourceMetadataURL = mcp.URL + "/meta" })
	_, err := d.discover(t.Context(), mcp.URL+"/challenged", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"/meta"}, mcp.asked())

	mcp.status("/meta", http.StatusNotFound)
	_, err = d.discover(t.Context(), "", "")
	assert.ErrorIs(t, err, statusError(http.StatusNotFound), "nothing else is tried")
	mcp.unasked(t, pathResource, rootResource, rootOAuth)
}

func TestRemoteServerNamesNothingInside(t *testing.T) {
	for name, test := range map[string]struct {
		challenge bool // it names the inside in the challenge, otherwise as an authorization server
		endpoint  bool // or in the metadata of one that is outside
	}{
		"in a challenge":                     {challenge: true},
		"as an authorization server":         {},
		"in an authorization server's pages": {endpoint: true},
	} {
		t.Run(name, func(t *testing.T) {
			inside, mcp := newSite(t), newTLSSite(t)
			base := "https://example.com:" + mcp.port()
			_, resolver := resolverOf(t, map[string][]string{"example.com": {"127.0.0.1"}})
			transport := mcp.Client().Transport.(*http.Transport).Clone()
			transport.DialContext = (&net.Dialer{Resolver: resolver}).DialContext
			u := parseURL(t, base+"/mcp")
			d := &discoverer{
				web:    newWeb(webOptions{server: u, client: &http.Client{Transport: transport}, resolver: resolver}),
				server: u,
				log:    slog.New(slog.DiscardHandler),
			}
			challenged, issuer := "", inside.URL
			if test.challenge {
				challenged = inside.URL + "/meta"
			} else if test.endpoint {
				issuer = base
			}
			mcp.document(pathResource, object{"resource": base, "authorization_servers": []string{issuer}})
			mcp.document(rootOAuth, object{"issuer": base, "token_endpoint": inside.URL + "/token"})
			_, err := d.discover(t.Context(), challenged, "")
			requireRefused(t, err, "its host is local, which the server is not")
			assert.Zero(t, inside.connections())
		})
	}
}

func TestDiscoveryTakesThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := parseURL(t, "https://mcp.example.com/mcp/")
		client := hanging()
		transport := client.Transport
		client.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.URL.Path != "/meta" {
				return transport.RoundTrip(req)
			}
			time.Sleep(5 * time.Second) // so that the end falls into a request
			return &http.Response{StatusCode: 404, Body: http.NoBody, Header: http.Header{}}, nil
		})
		d := &discoverer{
			web:    newWeb(webOptions{server: u, client: client, allowPrivate: true}),
			server: u,
			log:    slog.New(slog.DiscardHandler),
		}
		begun := time.Now()
		_, err := d.discover(t.Context(), "https://mcp.example.com/meta", "")
		assert.EqualError(t, err, "no metadata within 30s")
		assert.Equal(t, 30*time.Second, time.Since(begun))
	})
}

func TestCallerEndsDiscovery(t *testing.T) {
	mcp := newSite(t)
	errEnough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	mcp.page(pathResource, func(http.ResponseWriter, *http.Request) { cancel(errEnough) })
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(ctx, "", "")
	assert.Equal(t, errEnough, err)
	assert.Equal(t, []string{pathResource}, mcp.asked())
}

func TestWhatIsToleratedIsLogged(t *testing.T) {
	mcp, as := sites(t)
	mcp.text(pathResource, "", `{"resource": "`+mcp.URL+`", "authorization_servers": ["`+as.URL+`"], "scopes_supported": 7}`)
	as.document(rootOAuth, object{"issuer": as.URL + "/", "token_endpoint": as.URL, "scopes_supported": 8})
	var log bytes.Buffer
	_, err := discovererFor(t, mcp.URL+"/mcp?key=secret", logged(&log)).discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Contains(t, log.String(), `member="scopes_supported: 7"`)
	assert.Contains(t, log.String(), `member="scopes_supported: 8"`)
	assert.Contains(t, log.String(), "tolerated an issuer that differs in a slash")
	assert.NotContains(t, log.String(), "secret")
}
