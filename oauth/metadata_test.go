package oauth

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResourceMetadata(t *testing.T) {
	var m resourceMetadata
	ignored, err := m.read([]byte(`{
		"resource": "https://h/mcp", "authorization_servers": ["https://a", "https://b/"],
		"scopes_supported": ["a", "b"], "dpop_bound_access_tokens_required": true, "x": {"y": 1}}`))
	require.NoError(t, err)
	assert.Empty(t, ignored)
	assert.Equal(t, resourceMetadata{
		resource:             "https://h/mcp",
		authorizationServers: []string{"https://a", "https://b/"},
		scopes:               []string{"a", "b"},
		wantsDPoP:            true,
	}, m)
}

func TestServerMetadata(t *testing.T) {
	var m serverMetadata
	ignored, err := m.read([]byte(`{
		"issuer": "https://a", "authorization_endpoint": "https://a/1", "token_endpoint": "https://a/2",
		"registration_endpoint": "https://a/3", "revocation_endpoint": "https://a/4", "scopes_supported": ["s"],
		"code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
		"token_endpoint_auth_signing_alg_values_supported": ["ES256"], "dpop_signing_alg_values_supported": ["PS256"],
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true}`))
	require.NoError(t, err)
	assert.Empty(t, ignored)
	assert.Equal(t, serverMetadata{
		issuer:                "https://a",
		authorizationEndpoint: "https://a/1",
		tokenEndpoint:         "https://a/2",
		registrationEndpoint:  "https://a/3",
		revocationEndpoint:    "https://a/4",
		scopes:                []string{"s"},
		challengeMethods:      []string{"S256"},
		authMethods:           []string{"none"},
		signingAlgs:           []string{"ES256"},
		dpopAlgs:              []string{"PS256"},
		namesItself:           true,
		takesDocuments:        true,
	}, m)
}

func TestMetadataIsReadLeniently(t *testing.T) { // case 135
	var m serverMetadata
	ignored, err := m.read([]byte(` {
		"issuer": "https://a", "ISSUER": "https://other", "registration_endpoint": "", "revocation_endpoint": null,
		"token_endpoint": 7, "authorization_endpoint": ["https://a"], "scopes_supported": null,
		"token_endpoint_auth_methods_supported": ["a method from the future", 1, null, "", "none", {}],
		"code_challenge_methods_supported": "plain S256", "token_endpoint_auth_signing_alg_values_supported": {},
		"dpop_signing_alg_values_supported": [],
		"client_id_metadata_document_supported": "true", "authorization_response_iss_parameter_supported": "no"}`))
	require.NoError(t, err)
	assert.Equal(t, serverMetadata{
		issuer:           "https://a",
		authMethods:      []string{"a method from the future", "none"},
		challengeMethods: []string{"plain", "S256"},
		dpopAlgs:         []string{},
		takesDocuments:   true,
	}, m)
	assert.ElementsMatch(t, []string{
		`token_endpoint: 7`,
		`authorization_endpoint: ["https://a"]`,
		`token_endpoint_auth_methods_supported: ["a method from the future", 1, null, ""`,
		`token_endpoint_auth_signing_alg_values_supported: {}`,
		`authorization_response_iss_parameter_supported: "no"`,
	}, ignored)
}

func TestMetadataIsAnObject(t *testing.T) {
	for _, document := range []string{"", "null", "[]", `"x"`, "7", "<html>", `{"issuer": "https://a"`, "{} {}"} {
		var server serverMetadata
		_, err := server.read([]byte(document))
		assert.ErrorIs(t, err, errNoDocument, document)
		var resource resourceMetadata
		_, err = resource.read([]byte(document))
		assert.ErrorIs(t, err, errNoDocument, document)
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"issuer": "https://a", "scopes_supported": ["a", "b"], "client_id_metadata_document_supported": true}`))
	f.Add([]byte(`{"resource": "https://h", "authorization_servers": ["https://a", 1], "scopes_supported": "a b"}`))
	f.Add([]byte(`{"issuer": null, "grant_types_supported": [[]], "issuer": ""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var server serverMetadata
		var resource resourceMetadata
		_, errServer := server.read(data)
		_, errResource := resource.read(data)
		require.Equal(t, errServer, errResource)
		var object map[string]json.RawMessage
		require.Equal(t, json.Unmarshal(data, &object) == nil && object != nil, errServer == nil)
		for _, list := range [][]string{
			server.scopes, server.challengeMethods, server.authMethods, server.signingAlgs, server.dpopAlgs,
			resource.authorizationServers, resource.scopes,
		} {
			require.False(t, slices.Contains(list, ""))
		}
	})
}
