package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// expirySkew is how long before its end a token is renewed, and how much clocks may differ. Of a token that lives less
// than two minutes it is the last quarter.
const expirySkew = 30 * time.Second

// A Token is an access token for uses of your own. Nothing that formats it shows it.
type Token struct {
	AccessToken string
	Type        string    // "Bearer", or "DPoP", with which it takes a proof that only the Authorizer makes
	Expires     time.Time // zero: not known
	Scopes      []string  // granted, as far as known
}

// Authorize puts the token on a request, and a proof where the token is bound to a key. A token with less than 30 s
// left (of a short life, the last quarter) is renewed first, once for all requests that wait for it. Without a token
// the request is left as it is: the server may want none, and otherwise says what it wants. A token that is over and
// cannot be renewed is sent all the same, since only the server's answer tells what a sign-in has to ask for.
//
// With refresh false it takes the token that is in memory, and asks nobody. The error matches [ErrNotSaved], or is the
// authorization server's [*Error], of the network or of the store; tokens are kept in all of these cases. It is an
// [*EndpointError] for a request that no token goes with: one to another origin than Config.Server's, or in the open.
func (a *Authorizer) Authorize(ctx context.Context, req *http.Request, refresh bool) error {
	held := a.memory.held()
	if refresh {
		var err error
		if held, err = a.usable(ctx); err != nil {
			return boundary(err)
		}
	}
	if held == nil {
		return nil
	}
	return boundary(a.put(req, held))
}

// put adds the token to the request, if that goes where the token is meant for, and not in the open (OAuth 2.1, section
// 1.5).
func (a *Authorizer) put(req *http.Request, held *credentials) error {
	switch {
	case !sameOrigin(req.URL, a.server):
		return &EndpointError{place(req.URL), "the token is for " + origin(a.server)}
	case req.URL.Scheme == "http" && !isLoopback(req.URL.Hostname()):
		return &EndpointError{place(req.URL), "it is not https, and not on loopback"}
	}
	if held.DPoPKey == nil {
		req.Header.Set("Authorization", schemeBearer+" "+held.AccessToken)
		return nil
	}
	key, err := parseDPoPKey(held.DPoPKey)
	if err != nil {
		return err
	}
	proof, err := key.proof(req.Method, req.URL, held.AccessToken, a.nonces.of(req.URL))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", schemeDPoP+" "+held.AccessToken)
	req.Header.Set(headerProof, proof)
	return nil
}

// usable returns the credentials to use now, nil if there are none.
func (a *Authorizer) usable(ctx context.Context) (*credentials, error) {
	held, err := a.loaded(ctx)
	if err != nil || held == nil || !held.due() {
		return held, err
	}
	if !a.renewable(held) {
		r, err := a.reload(ctx) // somebody may have signed in elsewhere
		if err != nil {
			return nil, err
		}
		return r.Credentials, nil
	}
	err = a.renew(ctx, held.AccessToken, nil)
	switch {
	case err == nil:
		return a.memory.held(), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case a.config.Grant == nil && final(err):
		return a.memory.held(), nil
	case isStored(err) && !held.over():
		a.log.WarnContext(ctx, "oauth: the token is not renewed yet", slog.Any("error", err))
		return held, nil
	}
	return nil, err
}

// Inspect meets the challenges of the server. It reports retry when there is another token than the request had: one
// that was renewed, for this request or meanwhile for others, or that came with a sign-in. Where the user must act, the
// error is a [*SignInRequiredError], and where that has been tried, a [*RefusedError]. It does not read the body.
func (a *Authorizer) Inspect(ctx context.Context, req *http.Request, resp *http.Response) (retry bool, err error) {
	if !sameOrigin(req.URL, a.server) {
		return false, nil // whose demands are not met here
	}
	scheme, used, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if scheme == schemeDPoP {
		a.nonces.learn(req.URL, resp.Header)
	}
	if resp.StatusCode < http.StatusBadRequest {
		a.memory.accepted(used)
	}
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return false, nil
	}
	challenges := ParseChallenges(resp.Header.Values("Www-Authenticate"))
	if a.config.OnChallenge != nil {
		a.config.OnChallenge(ctx, resp.StatusCode, challenges)
	}
	d := demandOf(resp.StatusCode, challenges, a.memory.held())
	switch {
	case d == nil:
		return false, nil // not for us
	case d.code == errorUseNonce && proofNonce(req.Header.Get(headerProof)) != a.nonces.of(req.URL):
		return true, nil
	case d.status == http.StatusForbidden && used != "":
		retry, err = a.widen(ctx, d, used)
	default:
		retry, err = a.replace(ctx, d, used)
	}
	return retry, boundary(err)
}

// A demand is what a server's challenge asks for (RFC 6750, section 3; RFC 9728, section 5.1; RFC 9449, section 7.1).
type demand struct {
	status           int
	code             string   // "invalid_token", "" if none
	scopes           []string // nil: not said
	resourceMetadata string
	description      string
}

