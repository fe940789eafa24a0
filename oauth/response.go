package oauth

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
)

// A Response is what an authorization server sent back by the user's browser (RFC 6749, section 4.1.2; RFC 9207).
// Nothing that formats it shows the code.
type Response struct {
	Code   string
	State  string
	Issuer string // "iss"

	// Not to be shown to anybody before CompleteSignIn has found that they come from the right server.
	Error            string
	ErrorDescription string
	ErrorURI         string

	// RedirectURL is where the answer came in, without its parameters; "" if that is not known.
	RedirectURL string
}

// ResponseFromRedirectURL reads the URL that the browser was sent to: from a callback page, or as a user pasted it.
func ResponseFromRedirectURL(raw string) (*Response, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("oauth: the redirect URL cannot be read") // the cause shows it, and the code in it
	}
	r, ok := responseFromQuery(u.Query())
	if !ok {
		return nil, errors.New("oauth: the redirect URL has one of its parameters twice")
	}
	if r.Code == "" && r.Error == "" {
		return nil, errors.New("oauth: the redirect URL has neither a code nor an error")
	}
	if u.RawQuery, u.Fragment = "", ""; u.Scheme != "" {
		r.RedirectURL = u.String()
	}
	return r, nil
}

// responseFromQuery takes no parameter that comes twice (RFC 6749, section 4.1.2): which of the two counts is what
// attackers like to play with.
func responseFromQuery(q url.Values) (r *Response, ok bool) {
	for _, name := range []string{"code", "state", "iss", "error"} {
		if len(q[name]) > 1 {
			return nil, false
		}
	}
	return &Response{
		Code:             q.Get("code"),
		State:            q.Get("state"),
		Issuer:           q.Get("iss"),
		Error:            q.Get("error"),
		ErrorDescription: q.Get("error_description"),
		ErrorURI:         q.Get("error_uri"),
	}, true
}

// check finds out whether the response is the answer to the sign-in, and whether it is one that brings a code. First of
// all comes who it is from: of somebody else's answer nothing is used, its error included (RFC 9207, section 2.4; MCP,
// "Authorization Response Validation"). The issuers are compared as they are.
func (r *Response) check(s *SignIn) error {
	if r.Issuer != s.Issuer && (r.Issuer != "" || s.IssuerInResponse) {
		return fmt.Errorf("the answer to the sign-in: %w", &IssuerError{Expected: s.Issuer, Got: r.Issuer})
	}
	if subtle.ConstantTimeCompare([]byte(r.State), []byte(s.State)) != 1 || s.State == "" {
		return ErrWrongState
	}
	if r.RedirectURL != "" && !sameRedirect(r.RedirectURL, s.RedirectURL) {
		return fmt.Errorf("%w: it came to another redirect URL", ErrWrongState)
	}
	if r.Error != "" {
		return &Error{
			Code:        excerpt(r.Error),
			Description: excerpt(r.ErrorDescription),
			URI:         excerpt(r.ErrorURI),
		}
	}
	if r.Code == "" {
		return errors.New("the answer to the sign-in has no code")
	}
	return nil
}

// sameRedirect compares without the query, of which a redirect URL may have one of its own, and as browsers write URLs:
// the host in lower case, no default port, and a path in any case.
func sameRedirect(got, want string) bool {
	a, err := url.Parse(got)
	b, err2 := url.Parse(want)
	return err == nil && err2 == nil && sameOrigin(a, b) && cmp.Or(a.EscapedPath(), "/") == cmp.Or(b.EscapedPath(), "/")
}
