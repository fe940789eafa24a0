package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// resourceMetadata is what an MCP server says about its authorization (RFC 9728, section 2), as far as it is used here.
// A member that is absent, null, of the wrong type or an empty string has its zero value; what is in lists is not
// restricted to what is known.
type resourceMetadata struct {
	resource             string
	authorizationServers []string
	scopes               []string
	wantsDPoP            bool
}

// serverMetadata is what an authorization server says about itself (RFC 8414, section 2; OpenID Connect Discovery 1.0,
// section 3). It is read as resourceMetadata is. URLs are as they were sent: discovery checks those that every sign-in
// needs, and web all of them when they are used.
type serverMetadata struct {
	issuer                string
	authorizationEndpoint string
	tokenEndpoint         string
	registrationEndpoint  string
	revocationEndpoint    string
	scopes                []string
	challengeMethods      []string // of PKCE
	authMethods           []string // of the token endpoint
	signingAlgs           []string // of assertions there
	dpopAlgs              []string
	namesItself           bool // in each authorization response (RFC 9207)
	takesDocuments        bool // a client id may be the URL of a metadata document
}

// read returns the names of the members that it could not use.
func (m *resourceMetadata) read(data []byte) (ignored []string, err error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	*m = resourceMetadata{
		resource:             d.text("resource"),
		authorizationServers: d.list("authorization_servers"),
		scopes:               d.list("scopes_supported"),
		wantsDPoP:            d.flag("dpop_bound_access_tokens_required"),
	}
	return d.ignored, nil
}

// read returns the names of the members that it could not use.
func (m *serverMetadata) read(data []byte) (ignored []string, err error) {
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	*m = serverMetadata{
		issuer:                d.text("issuer"),
		authorizationEndpoint: d.text("authorization_endpoint"),
		tokenEndpoint:         d.text("token_endpoint"),
		registrationEndpoint:  d.text("registration_endpoint"),
		revocationEndpoint:    d.text("revocation_endpoint"),
		scopes:                d.list("scopes_supported"),
		challengeMethods:      d.list("code_challenge_methods_supported"),
		authMethods:           d.list("token_endpoint_auth_methods_supported"),
		signingAlgs:           d.list("token_endpoint_auth_signing_alg_values_supported"),
		dpopAlgs:              d.list("dpop_signing_alg_values_supported"),
		namesItself:           d.flag("authorization_response_iss_parameter_supported"),
		takesDocuments:        d.flag("client_id_metadata_document_supported"),
	}
	return d.ignored, nil
}

// document reads the members of a JSON object, each as what it should be or not at all.
type document struct {
	members map[string]json.RawMessage
	ignored []string
}

var errNoDocument = errors.New("the response is no metadata document")

func readDocument(data []byte) (*document, error) {
	d := new(document)
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