// demandOf picks the challenge to meet: nil if there is none. A 401 without any challenge asks for a token as well, and
// a 403 for one only if it says that the scope is too narrow.
func demandOf(status int, challenges []Challenge, held *credentials) *demand {
	ours := slices.DeleteFunc(slices.Clone(challenges), func(c Challenge) bool {
		return !strings.EqualFold(c.Scheme, schemeBearer) && !strings.EqualFold(c.Scheme, schemeDPoP)
	})
	if status == http.StatusForbidden {
		ours = slices.DeleteFunc(ours, func(c Challenge) bool { return !held.tooNarrow(c) })
	}
	if len(ours) == 0 {
		if status == http.StatusUnauthorized && len(challenges) == 0 {
			return &demand{status: status}
		}
		return nil
	}
	d := &demand{status: status}
	for _, c := range ours { // the first that says something says it for all
		if d.code == "" {
			d.code = c.Params["error"]
		}
		if d.scopes == nil {
			d.scopes = splitScopes(c.Params["scope"])
		}
		if d.resourceMetadata == "" {
			d.resourceMetadata = c.Params["resource_metadata"]
		}
		if d.description == "" {
			d.description = excerpt(c.Params["error_description"])
		}
	}
	return d
}

// tooNarrow reports whether a 403 is about the scope. Servers of the Go SDK name those that a call takes and no error:
// it is, if the token lacks one.
func (c *credentials) tooNarrow(challenge Challenge) bool {
	if code, ok := challenge.Params["error"]; ok || c == nil {
		return code == errorScope
	}
	return !c.wide(splitScopes(challenge.Params["scope"]))
}

// replace gets another token than the one that was refused, or none at all.
func (a *Authorizer) replace(ctx context.Context, d *demand, used string) (retry bool, err error) {
	if a.newer(used) {
		return true, nil
	}
	tried, final := a.triedWith(used)
	if !tried && a.renewable(a.memory.held()) {
		retry, err := a.renewed(ctx, d, used)
		if retry || err != nil {
			return retry, err
		}
	}
	a.memory.refuse(used)
	if final || a.config.Grant != nil {
		return false, a.refused(d, d.scopes)
	}
	return a.require(ctx, d, d.scopes, used)
}

// triedWith tells what is left to do about a token that is refused. Tried is one that a renewal has just brought, so
// that another would be of no use; with final nor would a sign-in be, or there is nobody to sign in.
func (a *Authorizer) triedWith(used string) (tried, final bool) {
	source, fresh := a.memory.fresh(used)
	switch {
	case a.config.Grant != nil:
		return fresh, fresh
	case source == fromUser:
		return false, fresh
	case source == renewedAtOnce:
		return fresh, fresh
	}
	return fresh, false
}

// renewed renews a token that was refused. An authorization server that refuses to, is no error where a user can sign
// in again.
func (a *Authorizer) renewed(ctx context.Context, d *demand, used string) (retry bool, err error) {
	err = a.renew(ctx, used, d)
	if a.config.Grant == nil && final(err) {
		return false, nil
	}
	return err == nil && a.newer(used), err
}

// widen gets a token with more scopes (MCP, "Step-Up Authorization Flow"): those that are demanded, and those that were
// asked for or granted before.
func (a *Authorizer) widen(ctx context.Context, d *demand, used string) (retry bool, err error) {
	if a.newer(used) {
		return true, nil
	}
	if d.code == "" {
		a.log.WarnContext(ctx, "oauth: took a 403 that names scopes and no error for one about the scope")
	}
	scopes := d.scopes
	if held := a.memory.held(); held != nil {
		scopes = union(union(held.Asked, held.Scopes), d.scopes)
	}
	if !a.memory.stepUp(joinScopes(slices.Sorted(slices.Values(d.scopes))), used) {
		a.memory.refuse(used)
		return false, a.refused(d, scopes)
	}
	if a.config.Grant == nil {
		return a.require(ctx, d, scopes, used)
	}
	if err := a.renew(ctx, used, d); err != nil {
		return false, err
	}
	if !a.newer(used) {
		return false, a.refused(d, scopes) // it is the same token again
	}
	return true, nil
}

// require asks for a sign-in, unless somebody has signed in elsewhere.
func (a *Authorizer) require(ctx context.Context, d *demand, scopes []string, used string) (retry bool, err error) {
	if _, err := a.reload(ctx); err != nil || a.newer(used) {
		return err == nil, err
	}
	required := a.required(d, scopes)
	required.Refused = hashOf(used)
	return false, a.memory.require(required)
}

// newer reports whether there is a token, and another one than was used.
func (a *Authorizer) newer(used string) bool {
	held := a.memory.held()
	return held != nil && held.AccessToken != used
}

func (a *Authorizer) required(d *demand, scopes []string) *SignInRequiredError {
	return &SignInRequiredError{
		Server:           place(a.server),
		Status:           d.status,
		Scopes:           scopes,
		ResourceMetadata: d.resourceMetadata,
		Description:      d.description,
	}
}

func (a *Authorizer) refused(d *demand, scopes []string) *RefusedError {
	return &RefusedError{Server: place(a.server), Status: d.status, Scopes: scopes, Description: d.description}
}

// Token returns a token, which is renewed first as in Authorize. The error is a [*SignInRequiredError] when there is
// none, or that of Authorize.
func (a *Authorizer) Token(ctx context.Context) (*Token, error) {
	held, err := a.usable(ctx)
	if err == nil && held == nil && a.config.Grant != nil {
		err = a.renew(ctx, "", nil)
		held = a.memory.held()
	}
	if err != nil {
		return nil, boundary(err)
	}
	if held == nil || held.over() {
		return nil, boundary(a.required(&demand{status: http.StatusUnauthorized}, nil))
	}
	return &Token{
		AccessToken: held.AccessToken,
		Type:        held.TokenType,
		Expires:     held.Expires,
		Scopes:      slices.Clone(held.Scopes),
	}, nil
}
