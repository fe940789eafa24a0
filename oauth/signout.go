package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"
)

// revokeTimeout bounds what a sign-out asks of the authorization server, all in all.
const revokeTimeout = 10 * time.Second

// SignOut forgets the tokens and the clients that were registered, in memory and in the Store. The error is that of the
// Store, in which they still are then.
//
// After that it asks the authorization server to revoke the tokens (RFC 7009), if that has said where. It waits for the
// answers, 10 s at most and not beyond the end of ctx. A failure is told to the Logger and is no error: whoever signs
// out is signed out here, whatever the server makes of it.
func (a *Authorizer) SignOut(ctx context.Context) error {
	var last *record
	err := a.store.Update(ctx, a.key, func(data []byte) ([]byte, error) {
		last, _, _ = a.latest(data) // what cannot be read is removed as well
		return nil, nil
	})
	if err != nil {
		return fmt.Errorf("oauth: signing out: %w", err)
	}
	a.memory.clear()
	if last == nil || last.Credentials == nil {
		return nil
	}
	if err := a.revoke(ctx, last); err != nil {
		a.log.WarnContext(ctx, "oauth: the tokens are forgotten but not revoked", slog.Any("error", err))
	}
	return nil
}

// revoke withdraws the refresh token first: with it goes the grant, and with that, at most servers, the access token.
func (a *Authorizer) revoke(ctx context.Context, r *record) error {
	c := r.Credentials
	if c.RevocationEndpoint == "" || c.ClientID == "" {
		return nil // nobody to ask, or nobody who could
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	client, err := a.clientAt(c.Issuer, r.BoundIssuer, c.ClientID, c.Client)
	if err != nil {
		return err
	}
	if c.RefreshToken != "" {
		err = a.revokeToken(ctx, c, client, "refresh_token", c.RefreshToken)
	}
	if c.over() {
		return err
	}
	return errors.Join(err, a.revokeToken(ctx, c, client, "access_token", c.AccessToken))
}

// revokeToken asks for it as for tokens: the client authenticates in the same way (RFC 7009, section 2.1).
func (a *Authorizer) revokeToken(ctx context.Context, c *credentials, client *Client, kind, token string) error {
	r := &tokenRequest{server: &c.issuer, client: client, params: url.Values{
		"token":           {token},
		"token_type_hint": {kind},
	}}
	form, header, err := r.authenticated()
	if err != nil {
		return err
	}
	answer, err := a.web.postForm(ctx, c.RevocationEndpoint, form, header)
	secrets := secretsOf(form, header, client)
	if err != nil {
		return fmt.Errorf("revocation endpoint: %w", hide(err, secrets))
	}
	if answer.status < 200 || answer.status > 299 {
		e := oauthError(tokenFields(answer.body), secrets)
		e.Status = answer.status
		return fmt.Errorf("revocation endpoint: %w", e)
	}
	return nil
}
