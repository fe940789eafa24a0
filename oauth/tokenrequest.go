package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A tokenRequest is one question to a token endpoint (RFC 6749, section 3.2).
type tokenRequest struct {
	server *issuer
	client *Client
	params url.Values
	key    *dpopKey // nil: bearer tokens
}

// tokens are a token endpoint's answer.
type tokens struct {
	access   string
	kind     string // "Bearer" or "DPoP", or what another kind of token is called
	refresh  string
	lifetime time.Duration // 0: not said
	scopes   []string      // nil: not said
}

// requestTokens asks, and asks again if the answer is a nonce for the proof (RFC 9449, section 8).
func (a *Authorizer) requestTokens(ctx context.Context, r *tokenRequest) (*tokens, error) {
	t, err := a.tryTokens(ctx, r)
	var refused *Error
	if r.key != nil && errors.As(err, &refused) && refused.Code == errorUseNonce {
		t, err = a.tryTokens(ctx, r)
	}
	return t, err
}

func (a *Authorizer) tryTokens(ctx context.Context, r *tokenRequest) (*tokens, error) {
	target, err := checkURL("token endpoint", r.server.TokenEndpoint)
	if err != nil {
		return nil, err
	}
	form, header, err := r.authenticated()
	if err != nil {
		return nil, err
	}
	if r.key != nil {
		proof, err := r.key.proof(http.MethodPost, target, "", a.nonces.of(target))
		if err != nil {
			return nil, err
		}
		header.Set(headerProof, proof)
	}
	answer, err := a.web.postForm(ctx, target.String(), form, header)
	secrets := secretsOf(form, header, r.client)
	if err != nil {
		return nil, fmt.Errorf("token endpoint: %w", hide(err, secrets))
	}
	a.nonces.learn(target, answer.header)
	return parseTokens(answer.status, answer.body, secrets)
}

// authenticated adds to the parameters, or returns as headers, what shows who the client is.
func (r *tokenRequest) authenticated() (url.Values, http.Header, error) {
	form, header := make(url.Values, len(r.params)+3), make(http.Header)
	for name, values := range r.params {
		form[name] = values
	}
	switch method := r.authMethod(); method {
	case authBasic:
		// Encoded twice: RFC 6749, section 2.3.1.
		basic := http.Request{Header: header}
		basic.SetBasicAuth(url.QueryEscape(r.client.ID), url.QueryEscape(r.client.Secret))
	case authPost:
		form.Set("client_id", r.client.ID)
		form.Set("client_secret", r.client.Secret)
	case authPrivateKey:
		assertion, err := clientAssertion(r.client, r.server)
		if err != nil {
			return nil, nil, err
		}
		form.Set("client_assertion_type", assertionType)
		form.Set("client_assertion", assertion)
	default:
		if r.client.ID != "" {
			form.Set("client_id", r.client.ID)
		}
	}
	return form, header, nil
}

// authMethod is how the client authenticates: as it was told, else as well as it can and the server takes it. A server
// that does not say takes Basic (RFC 8414, section 2).
func (r *tokenRequest) authMethod() string {
	takes := func(method string) bool { return slices.Contains(r.server.AuthMethods, method) }
	switch c := r.client; {
	case c.AuthMethod != "":
		return c.AuthMethod
	case c.SigningKey != nil && (takes(authPrivateKey) || c.Secret == ""):
		return authPrivateKey
	case c.Secret == "":
		return authNone
	case takes(authBasic) || len(r.server.AuthMethods) == 0:
		return authBasic
	case takes(authPost):
		return authPost
	case takes(authNone):
		return authNone
	}
	return authBasic
}

// secretsOf are what must not come back in an error.
func secretsOf(form url.Values, header http.Header, client *Client) []string {
	secrets := []string{client.Secret, strings.TrimPrefix(header.Get("Authorization"), "Basic ")}
	for _, name := range []string{
		"code", "code_verifier", "refresh_token", "assertion", "subject_token", "client_assertion", "token",
	} {
		secrets = append(secrets, form.Get(name))
	}
	return secrets
}

// parseTokens reads an answer of a token endpoint as servers give them: with any status of success, and an error in one
// too; in the form encoding; with the lifetime as a text, and an empty scope or none.
func parseTokens(status int, body []byte, secrets []string) (*tokens, error) {
	fields := tokenFields(body)
	if code := fields.text("error"); code != "" || status < 200 || status > 299 {
		e := oauthError(fields, secrets)
		e.Status = status
		return nil, e
	}
	t := &tokens{
		access:  fields.text("access_token"),
		kind:    tokenKind(fields.text("token_type")),
		refresh: fields.text("refresh_token"),
		scopes:  splitScopes(fields.text("scope")),
	}
	t.kind = excerpt(t.kind, append(secrets, t.access, t.refresh)...)
	if t.access == "" {
		return nil, &Error{Status: status, Description: "there is no access token in the answer"}
	}
	if !isHeaderValue(t.access) {
		return nil, &Error{Status: status, Description: "the access token cannot be sent in a header"}
	}
	if seconds, err := strconv.ParseFloat(fields.text("expires_in"), 64); err == nil && seconds > 0 {
		t.lifetime = time.Duration(min(seconds, maxLifetime.Seconds()) * float64(time.Second))
	}
	return t, nil
}

// maxLifetime keeps a lifetime that is a made-up number from overflowing.
const maxLifetime = 100 * 365 * 24 * time.Hour

func tokenKind(kind string) string {
	switch {
	case kind == "", strings.EqualFold(kind, schemeBearer):
		return schemeBearer // what it must be when nothing is said: there is no other kind in OAuth 2.1
	case strings.EqualFold(kind, schemeDPoP):
		return schemeDPoP
	}
	return kind
}

// isHeaderValue reports whether a token has only the characters of RFC 6750, section 2.1, and their like: what is
// visible in ASCII.
func isHeaderValue(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// fields are an answer's members as they were sent.
type fields map[string]json.RawMessage

// tokenFields reads a JSON object or, as some servers answer, a form.
func tokenFields(body []byte) fields {
	var f fields
	if json.Unmarshal(body, &f) == nil {
		return f
	}
	form, err := url.ParseQuery(strings.TrimSpace(string(body)))
	if err != nil {
		return nil
	}
	f = make(fields, len(form))
	for name := range form {
		if text, err := json.Marshal(form.Get(name)); err == nil {
			f[name] = text
		}
	}
	return f
}

// text reads a member as a text, whether it is a text, a number, or, as scopes are here and there, a list of texts.
func (f fields) text(name string) string {
	var text string
	if raw := f[name]; json.Unmarshal(raw, &text) != nil {
		var number json.Number
		var list []string
		switch {
		case json.Unmarshal(raw, &number) == nil:
			return number.String()
		case json.Unmarshal(raw, &list) == nil:
			return strings.Join(list, " ")
		}
	}
	return text
}

// oauthError is an error answer (RFC 6749, section 5.2), as far as it is one.
func oauthError(f fields, secrets []string) *Error {
	return &Error{
		Code:        excerpt(f.text("error"), secrets...),
		Description: excerpt(f.text("error_description"), secrets...),
		URI:         excerpt(f.text("error_uri"), secrets...),
	}
}
