package oauth

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIssuerMismatchIsRefused(t *testing.T) { // auth/metadata-issuer-mismatch
	for _, got := range []string{"https://attacker.example.com", "", "/tenant", "//"} {
		mcp, as := sites(t)
		issuer := got
		if len(got) > 0 && got[0] == '/' {
			issuer = as.URL + got
		}
		mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
		as.document(rootOAuth, object{"issuer": issuer, "token_endpoint": as.URL + "/token"})
		_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
		var mismatch *IssuerError
		require.ErrorAs(t, err, &mismatch)
		assert.Equal(t, IssuerError{Expected: as.URL, Got: issuer}, *mismatch)
		assert.Equal(t, []string{rootOAuth, rootOpenID}, as.asked())
		mcp.unasked(t, rootOAuth)
	}
}

func TestTheOtherDocumentMayHaveTheRightIssuer(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, documentOf("https://other.example.com"))
	as.document(rootOpenID, documentOf(as.URL))
	found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, as.URL, found.server.issuer)
}

func TestIssuerWithASlashMoreOrLess(t *testing.T) { // case 131
	for _, test := range []struct{ listed, recorded string }{{"/", ""}, {"", "/"}, {"/t1/", "/t1"}, {"/t1", "/t1/"}} {
		mcp, as := sites(t)
		mcp.document(pathResource, object{
			"resource": mcp.URL, "authorization_servers": []string{as.URL + test.listed},
		})
		as.document(rootOAuth, documentOf(as.URL+test.recorded))
		as.document(rootOAuth+"/t1", documentOf(as.URL+test.recorded))
		found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
		require.NoError(t, err)
		assert.Equal(t, as.URL+test.recorded, found.server.issuer, "the document's is compared with a callback's")
	}
}

func TestEndpointsAreVetted(t *testing.T) {
	for name, test := range map[string]struct{ member, value, reason string }{
		"token over plain HTTP": {"token_endpoint", "http://a.example.com/token", "it is not https"},
		"a script":              {"authorization_endpoint", "javascript:alert(1)", "it is not an https URL"},
		"a file":                {"authorization_endpoint", "file:///bin/sh", "it is not an https URL"},
		"a relative one":        {"authorization_endpoint", "/authorize", "it is not an https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			mcp, as := sites(t)
			mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
			document := documentOf(as.URL)
			document[test.member] = test.value
			as.document(rootOAuth, document)
			_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
			requireRefused(t, err, test.reason)
		})
	}
}

func TestMetadataWithoutATokenEndpoint(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, object{"issuer": as.URL, "authorization_endpoint": as.URL, "token_endpoint": ""})
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
	assert.ErrorIs(t, err, errNoTokenEndpoint)
}

func TestMetadataWithoutAnAuthorizationEndpoint(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document(rootOAuth, object{"issuer": as.URL, "token_endpoint": as.URL})
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
	assert.NoError(t, err, "client credentials need none")
}

func TestSeveralAuthorizationServers(t *testing.T) {
	for name, test := range map[string]struct {
		prefer string
		status int // of the first one's metadata; 0: it is there
		want   string
	}{
		"the first":                      {want: "/a"},
		"the preferred one":              {prefer: "/b", want: "/b"},
		"the preferred one, with slash":  {prefer: "/b/", want: "/b"},
		"the preferred one is not there": {prefer: "/x", want: "/a"},
		"the first is not there":         {status: http.StatusNotFound, want: "/b"},
		"the first is in trouble":        {status: http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			mcp, as := sites(t)
			mcp.document(pathResource, object{
				"resource": mcp.URL, "authorization_servers": []string{as.URL + "/a", as.URL + "/b"},
			})
			for _, tenant := range []string{"/a", "/b"} {
				as.document(rootOAuth+tenant, documentOf(as.URL+tenant))
			}
			if test.status != 0 {
				as.status(rootOAuth+"/a", test.status)
			}
			found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", as.URL+test.prefer)
			if test.want == "" {
				require.ErrorIs(t, err, statusError(test.status))
				as.unasked(t, rootOAuth+"/b")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, as.URL+test.want, found.server.issuer)
		})
	}
}

func TestNotAllOfManyAuthorizationServersAreTried(t *testing.T) {
	mcp, as := sites(t)
	issuers := []string{as.URL + "?q=1", as.URL + "#f", "urn:x"}
	for i := len(issuers); i < maxIssuers+1; i++ {
		issuers = append(issuers, fmt.Sprintf("%s/%d", as.URL, i))
	}
	mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": issuers})
	as.document(rootOAuth, documentOf(as.URL))
	as.document(fmt.Sprintf("%s/%d", rootOAuth, maxIssuers), documentOf(issuers[maxIssuers]))
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
	var failed *DiscoveryError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "authorization server metadata", failed.Document)
	assert.Len(t, failed.Attempts, 3+3*(maxIssuers-3), "what is no issuer is refused, and the others have three URLs")
	requireRefused(t, failed.Attempts[0].Err, "an issuer has no query")
	requireRefused(t, failed.Attempts[1].Err, "an issuer has no query and no fragment")
}

