package oauth

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResourceMetadataKeepsEverything(t *testing.T) {
	const document = `{
		"resource": "https://h/mcp", "authorization_servers": ["https://a", "https://b/"],
		"scopes_supported": ["a", "b"], "bearer_methods_supported": ["header"], "resource_name": "N",
		"resource_documentation": "https://h/docs", "dpop_signing_alg_values_supported": ["ES256"],
		"dpop_bound_access_tokens_required": true, "x": {"y": 1}}`
	var m ResourceMetadata
	require.NoError(t, json.Unmarshal([]byte(document), &m))
	assert.Equal(t, ResourceMetadata{
		Resource:                      "https://h/mcp",
		AuthorizationServers:          []string{"https://a", "https://b/"},
		ScopesSupported:               []string{"a", "b"},
		BearerMethodsSupported:        []string{"header"},
		ResourceName:                  "N",
		ResourceDocumentation:         "https://h/docs",
		DPoPSigningAlgValuesSupported: []string{"ES256"},
		DPoPBoundAccessTokensRequired: true,
		Raw:                           json.RawMessage(document),
	}, m)
}

func TestServerMetadataKeepsEverything(t *testing.T) {
	const document = `{
		"issuer": "https://a", "authorization_endpoint": "https://a/1", "token_endpoint": "https://a/2",
		"registration_endpoint": "https://a/3", "revocation_endpoint": "https://a/4",
		"scopes_supported": ["s"], "response_types_supported": ["code"], "grant_types_supported": ["g"],
		"code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
		"token_endpoint_auth_signing_alg_values_supported": ["ES256"], "dpop_signing_alg_values_supported": ["PS256"],
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true}`
	var m ServerMetadata
	require.NoError(t, json.Unmarshal([]byte(document), &m))
	assert.Equal(t, ServerMetadata{
		Issuer:                                     "https://a",
		AuthorizationEndpoint:                      "https://a/1",
		TokenEndpoint:                              "https://a/2",
		RegistrationEndpoint:                       "https://a/3",
		RevocationEndpoint:                         "https://a/4",
		ScopesSupported:                            []string{"s"},
		ResponseTypesSupported:                     []string{"code"},
		GrantTypesSupported:                        []string{"g"},
		CodeChallengeMethodsSupported:              []string{"S256"},
		TokenEndpointAuthMethodsSupported:          []string{"none"},
		TokenEndpointAuthSigningAlgValuesSupported: []string{"ES256"},
		DPoPSigningAlgValuesSupported:              []string{"PS256"},
		AuthorizationResponseIssParameterSupported: true,
		ClientIDMetadataDocumentSupported:          true,
		Raw:                                        json.RawMessage(document),
	}, m)
}

func TestMetadataIsReadLeniently(t *testing.T) { // case 135
	var m ServerMetadata
	ignored, err := m.read([]byte(` {
		"issuer": "https://a", "ISSUER": "https://other", "registration_endpoint": "", "revocation_endpoint": null,
		"token_endpoint": 7, "authorization_endpoint": ["https://a"],
		"response_types_supported": ["code", "a type from the future"], "scopes_supported": null,
		"grant_types_supported": ["a", 1, null, "", "b", {}], "code_challenge_methods_supported": "plain S256",
		"token_endpoint_auth_methods_supported": {}, "dpop_signing_alg_values_supported": [],
		"client_id_metadata_document_supported": "true", "authorization_response_iss_parameter_supported": "no"}`))
	require.NoError(t, err)
	m.Raw = nil
	assert.Equal(t, ServerMetadata{
		Issuer:                            "https://a",
		ResponseTypesSupported:            []string{"code", "a type from the future"},
		GrantTypesSupported:               []string{"a", "b"},
		CodeChallengeMethodsSupported:     []string{"plain", "S256"},
		DPoPSigningAlgValuesSupported:     []string{},
		ClientIDMetadataDocumentSupported: true,
	}, m)
	assert.ElementsMatch(t, []string{
		`token_endpoint: 7`,
		`authorization_endpoint: ["https://a"]`,
		`grant_types_supported: ["a", 1, null, "", "b", {}]`,
		`token_endpoint_auth_methods_supported: {}`,
		`authorization_response_iss_parameter_supported: "no"`,
	}, ignored)
}

func TestMetadataIsAnObject(t *testing.T) {
	for _, document := range []string{"", "null", "[]", `"x"`, "7", "<html>", `{"issuer": "https://a"`, "{} {}"} {
		var server ServerMetadata
		_, err := server.read([]byte(document))
		assert.ErrorIs(t, err, errNoDocument, document)
		var resource ResourceMetadata
		_, err = resource.read([]byte(document))
		assert.ErrorIs(t, err, errNoDocument, document)
	}
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"issuer": "https://a", "scopes_supported": ["a", "b"], "client_id_metadata_document_supported": true}`))
	f.Add([]byte(`{"resource": "https://h", "authorization_servers": ["https://a", 1], "scopes_supported": "a b"}`))
	f.Add([]byte(`{"issuer": null, "grant_types_supported": [[]], "issuer": ""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var server, serverAgain ServerMetadata
		var resource, resourceAgain ResourceMetadata
		_, errServer := server.read(data)
		_, errResource := resource.read(data)
		require.Equal(t, errServer, errResource)
		var object map[string]json.RawMessage
		require.Equal(t, json.Unmarshal(data, &object) == nil && object != nil, errServer == nil)
		if errServer != nil {
			return
		}
		// What was understood is written as the schema has it, and then nothing of it is ignored.
		again(t, &server, &serverAgain, serverAgain.read)
		server.Raw, serverAgain.Raw = nil, nil
		require.Equal(t, server, serverAgain)
		again(t, &resource, &resourceAgain, resourceAgain.read)
		resource.Raw, resourceAgain.Raw = nil, nil
		require.Equal(t, resource, resourceAgain)
	})
}

func again[T any](t *testing.T, found, _ *T, read func([]byte) ([]string, error)) {
	text, err := json.Marshal(found)
	require.NoError(t, err)
	ignored, err := read(text)
	require.NoError(t, err)
	require.Empty(t, ignored)
}
