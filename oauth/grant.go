package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const (
	grantClientCredentials = "client_credentials"
	grantJWTBearer         = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantTokenExchange     = "urn:ietf:params:oauth:grant-type:token-exchange"

	errorScope = "insufficient_scope"
)

// A Grant is a way to a token that needs no user: [ClientCredentials], [EnterpriseManaged] or [WorkloadIdentity]. The
// authorization server is found as for a sign-in, when the MCP server refuses a request. A token is got again when it
// is over or refused; there are no refresh tokens. What the authorization server refuses is an error at once: nothing
// else is tried in its place, and for two seconds it is not asked again.
type Grant interface {
	check(c *Config) error
	obtain(ctx context.Context, a *Authorizer, c *credentials, client *Client) error
}

// ClientCredentials is the grant of a client that acts for itself (RFC 6749, section 4.4; MCP extension
// io.modelcontextprotocol/oauth-client-credentials). Config.Client has its secret or its key.
type ClientCredentials struct{}

func (ClientCredentials) check(c *Config) error {
	if c.Client == nil || c.Client.Secret == "" && c.Client.SigningKey == nil {
		return errors.New("client credentials need a Client with a secret or a key")
	}
	return nil
}

func (ClientCredentials) obtain(ctx context.Context, a *Authorizer, c *credentials, client *Client) error {
	return a.obtain(ctx, c, client, withScope(url.Values{"grant_type": {grantClientCredentials}}, c.Asked))
}

// WorkloadIdentity is the grant of a program to which the platform that it runs on gives a token of its own (RFC 7523,
// section 2.1; MCP extension io.modelcontextprotocol/auth/wif), such as a service account's.
type WorkloadIdentity struct {
	// Assertion returns the platform's JWT for an authorization server, whose issuer is the audience that it should
	// have. It is the MCP server that names the authorization server, which could use a JWT with another audience
	// elsewhere: return no such JWT, or say in Config.ServerMetadataURL which authorization server it is. Assertion is
	// called for each access token, by one goroutine at a time, and bounded by 15 s together with the request.
	Assertion func(ctx context.Context, audience string) (string, error)
}

func (g WorkloadIdentity) check(*Config) error {
	if g.Assertion == nil {
		return errors.New("a workload identity needs an Assertion")
	}
	return nil
}

func (g WorkloadIdentity) obtain(ctx context.Context, a *Authorizer, c *credentials, client *Client) error {
	assertion, err := g.Assertion(ctx, c.Issuer)
	if err != nil {
		return fmt.Errorf("the workload's assertion: %w", err)
	}
	return a.obtainByJWT(ctx, c, client, assertion)
}

func (a *Authorizer) obtainByJWT(ctx context.Context, c *credentials, client *Client, assertion string) error {
	params := url.Values{"grant_type": {grantJWTBearer}, "assertion": {assertion}}
	return a.obtain(ctx, c, client, withScope(params, c.Asked))
}

func withScope(params url.Values, scopes []string) url.Values {
	if len(scopes) > 0 {
		params.Set("scope", joinScopes(scopes))
	}
	return params
}

// grantClient is the client of a grant without a user. That of a workload may have none.
func (a *Authorizer) grantClient(ctx context.Context, issuer string) (*Client, error) {
	if a.config.Client == nil {
		return &Client{AuthMethod: authNone}, nil
	}
	return a.ownClient(ctx, issuer)
}

// discover finds the authorization server, the one of the present tokens if it is still among several.
func (a *Authorizer) discover(ctx context.Context, challenged string) (*discovery, error) {
	prefer := ""
	if held := a.memory.held(); held != nil {
		prefer = held.Issuer
	}
	if c := a.config.Client; c != nil && c.Issuer != "" {
		prefer = c.Issuer
	}
	return a.discoverer.discover(ctx, challenged, prefer)
}

func (d *discovery) issuer() issuer {
	return issuer{
		Issuer:        d.server.issuer,
		TokenEndpoint: d.server.tokenEndpoint,
		AuthMethods:   d.server.authMethods,
		SigningAlgs:   d.server.signingAlgs,
		Resource:      d.resource,

		RevocationEndpoint: d.server.revocationEndpoint,
	}
}

func (d *discovery) scopesSupported() []string {
	if d.resourceMetadata == nil {
		return nil
	}
	return d.resourceMetadata.scopes
}

// signsIn reports what stands against a sign-in.
func (a *Authorizer) signsIn(d *discovery) error {
	switch {
	case d.server.authorizationEndpoint == "":
		return errors.New("the authorization server has no authorization endpoint")
	case !slices.Contains(d.server.challengeMethods, "S256"):
		return ErrNoPKCE
	}
	return a.proves(d)
}

// proves reports whether the authorization server takes this package's proofs, as far as it says.
func (a *Authorizer) proves(d *discovery) error {
	if m := d.resourceMetadata; m != nil && m.wantsDPoP && !a.config.DPoP {
		return errors.New("the server wants tokens that are bound to a key, which Config.DPoP gets")
	}
	algs := d.server.dpopAlgs
	if a.config.DPoP && len(algs) > 0 && !slices.Contains(algs, dpopAlg) {
		return fmt.Errorf("%w with %s, only with %s", ErrNoDPoP, dpopAlg, excerpt(strings.Join(algs, " ")))
	}
	return nil
}