func TestServerOf20250326(t *testing.T) { // case 130
	mcp := newSite(t)
	d := discovererFor(t, mcp.URL+"/v1/mcp")
	found, err := d.discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, &discovery{
		resource: mcp.URL + "/v1/mcp",
		server: &serverMetadata{
			issuer:                mcp.URL,
			authorizationEndpoint: mcp.URL + "/authorize",
			tokenEndpoint:         mcp.URL + "/token",
			registrationEndpoint:  mcp.URL + "/register",
			challengeMethods:      []string{"S256"},
		},
	}, found)
	assert.Equal(t, []string{rootResource + "/v1/mcp", rootResource, rootOAuth, rootOpenID}, mcp.asked())
	request, _ := mcp.request(2)
	assert.Equal(t, "2025-03-26", request.Header.Get("MCP-Protocol-Version"))

	mcp.document(rootOAuth, documentOf(mcp.URL))
	found, err = d.discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Empty(t, found.server.registrationEndpoint, "that is the metadata's, not a default")
	assert.Nil(t, found.resourceMetadata)
}

func TestSiteThatHasAPageForEveryPathIsAServerOf20250326(t *testing.T) {
	mcp := newSite(t)
	mcp.text(pathResource, "text/html", "<!doctype html>")
	mcp.document(rootResource, object{"error": "not found"})
	mcp.status(rootOAuth, http.StatusUnauthorized)
	mcp.document(rootOpenID, object{"error": "not found"})
	found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, mcp.URL+"/token", found.server.tokenEndpoint)
}

func TestDefaultEndpointsOnlyWhereThereIsNoMetadata(t *testing.T) {
	mcp := newSite(t)
	d := discovererFor(t, mcp.URL+"/mcp")
	mcp.status(rootOAuth, http.StatusServiceUnavailable)
	_, err := d.discover(t.Context(), "", "")
	require.ErrorIs(t, err, statusError(http.StatusServiceUnavailable))

	mcp.document(rootOAuth, documentOf("https://attacker.example.com"))
	_, err = d.discover(t.Context(), "", "")
	var mismatch *IssuerError
	require.ErrorAs(t, err, &mismatch)
}

func TestServerThatNamesNoAuthorizationServerIsOne(t *testing.T) {
	mcp := newSite(t)
	mcp.document(pathResource, object{"resource": mcp.URL + "/mcp", "authorization_servers": nil})
	d := discovererFor(t, mcp.URL+"/mcp")
	_, err := d.discover(t.Context(), "", "")
	require.ErrorIs(t, err, statusError(http.StatusNotFound), "it is not of 2025-03-26, so nothing has a default")

	mcp.document(rootOAuth, documentOf(mcp.URL))
	found, err := d.discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, mcp.URL, found.server.issuer)
}

func TestConfiguredServerMetadata(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{"resource": mcp.URL, "authorization_servers": []string{as.URL}})
	as.document("/config", documentOf("https://issuer.example.com"))
	d := discovererFor(t, mcp.URL+"/mcp", func(d *discoverer) { d.serverMetadataURL = as.URL + "/config" })
	found, err := d.discover(t.Context(), "", "")
	require.NoError(t, err)
	assert.Equal(t, "https://issuer.example.com", found.server.issuer)
	assert.Equal(t, mcp.URL, found.resource, "the server is still asked what it is")

	as.document("/config", object{"token_endpoint": as.URL})
	_, err = d.discover(t.Context(), "", "")
	require.EqualError(t, err, "no usable authorization server metadata: "+as.URL+"/config: no issuer is given")
	as.unasked(t, rootOAuth)
}

func TestErrorsOfIssuersSayBoth(t *testing.T) {
	assert.EqualError(t, &IssuerError{Expected: "https://a", Got: "https://b"},
		`the issuer is "https://b", expected "https://a"`)
	assert.EqualError(t, &IssuerError{Expected: "https://a"}, `no issuer is given, expected "https://a"`)
}

func TestNextAuthorizationServerWhereTheFirstIsOfNoUse(t *testing.T) {
	for name, first := range map[string]object{
		"another issuer":    {"issuer": "https://other.example.com", "token_endpoint": "https://other.example.com"},
		"no token endpoint": {"issuer": "/a"},
		"a refused URL":     {"issuer": "/a", "token_endpoint": "http://192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			mcp, as := sites(t)
			if first["issuer"] == "/a" {
				first["issuer"] = as.URL + "/a"
			}
			mcp.document(pathResource, object{
				"resource": mcp.URL, "authorization_servers": []string{as.URL + "/a", as.URL + "/b"},
			})
			as.document(rootOAuth+"/a", first)
			as.document(rootOAuth+"/b", documentOf(as.URL+"/b"))
			found, err := discovererFor(t, mcp.URL+"/mcp").discover(t.Context(), "", "")
			require.NoError(t, err)
			assert.Equal(t, as.URL+"/b", found.server.issuer)
		})
	}
}

func TestCallerEndsDiscoveryOfTheAuthorizationServer(t *testing.T) {
	mcp, as := sites(t)
	mcp.document(pathResource, object{
		"resource": mcp.URL, "authorization_servers": []string{as.URL + "/a", as.URL + "/b"},
	})
	ctx, cancel := context.WithCancel(t.Context())
	as.page(rootOAuth+"/a", func(http.ResponseWriter, *http.Request) { cancel() })
	_, err := discovererFor(t, mcp.URL+"/mcp").discover(ctx, "", "")
	assert.Equal(t, context.Canceled, err)
	assert.Equal(t, []string{rootOAuth + "/a"}, as.asked())
}
