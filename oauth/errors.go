package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/internal/oneline"
)

var (
	// ErrSignInCancelled is matched by the [*Error] of a user, or a server on the user's behalf, who said no
	// (access_denied).
	ErrSignInCancelled = errors.New("the sign-in was cancelled")

	// ErrNotSaved is matched by the error of a call that got new tokens which the [Store] then did not take. The
	// Authorizer goes on with them, and tries to save them again; when the process ends first, they are lost, and the
	// user has to sign in again.
	ErrNotSaved = errors.New("the tokens are not saved")

	// ErrWrongState is matched by the error of an answer that does not belong to the sign-in it is given for.
	ErrWrongState = errors.New("the answer belongs to another sign-in")

	// ErrNoPKCE is matched by the error for an authorization server that does not say that it has PKCE with S256, with
	// which a client must not sign in (MCP, "Authorization Code Protection").
	ErrNoPKCE = errors.New("the authorization server does not support PKCE with S256")

	// ErrNoDPoP is matched by the error for an authorization server that gives no tokens that are bound to a key,
	// where Config.DPoP asks for them.
	ErrNoDPoP = errors.New("the authorization server binds no tokens (DPoP)")
)

// An Error is what an authorization server answered in place of what it was asked for (RFC 6749, sections 4.1.2.1 and
// 5.2). It names no secret: where the server repeats one in its description, that is cut out.
type Error struct {
	Code        string // "invalid_grant"; "" when the answer was no OAuth error
	Description string // one line for a developer, "" when there is none
	URI         string // of a page about the error, "" when there is none
	Status      int    // of the HTTP response; 0 for an answer that came by the user's browser
}

// Error implements error.
func (e *Error) Error() string {
	text := "the authorization server answered "
	switch {
	case e.Code != "":
		text += e.Code
	default:
		text += statusText(e.Status)
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	return text
}

// Is makes access_denied match [ErrSignInCancelled].
func (e *Error) Is(target error) bool {
	return target == ErrSignInCancelled && e.Code == "access_denied"
}

// passing reports whether the server may well answer otherwise later on, so that nothing is given up.
func (e *Error) passing() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout ||
		e.Code == "temporarily_unavailable" || e.Code == "server_error" || e.Code == "slow_down"
}

// final reports whether err is an authorization server's no, and not one of a network or a server in trouble. What is
// no OAuth error is nobody's no: a proxy may have said it.
func final(err error) bool {
	var e *Error
	return errors.Is(err, errUnknownClient) || errors.Is(err, errMoved) ||
		errors.As(err, &e) && e.Code != "" && !e.passing()
}

// A SignInRequiredError says that the user must act: nothing at hand opens the server. Give it to
// [Authorizer.StartSignIn], at once or, as it is plain data without secrets, in another process.
type SignInRequiredError struct {
	Server           string   `json:"server"`                      // URL of the MCP server
	Status           int      `json:"status"`                      // 401, or 403 for a token with too narrow a scope
	Scopes           []string `json:"scopes,omitempty"`            // to ask for; nil: not known
	ResourceMetadata string   `json:"resource_metadata,omitempty"` // URL that the server named (RFC 9728, section 5.1)
	Description      string   `json:"description,omitempty"`       // the server's words
	Refused          string   `json:"refused,omitempty"`           // a hash of the token that was refused
}

// Error implements error.
func (e *SignInRequiredError) Error() string {
	text := "sign-in required at " + e.Server
	if e.StepUp() && len(e.Scopes) > 0 {
		text += fmt.Sprintf(" for the scope %.300q", joinScopes(e.Scopes))
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	return text
}

// StepUp reports whether there is a token, which only lacks scopes.
func (e *SignInRequiredError) StepUp() bool { return e.Status == http.StatusForbidden }

// A RefusedError says that the server refuses a token that was got for it a moment ago. To get another one in the same
// way would change nothing.
type RefusedError struct {
	Server      string   // URL of the MCP server
	Status      int      // 401, or 403 when the token's scope is still too narrow
	Scopes      []string // that the server asks for, nil if it names none
	Description string   // the server's words, "" if none
}

// Error implements error.
func (e *RefusedError) Error() string {
	text := e.Server + " refuses a token that is new"
	if e.Status == http.StatusForbidden {
		text += ", its scope is still too narrow"
	}
	if len(e.Scopes) > 0 {
		text += fmt.Sprintf(" (wanted: %.300q)", joinScopes(e.Scopes))
	}
	if e.Description != "" {
		text += ": " + e.Description
	}
	return text
}

// A RegistrationError says that there is no client id to sign in with: the authorization server refused to register
// this client (RFC 7591, section 3.2.2), or registers none, or is not to be asked. A client id that somebody got there
// by hand, in Config.Client, goes without.
type RegistrationError struct {
	Issuer    string
	Forbidden bool   // by Config.NoRegistration
	Status    int    // of the response; 0 when the server was not asked: it has no registration endpoint, or Forbidden
	Code      string // "invalid_redirect_uri", "" when the answer was no OAuth error
	Excerpt   string // of what the server said, one short line
}

// Error implements error.
func (e *RegistrationError) Error() string {
	text := "registration at " + excerpt(e.Issuer) + ": "
	switch {
	case e.Forbidden:
		return text + "Config.NoRegistration forbids it; configure a client id"
	case e.Status == 0:
		return text + "the server does not offer it; configure a client id"
	}
	text += statusText(e.Status)
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Excerpt != "" {
		text += ": " + e.Excerpt
	}
	return text + " (a configured client id needs no registration)"
}

func statusText(status int) string {
	if name := http.StatusText(status); name != "" {
		return fmt.Sprintf("%d %s", status, name)
	}
	return strconv.Itoa(status)
}

// maxExcerpt bounds a server's words in an error.
const maxExcerpt = 300

// excerpt makes one short line of a server's words, without any of the secrets that they were an answer to.
func excerpt(text string, secrets ...string) string {
	return oneline.Of(redact(text, secrets), maxExcerpt)
}

// redact cuts out secrets, as they are and as they stand in a form.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "***")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "***")
		}
	}
	return text
}

// hide cuts secrets out of the error of a request: net/http repeats a header that it cannot read, and a redirect leads
// to wherever a server says.
func hide(err error, secrets []string) error {
	var endpoint *EndpointError
	switch text := err.Error(); {
	case redact(text, secrets) == text:
		return err
	case errors.As(err, &endpoint):
		return &EndpointError{redact(endpoint.URL, secrets), endpoint.Reason}
	default:
		return errors.New(excerpt(text, secrets...))
	}
}

// minSecret keeps a made-up secret of two letters from making nonsense of a sentence.
const minSecret = 4

// boundary names the package, once.
func boundary(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("oauth: %w", err)
}
