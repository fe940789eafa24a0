package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
)

const (
	tokenTypeIDJAG   = "urn:ietf:params:oauth:token-type:id-jag"
	tokenTypeIDToken = "urn:ietf:params:oauth:token-type:id_token"
)

// EnterpriseManaged is the grant of a client whose users are signed in to it by their organization's identity provider
// (MCP extension io.modelcontextprotocol/enterprise-managed-authorization). The provider changes the user's ID token
// for an Identity Assertion Authorization Grant (ID-JAG), and the MCP server's authorization server changes that for an
// access token. Config.Client is the client at the latter.
type EnterpriseManaged struct {
	// TokenEndpoint is the URL of the identity provider's token endpoint. Issuer finds it by the provider's metadata;
	// one of the two is needed.
	TokenEndpoint string
	Issuer        string
	// Client is the client at the identity provider.
	Client Client
	// Subject returns the user's ID token, of type SubjectType. It is called for each access token, by one goroutine at
	// a time, and bounded by 15 s together with the requests.
	Subject func(ctx context.Context) (string, error)
	// SubjectType is the type of what Subject returns (RFC 8693, section 3); "" means an ID token.
	SubjectType string
}

func (g EnterpriseManaged) check(c *Config) error {
	switch {
	case g.Subject == nil:
		return errors.New("enterprise-managed authorization needs a Subject")
	case g.TokenEndpoint == "" && g.Issuer == "":
		return errors.New("enterprise-managed authorization needs the identity provider's TokenEndpoint or Issuer")
	case c.Client == nil:
		return errors.New("enterprise-managed authorization needs a Client")
	}
	if err := g.Client.check(); err != nil {
		return fmt.Errorf("identity provider: %w", err)
	}
	return nil
}

func (g EnterpriseManaged) obtain(ctx context.Context, a *Authorizer, c *credentials, client *Client) error {
	assertion, err := g.exchange(ctx, a, c)
	if err != nil {
		return fmt.Errorf("identity provider: %w", err)
	}
	return a.obtainByJWT(ctx, c, client, assertion)
}

// exchange gets the ID-JAG (section 4 of the extension; RFC 8693).
func (g EnterpriseManaged) exchange(ctx context.Context, a *Authorizer, c *credentials) (string, error) {
	subject, err := g.Subject(ctx)
	if err != nil {
		return "", err
	}
	provider, err := g.provider(ctx, a)
	if err != nil {
		return "", err
	}
	params := url.Values{
		"grant_type":           {grantTokenExchange},
		"requested_token_type": {tokenTypeIDJAG},
		"audience":             {c.Issuer},
		"resource":             {c.Resource},
		"subject_token":        {subject},
		"subject_token_type":   {tokenTypeIDToken},
	}
	if g.SubjectType != "" {
		params.Set("subject_token_type", g.SubjectType)
	}
	t, err := a.requestTokens(ctx, &tokenRequest{server: provider, client: &g.Client, params: withScope(params, c.Asked)})
	if err != nil {
		return "", err
	}
	return t.access, nil
}

func (g EnterpriseManaged) provider(ctx context.Context, a *Authorizer) (*issuer, error) {
	if g.TokenEndpoint != "" {
		// An assertion of the client is for the issuer, or else for the endpoint (RFC 7523, section 3).
		return &issuer{Issuer: cmp.Or(g.Issuer, g.TokenEndpoint), TokenEndpoint: g.TokenEndpoint}, nil
	}
	m, err := a.discoverer.serverMetadata(ctx, g.Issuer)
	if err != nil {
		return nil, err
	}
	found := (&discovery{server: m}).issuer()
	return &found, nil
}
