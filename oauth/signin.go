package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// A SignIn is the first half of a sign-in, and all that the second half needs. It is plain data: as JSON it can wait in
// a session or a database for the user to come back, to this process or another one with the same Store. It holds
// secrets, which nothing but its JSON shows, and it says where the code goes: keep it where the user can neither read
// nor write it, in the session of who has begun it.
type SignIn struct {
	// AuthorizationURL is where to send the user's browser. It is "" when there is nothing to do: a refresh was enough,
	// or somebody else has signed in meanwhile.
	AuthorizationURL string `json:"authorization_url,omitempty"`

	Server      string   `json:"server,omitempty"`  // the MCP server
	Account     string   `json:"account,omitempty"` // a hash of Config.Key and Config.Server
	State       string   `json:"state,omitempty"`   // comes back with the answer, and tells answers apart
	Issuer      string   `json:"issuer,omitempty"`
	ClientID    string   `json:"client_id,omitempty"`
	RedirectURL string   `json:"redirect_url,omitempty"`
	Scopes      []string `json:"scopes,omitempty"` // asked for
	Resource    string   `json:"resource,omitempty"`

	// IssuerInResponse says that the authorization server promised to name itself in its answer (RFC 9207).
	IssuerInResponse bool `json:"issuer_in_response,omitempty"`

	Verifier      string   `json:"verifier,omitempty"` // of PKCE
	TokenEndpoint string   `json:"token_endpoint,omitempty"`
	AuthMethods   []string `json:"auth_methods,omitempty"`
	SigningAlgs   []string `json:"signing_algs,omitempty"`

	RevocationEndpoint string `json:"revocation_endpoint,omitempty"` // for SignOut

	// Of a client that was registered for sign-ins: the one of a later sign-in may be another.
	ClientSecret     string `json:"client_secret,omitempty"`
	ClientAuthMethod string `json:"client_auth_method,omitempty"`
}

// Done reports whether there is nothing left to do.
func (s *SignIn) Done() bool { return s.AuthorizationURL == "" }

// SignInOptions are what there is to say about one sign-in. The zero value is fine.
type SignInOptions struct {
	// Required is the error that asks for the sign-in; nil means the last one that this Authorizer returned.
	Required *SignInRequiredError
	// RedirectURL is used in place of those of the Config, such as that of a [Loopback].
	RedirectURL string
	// Scopes are asked for in addition.
	Scopes []string
	// Params are further parameters of the authorization request, such as login_hint. Those that this package sets
	// itself are refused.
	Params url.Values
	// Force asks the user even when there are tokens that work or can be refreshed, for one who wants another account.
	Force bool
}

// signInTimeout bounds either half of a sign-in, the requests to servers and the wait for the store included.
const signInTimeout = 45 * time.Second

// StartSignIn prepares a sign-in. It refreshes the token first if that can be what is wanted: the SignIn is then done.
// Otherwise it finds the authorization server anew, gets a client id there, and returns the URL to open in the user's
// browser. It takes 45 s at most. o may be nil.
func (a *Authorizer) StartSignIn(ctx context.Context, o *SignInOptions) (*SignIn, error) {
	if o == nil {
		o = &SignInOptions{}
	}
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	s, err := a.startSignIn(ctx, o)
	return s, boundary(err)
}

func (a *Authorizer) startSignIn(ctx context.Context, o *SignInOptions) (*SignIn, error) {
	if a.config.Grant != nil {
		return nil, errors.New("the grant signs nobody in")
	}
	required := o.Required
	if required == nil {
		required = a.memory.required()
	}
	if required == nil {
		required = &SignInRequiredError{}
	}
	r, err := a.reload(ctx)
	if err != nil {
		return nil, err
	}
	if held := r.Credentials; held != nil && !o.Force {
		if done, err := a.withoutUser(ctx, held, required, o.Scopes); err != nil || done {
			return &SignIn{}, err
		}
	}
	d, err := a.discover(ctx, required.ResourceMetadata)
	if err != nil {
		return nil, err
	}
	if err := a.signsIn(d); err != nil {
		return nil, err
	}
	return a.authorizationRequest(ctx, d, required, o)
}

