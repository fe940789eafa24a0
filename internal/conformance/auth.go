package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
)

const (
	redirectURL = "http://localhost:3000/callback" // nothing listens there
	metadataURL = "https://conformance-test.local/client-metadata.json"
)

// clientContext is what the suite tells about clients that it has registered.
type clientContext struct {
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	Issuer           string `json:"issuer"`
	PrivateKeyPEM    string `json:"private_key_pem"`
	ValidJWT         string `json:"valid_jwt"`
	IDPClientID      string `json:"idp_client_id"`
	IDPIDToken       string `json:"idp_id_token"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`
}

// authorized makes a scenario of a way to get tokens: list the tools, and call the one that there is.
func authorized(configure func(*oauth.Config, clientContext) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		var known clientContext
		if len(r.context) > 0 {
			if err := json.Unmarshal(r.context, &known); err != nil {
				return err
			}
		}
		config := oauth.Config{Server: r.url, RedirectURL: redirectURL, Logger: logger}
		config.Registration.ClientName = "mcp-conformance"
		if err := configure(&config, known); err != nil {
			return err
		}
		a, err := oauth.New(config)
		if err != nil {
			return err
		}
		r.authorizer = a
		return useProtected(ctx, r, a)
	}
}

func useProtected(ctx context.Context, r *run, a *oauth.Authorizer) error {
	var client *mcp.Client
	err := signingIn(ctx, a, func() (err error) {
		client, err = r.connect(ctx, mcp.Options{})
		return err
	})
	if err != nil {
		return err
	}
	defer client.Close()
	if err := signingIn(ctx, a, func() error { return listTools(ctx, r, client) }); err != nil {
		return err
	}
	return signingIn(ctx, a, func() error { return callTool(ctx, client, "test-tool", map[string]any{}) })
}

// signingIn does something, and signs in as often as that needs it.
func signingIn(ctx context.Context, a *oauth.Authorizer, do func() error) error {
	for {
		err := do()
		var required *oauth.SignInRequiredError
		if !errors.As(err, &required) {
			return err
		}
		if err := signIn(ctx, a, required); err != nil {
			return err
		}
	}
}

func signIn(ctx context.Context, a *oauth.Authorizer, required *oauth.SignInRequiredError) error {
	s, err := a.StartSignIn(ctx, &oauth.SignInOptions{Required: required})
	if err != nil || s.Done() {
		return err
	}
	response, err := consent(ctx, s.AuthorizationURL)
	if err != nil {
		return err
	}
	return a.CompleteSignIn(ctx, s, response)
}

// consent is the user in front of a browser, and the suite's authorization servers ask nothing.
func consent(ctx context.Context, authorizationURL string) (*oauth.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, authorizationURL, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	location := resp.Header.Get("Location")
	if location == "" {
		return nil, fmt.Errorf("the authorization endpoint answered %s", resp.Status)
	}
	return oauth.ResponseFromRedirectURL(location)
}

// asPublished is an application that publishes a metadata document, and registers where that is of no use.
func asPublished(c *oauth.Config, _ clientContext) error {
	c.ClientIDMetadataURL = metadataURL
	return nil
}

// asRegistered is an application that somebody has registered.
func asRegistered(c *oauth.Config, known clientContext) error {
	c.Client = &oauth.Client{ID: known.ClientID, Secret: known.ClientSecret, Issuer: known.Issuer}
	return nil
}

func withDPoP(c *oauth.Config, _ clientContext) error {
	c.DPoP = true
	return nil
}

func withSecret(c *oauth.Config, known clientContext) error {
	c.Grant = oauth.ClientCredentials{}
	return asRegistered(c, known)
}

func withKey(c *oauth.Config, known clientContext) error {
	block, _ := pem.Decode([]byte(known.PrivateKeyPEM))
	if block == nil {
		return errors.New("the key is no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	c.Grant = oauth.ClientCredentials{}
	c.Client = &oauth.Client{ID: known.ClientID, SigningKey: key.(crypto.Signer)}
	return nil
}

func byEnterprise(c *oauth.Config, known clientContext) error {
	c.Grant = oauth.EnterpriseManaged{
		TokenEndpoint: known.IDPTokenEndpoint,
		Client:        oauth.Client{ID: known.IDPClientID},
		Subject:       func(context.Context) (string, error) { return known.IDPIDToken, nil },
	}
	return asRegistered(c, known)
}

func byWorkload(c *oauth.Config, known clientContext) error {
	c.Grant = oauth.WorkloadIdentity{
		Assertion: func(context.Context, string) (string, error) { return known.ValidJWT, nil },
	}
	return asRegistered(c, known)
}

// refuses makes a scenario of a server that must not be trusted: it ends with an error of type E.
func refuses[E error](play func(context.Context, *run) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		err := play(ctx, r)
		if _, ok := errors.AsType[E](err); ok {
			return nil
		}
		return fmt.Errorf("not refused: %w", err)
	}
}
