package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ResourceMetadata is what an MCP server says about its authorization (RFC 9728, section 2). A member that is absent,
// null, of the wrong type or an empty string has its zero value; what is in lists is not restricted to what is known.
type ResourceMetadata struct {
	Resource                      string   `json:"resource"`
	AuthorizationServers          []string `json:"authorization_servers,omitzero"`
	ScopesSupported               []string `json:"scopes_supported,omitzero"`
	BearerMethodsSupported        []string `json:"bearer_methods_supported,omitzero"`
	ResourceName                  string   `json:"resource_name,omitempty"`
	ResourceDocumentation         string   `json:"resource_documentation,omitempty"`
	DPoPSigningAlgValuesSupported []string `json:"dpop_signing_alg_values_supported,omitzero"`
	DPoPBoundAccessTokensRequired bool     `json:"dpop_bound_access_tokens_required,omitempty"`

	Raw json.RawMessage `json:"-"` // the document
}

// ServerMetadata is what an authorization server says about itself (RFC 8414, section 2; OpenID Connect Discovery 1.0,
// section 3). It is read as [ResourceMetadata] is. URLs are as they were sent: only those of endpoints that were
// checked, by discovery, are fit for use.
type ServerMetadata struct {
	Issuer                                     string   `json:"issuer"`
	AuthorizationEndpoint                      string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint                              string   `json:"token_endpoint,omitempty"`
	RegistrationEndpoint                       string   `json:"registration_endpoint,omitempty"`
	RevocationEndpoint                         string   `json:"revocation_endpoint,omitempty"`
	ScopesSupported                            []string `json:"scopes_supported,omitzero"`
	ResponseTypesSupported                     []string `json:"response_types_supported,omitzero"`
	GrantTypesSupported                        []string `json:"grant_types_supported,omitzero"`
	CodeChallengeMethodsSupported              []string `json:"code_challenge_methods_supported,omitzero"`
	TokenEndpointAuthMethodsSupported          []string `json:"token_endpoint_auth_methods_supported,omitzero"`
	TokenEndpointAuthSigningAlgValuesSupported []string `json:"token_endpoint_auth_signing_alg_values_supported,omitzero"`
	DPoPSigningAlgValuesSupported              []string `json:"dpop_signing_alg_values_supported,omitzero"`
	// AuthorizationResponseIssParameterSupported says that each authorization response has an iss (RFC 9207).
	AuthorizationResponseIssParameterSupported bool `json:"authorization_response_iss_parameter_supported,omitempty"`
	// ClientIDMetadataDocumentSupported says that a client id may be the URL of a metadata document.
	ClientIDMetadataDocumentSupported bool `json:"client_id_metadata_document_supported,omitempty"`

	Raw json.RawMessage `json:"-"` // the document; nil for the default endpoints of 2025-03-26
}

// UnmarshalJSON reads a document. Only one that is no JSON object is an error.
func (m *ResourceMetadata) UnmarshalJSON(data []byte) error {
	_, err := m.read(data)
	return err
}

// UnmarshalJSON reads a document. Only one that is no JSON object is an error.
func (m *ServerMetadata) UnmarshalJSON(data []byte) error {
	_, err := m.read(data)
	return err
}

// read returns the names of the members that it could not use.
func (m *ResourceMetadata) read(data []byte) (ignored []string, err error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	*m = ResourceMetadata{
		Resource:                      d.text("resource"),
		AuthorizationServers:          d.list("authorization_servers"),
		ScopesSupported:               d.list("scopes_supported"),
		BearerMethodsSupported:        d.list("bearer_methods_supported"),
		ResourceName:                  d.text("resource_name"),
		ResourceDocumentation:         d.text("resource_documentation"),
		DPoPSigningAlgValuesSupported: d.list("dpop_signing_alg_values_supported"),
		DPoPBoundAccessTokensRequired: d.flag("dpop_bound_access_tokens_required"),
		Raw:                           d.raw,
	}
	return d.ignored, nil
}

// read returns the names of the members that it could not use.
func (m *ServerMetadata) read(data []byte) (ignored []string, err error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	*m = ServerMetadata{
		Issuer:                                     d.text("issuer"),
		AuthorizationEndpoint:                      d.text("authorization_endpoint"),
		TokenEndpoint:                              d.text("token_endpoint"),
		RegistrationEndpoint:                       d.text("registration_endpoint"),
		RevocationEndpoint:                         d.text("revocation_endpoint"),
		ScopesSupported:                            d.list("scopes_supported"),
		ResponseTypesSupported:                     d.list("response_types_supported"),
		GrantTypesSupported:                        d.list("grant_types_supported"),
		CodeChallengeMethodsSupported:              d.list("code_challenge_methods_supported"),
		TokenEndpointAuthMethodsSupported:          d.list("token_endpoint_auth_methods_supported"),
		TokenEndpointAuthSigningAlgValuesSupported: d.list("token_endpoint_auth_signing_alg_values_supported"),
		DPoPSigningAlgValuesSupported:              d.list("dpop_signing_alg_values_supported"),
		AuthorizationResponseIssParameterSupported: d.flag("authorization_response_iss_parameter_supported"),
		ClientIDMetadataDocumentSupported:          d.flag("client_id_metadata_document_supported"),
		Raw:                                        d.raw,
	}
	return d.ignored, nil
}

// document reads the members of a JSON object, each as what it should be or not at all.
type document struct {
	raw     json.RawMessage
	members map[string]json.RawMessage
	ignored []string
}

var errNoDocument = errors.New("the response is no metadata document")

func readDocument(data []byte) (*document, error) {
	d := &document{raw: append(json.RawMessage(nil), data...)}
	if json.Unmarshal(data, &d.members) != nil || d.members == nil {
		return nil, errNoDocument
	}
	return d, nil
}

func (d *document) ignore(name string) {
	d.ignored = append(d.ignored, fmt.Sprintf("%s: %.40s", name, d.members[name]))
}

// member decodes into v, and reports whether there was something that fits.
func (d *document) member(name string, v any) bool {
	raw, ok := d.members[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if json.Unmarshal(raw, v) == nil {
		return true
	}
	d.ignore(name)
	return false
}

func (d *document) text(name string) string {
	var s string
	d.member(name, &s)
	return s
}

// flag takes a string for the boolean that it spells.
func (d *document) flag(name string) bool {
	var b bool
	if string(d.members[name]) == `"true"` {
		return true
	}
	d.member(name, &b)
	return b
}

// list keeps the strings that have something in them, and takes a string for the list of its words.
func (d *document) list(name string) []string {
	if raw := d.members[name]; len(raw) > 0 && raw[0] == '"' {
		return strings.Fields(d.text(name))
	}
	var elements []any
	if !d.member(name, &elements) {
		return nil
	}
	list := make([]string, 0, len(elements))
	for _, e := range elements {
		if s, ok := e.(string); ok && s != "" {
			list = append(list, s)
		}
	}
	if len(list) < len(elements) {
		d.ignore(name)
	}
	return list
}