// withoutUser reports whether there is a token that will do, after a refresh where one is due. One that was refused
// will not: what there was to try without the user was tried before the user was asked for.
func (a *Authorizer) withoutUser(ctx context.Context, held *credentials, required *SignInRequiredError,
	more []string) (done bool, err error) {
	wanted := more
	if required.StepUp() {
		wanted = union(more, required.Scopes)
	}
	refused := a.memory.wasRefused(held.AccessToken) || required.Refused == hashOf(held.AccessToken)
	switch {
	case refused || !held.wide(wanted):
		return false, nil
	case !held.due():
		return true, nil
	case !a.renewable(held):
		return false, nil
	}
	err = a.renew(ctx, held.AccessToken, nil)
	if final(err) {
		return false, nil // the user can still sign in
	}
	return err == nil, err
}

// authorizationRequest is the URL to open, and what to remember with it (RFC 6749, section 4.1.1; RFC 7636; RFC 8707).
func (a *Authorizer) authorizationRequest(ctx context.Context, d *discovery, required *SignInRequiredError,
	o *SignInOptions) (*SignIn, error) {
	redirectURL, err := a.redirectURL(d, o)
	if err != nil {
		return nil, err
	}
	held := a.memory.held()
	if held != nil && held.Issuer != d.server.issuer {
		held = nil // what another server granted says nothing here
	}
	scopes := a.scopesFor(required.Scopes, d.scopesSupported(), held, required.StepUp())
	scopes = withOfflineAccess(union(scopes, o.Scopes), d.server.scopes)
	client, err := a.client(ctx, d, redirectURL, scopes)
	if err != nil {
		return nil, err
	}
	s := &SignIn{
		Server:           place(a.server),
		Account:          hashOf(a.key),
		State:            randomID(),
		Issuer:           d.server.issuer,
		ClientID:         client.ID,
		RedirectURL:      redirectURL,
		Scopes:           scopes,
		Resource:         d.resource,
		IssuerInResponse: d.server.namesItself,
		Verifier:         randomID(),
		TokenEndpoint:    d.server.tokenEndpoint,
		AuthMethods:      d.server.authMethods,
		SigningAlgs:      d.server.signingAlgs,

		RevocationEndpoint: d.server.revocationEndpoint,
	}
	if a.config.Client == nil {
		s.ClientSecret, s.ClientAuthMethod = client.Secret, client.AuthMethod
	}
	s.AuthorizationURL, err = s.url(d.server.authorizationEndpoint, o.Params)
	return s, err
}

func (a *Authorizer) redirectURL(d *discovery, o *SignInOptions) (string, error) {
	redirectURL := o.RedirectURL
	if redirectURL == "" && a.config.RedirectURLFor != nil && !d.server.namesItself {
		redirectURL = a.config.RedirectURLFor(d.server.issuer)
	}
	if redirectURL == "" {
		redirectURL = a.config.RedirectURL
	}
	if redirectURL == "" {
		return "", errors.New("there is no redirect URL")
	}
	return redirectURL, checkRedirectURL(redirectURL)
}

