package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Registration describes the application where it registers itself (RFC 7591, section 2). All of it is optional; users
// see the name when they are asked for consent.
type Registration struct {
	ClientName      string   `json:"client_name,omitempty"`
	ClientURI       string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	TermsURI        string   `json:"tos_uri,omitempty"`
	Contacts        []string `json:"contacts,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

// registrationRequest is what is posted.
type registrationRequest struct {
	Registration
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	ApplicationType string   `json:"application_type"`
	Scope           string   `json:"scope,omitempty"`
}

// client returns the client to sign in with at an authorization server (MCP, "Client Registration"): one that was
// registered by hand, the metadata document where the server takes it, or one that is registered there and then.
func (a *Authorizer) client(ctx context.Context, d *discovery, redirectURL string, scopes []string) (*Client, error) {
	if a.config.Client != nil {
		return a.ownClient(ctx, d.server.issuer)
	}
	if a.config.ClientIDMetadataURL != "" && d.server.takesDocuments {
		return &Client{ID: a.config.ClientIDMetadataURL, AuthMethod: authNone}, nil
	}
	if d.server.registrationEndpoint == "" || a.config.NoRegistration {
		return nil, &RegistrationError{Issuer: d.server.issuer, Forbidden: a.config.NoRegistration}
	}
	var client *registered
	err := a.update(ctx, func(r *record) (changed bool, err error) {
		if client = r.Clients[d.server.issuer]; client.fits(redirectURL, scopes) {
			return false, nil
		}
		if client, err = a.register(ctx, d, redirectURL, scopes); err != nil {
			return false, err
		}
		if r.Clients == nil {
			r.Clients = make(map[string]*registered)
		}
		r.Clients[d.server.issuer] = client
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return client.client(), nil
}

// ownClient is Config.Client, if it belongs to the issuer ("Authorization Server Binding"). A client for which nobody
// said where it belongs, belongs to the first authorization server that it met.
func (a *Authorizer) ownClient(ctx context.Context, issuer string) (*Client, error) {
	c := a.config.Client
	bound := c.Issuer
	if bound == "" {
		err := a.update(ctx, func(r *record) (bool, error) {
			bound = r.BoundIssuer
			if bound != "" {
				return false, nil
			}
			bound, r.BoundIssuer = issuer, issuer
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !sameIssuer(bound, issuer) {
		return nil, fmt.Errorf("the client %q is registered elsewhere: %w", c.ID,
			&IssuerError{Expected: bound, Got: issuer})
	}
	return c, nil
}

// fits reports whether a client that was registered can be used once more. Not every server lets the port of a loopback
// address differ (RFC 8252, section 7.3), so that the redirect URL has to be one of its own; and a client may ask for
// no more scopes than it was registered with (RFC 7591, section 2).
func (r *registered) fits(redirectURL string, scopes []string) bool {
	return r != nil && slices.Contains(r.RedirectURLs, redirectURL) && includes(r.Scopes, scopes) &&
		(r.Expires.IsZero() || time.Until(r.Expires) > expirySkew)
}

func (r *registered) client() *Client {
	return &Client{ID: r.ID, Secret: r.Secret, AuthMethod: r.AuthMethod}
}

func (a *Authorizer) register(ctx context.Context, d *discovery, redirectURL string, scopes []string) (*registered,
	error) {
	request := registrationRequest{
		Registration:    a.config.Registration,
		RedirectURIs:    []string{redirectURL},
		GrantTypes:      []string{"authorization_code", "refresh_token"},
		ResponseTypes:   []string{"code"},
		AuthMethod:      registeredMethod(d.server.authMethods),
		ApplicationType: applicationType(redirectURL),
		Scope:           joinScopes(scopes),
	}
	answer, err := a.web.postJSON(ctx, d.server.registrationEndpoint, request, nil)
	if err != nil {
		return nil, fmt.Errorf("registration endpoint: %w", err)
	}
	client, err := parseRegistration(d.server.issuer, answer.status, answer.body)
	if err != nil {
		return nil, err
	}
	client.Scopes = scopes
	if client.RedirectURLs = request.RedirectURIs; client.AuthMethod == "" && client.Secret == "" {
		client.AuthMethod = authNone
	}
	return client, nil
}

// registeredMethod asks for a public client where there may be one: PKCE protects it, and it has nothing to keep.
func registeredMethod(supported []string) string {
	for _, method := range []string{authNone, authBasic, authPost} {
		if slices.Contains(supported, method) {
			return method
		}
	}
	return authNone
}

// applicationType is what OpenID Connect servers judge redirect URLs by ("Application Type and Redirect URI
// Constraints"): a program on the user's machine, or a website.
func applicationType(redirectURL string) string {
	u, err := url.Parse(redirectURL)
	if err == nil && u.Scheme == "https" && !isLoopback(u.Hostname()) {
		return "web"
	}
	return "native"
}

// parseRegistration reads the answer (RFC 7591, section 3.2), which some servers give with 200.
func parseRegistration(issuer string, status int, body []byte) (*registered, error) {
	var f fields
	_ = json.Unmarshal(body, &f) // what is no object leaves it nil
	client := &registered{
		ID:         f.text("client_id"),
		Secret:     f.text("client_secret"),
		AuthMethod: f.text("token_endpoint_auth_method"),
	}
	if status < 200 || status > 299 || client.ID == "" {
		e := &RegistrationError{Issuer: issuer, Status: status, Code: excerpt(f.text("error"))}
		if e.Excerpt = excerpt(f.text("error_description")); f == nil && status > 299 && !isMarkup(body) {
			e.Excerpt = excerpt(string(body))
		}
		if e.Excerpt == "" && client.ID == "" && status < 300 {
			e.Excerpt = "there is no client id in the answer"
		}
		return nil, e
	}
	if !slices.Contains([]string{"", authNone, authBasic, authPost}, client.AuthMethod) {
		return nil, &RegistrationError{Issuer: issuer, Status: status,
			Excerpt: "the client is to authenticate by " + excerpt(client.AuthMethod)}
	}
	if client.Secret == "" {
		client.AuthMethod = authNone // whatever else was said: there is nothing to authenticate with
	}
	seconds, err := strconv.ParseInt(f.text("client_secret_expires_at"), 10, 64)
	if err == nil && seconds > 0 && seconds < endOfTime {
		client.Expires = time.Unix(seconds, 0)
	}
	return client, nil
}

// endOfTime is the year 10,000, of which no JSON can tell (RFC 3339). It is beyond that for who counts milliseconds.
const endOfTime = 253402300800

func isMarkup(body []byte) bool { return strings.HasPrefix(strings.TrimSpace(string(body)), "<") }

// forget drops a registration that the authorization server no longer knows, as happens to one that keeps its clients
// in memory. The next sign-in registers anew.
func (a *Authorizer) forget(ctx context.Context, issuer string, client *Client, err error) {
	var e *Error
	if a.config.Client != nil || !errors.As(err, &e) || e.Code != "invalid_client" && e.Code != "unauthorized_client" {
		return
	}
	failed := a.update(ctx, func(r *record) (bool, error) {
		if known := r.Clients[issuer]; known == nil || known.ID != client.ID {
			return false, nil
		}
		delete(r.Clients, issuer)
		return true, nil
	})
	if failed != nil {
		a.log.WarnContext(ctx, "oauth: a client that is no longer registered cannot be forgotten", "error", failed)
	}
}