// url adds the parameters to those that the endpoint has itself (RFC 6749, section 3.1).
func (s *SignIn) url(endpoint string, more url.Values) (string, error) {
	u, err := checkURL("authorization endpoint", endpoint)
	if err != nil {
		return "", err
	}
	challenge := sha256.Sum256([]byte(s.Verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type":         "code",
		"client_id":             s.ClientID,
		"redirect_uri":          s.RedirectURL,
		"state":                 s.State,
		"code_challenge":        encode64(challenge[:]),
		"code_challenge_method": "S256",
		"resource":              s.Resource,
		"scope":                 joinScopes(s.Scopes),
	} {
		if more.Has(name) {
			return "", fmt.Errorf("the parameter %s is not yours to set", name)
		}
		if value != "" {
			q.Set(name, value)
		}
	}
	if slices.Contains(s.Scopes, offlineAccess) {
		q.Set("prompt", "consent") // without which the scope is ignored (OpenID Connect Core 1.0, section 11)
	}
	for name, values := range more {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// CompleteSignIn takes the answer to a sign-in: it finds out whether it is the right server's answer to this question,
// changes the code for tokens, and saves them. A user who said no is [ErrSignInCancelled]. It takes 45 s at most. A
// code works once: whatever comes of it, a SignIn is used up.
func (a *Authorizer) CompleteSignIn(ctx context.Context, s *SignIn, r *Response) error {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	return boundary(a.completeSignIn(ctx, s, r))
}

func (a *Authorizer) completeSignIn(ctx context.Context, s *SignIn, r *Response) error {
	switch {
	case s.Done():
		return errors.New("the sign-in is done already")
	case s.Server != place(a.server):
		return fmt.Errorf("the sign-in is one at %s", s.Server) // its tokens are not for this server to see
	case s.Account != hashOf(a.key):
		return errors.New("the sign-in was begun with another Key") // somebody has the user end a sign-in of theirs
	}
	if err := r.check(s); err != nil {
		return err
	}
	known, err := a.reload(ctx)
	if err != nil {
		return err // before the code is used up
	}
	own := &registered{ID: s.ClientID, Secret: s.ClientSecret, AuthMethod: s.ClientAuthMethod}
	if a.config.Client != nil {
		own = nil
	}
	client, err := a.clientAt(s.Issuer, known.BoundIssuer, s.ClientID, own)
	if err != nil {
		return err
	}
	c := &credentials{
		issuer: issuer{
			Issuer:        s.Issuer,
			TokenEndpoint: s.TokenEndpoint,
			AuthMethods:   s.AuthMethods,
			SigningAlgs:   s.SigningAlgs,
			Resource:      s.Resource,

			RevocationEndpoint: s.RevocationEndpoint,
		},
		ClientID: s.ClientID,
		Client:   own,
		Scopes:   s.Scopes,
		Asked:    s.Scopes,
	}
	params := url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {r.Code},
		"redirect_uri":  {s.RedirectURL},
		"code_verifier": {s.Verifier},
	}
	if err := a.obtain(ctx, c, client, params); err != nil {
		a.forget(ctx, s.Issuer, client, err)
		return err
	}
	err = a.update(ctx, func(r *record) (bool, error) {
		r.Credentials = c
		return true, nil
	})
	if err != nil && isStored(err) {
		a.keep(c) // the code is used up, so that there is nothing to get them again with
		err = fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	a.memory.signedIn(c.AccessToken)
	return err
}

// clientAt finds the client with this id: the one that the application was given with its registration, or its own if
// that belongs to the issuer. An id is no secret, so that another server may have given the same.
func (a *Authorizer) clientAt(issuer, bound, id string, own *registered) (*Client, error) {
	if own != nil {
		return own.client(), nil
	}
	if c := a.config.Client; c != nil && c.ID == id && sameIssuer(cmp.Or(c.Issuer, bound, issuer), issuer) {
		return c, nil
	}
	return nil, fmt.Errorf("%w: %q", errUnknownClient, excerpt(id))
}

// obtain asks for tokens and enters them.
func (a *Authorizer) obtain(ctx context.Context, c *credentials, client *Client, params url.Values) error {
	r := &tokenRequest{server: &c.issuer, client: client, params: params}
	if c.Resource != "" {
		params.Set("resource", c.Resource) // in every request (MCP, "Resource Parameter Implementation")
	}
	if err := a.proofKey(c, r); err != nil {
		return err
	}
	t, err := a.requestTokens(ctx, r)
	if err != nil {
		return err
	}
	switch {
	case r.key != nil && t.kind != schemeDPoP:
		return fmt.Errorf("%w: it gave a token of type %s", ErrNoDPoP, t.kind)
	case r.key == nil && t.kind != schemeBearer:
		return fmt.Errorf("the authorization server gave a token of type %s", t.kind)
	}
	c.take(t)
	return nil
}

// proofKey gives a request the key that its tokens are bound to, or are to be.
func (a *Authorizer) proofKey(c *credentials, r *tokenRequest) (err error) {
	switch {
	case !a.config.DPoP && c.DPoPKey == nil:
		return nil
	case c.DPoPKey != nil:
		r.key, err = parseDPoPKey(c.DPoPKey)
		return err
	}
	if r.key, err = newDPoPKey(); err != nil {
		return err
	}
	c.DPoPKey, err = r.key.marshal()
	return err
}
