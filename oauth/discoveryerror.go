package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An EndpointError is a URL that is not used: it is not https and not on loopback, or not a URL at all, or it leads to
// another origin, or to an address that a server on the public network has no business with (see
// [Config].AllowPrivate).
type EndpointError struct {
	URL    string // without user, query and fragment
	Reason string
}

func (e *EndpointError) Error() string {
	return fmt.Sprintf("%s is refused: %s", excerpt(e.URL), e.Reason)
}

// An IssuerError is an authorization server that gives itself another name than the one under which it was looked for:
// in its metadata (RFC 8414, section 3.3), or in an authorization response (RFC 9207, section 2.4). It may be somebody
// else's.
type IssuerError struct {
	Expected string
	Got      string // "" if there was none
}

func (e *IssuerError) Error() string {
	switch {
	case e.Expected == "":
		return "no issuer is given"
	case e.Got == "":
		return fmt.Sprintf("no issuer is given, expected %.300q", e.Expected)
	}
	return fmt.Sprintf("the issuer is %.300q, expected %.300q", e.Got, e.Expected)
}

// A ResourceError is protected resource metadata that is about another resource than the server that it was looked for
// (RFC 9728, section 3.3). A token for it could be used elsewhere.
type ResourceError struct {
	Server   string // without user, query and fragment
	Resource string // as the metadata has it
}

func (e *ResourceError) Error() string {
	return fmt.Sprintf("the metadata is of the resource %.300q, which %s is no part of", e.Resource, e.Server)
}

// A DiscoveryError says that metadata was not found, or none that may be used, and what was tried. errors.Is and
// errors.As see the error of each attempt.
type DiscoveryError struct {
	Document string // "protected resource metadata" or "authorization server metadata"
	Attempts []DiscoveryAttempt
}

// A DiscoveryAttempt is a URL that a [DiscoveryError] tells about, and why it had nothing to use. Err has nothing of
// a response but its status and, in an error of this package, the values that it names.
type DiscoveryAttempt struct {
	URL string // without user, query and fragment
	Err error
}

func (e *DiscoveryError) Error() string {
	tried := make([]string, len(e.Attempts))
	for i, a := range e.Attempts {
		tried[i] = a.Err.Error()
		if at := excerpt(a.URL); !strings.HasPrefix(tried[i], at) {
			tried[i] = at + ": " + tried[i]
		}
	}
	return "no usable " + e.Document + ": " + strings.Join(tried, "; ")
}

// Unwrap returns the errors of all attempts.
func (e *DiscoveryError) Unwrap() []error {
	errs := make([]error, len(e.Attempts))
	for i, a := range e.Attempts {
		errs[i] = a.Err
	}
	return errs
}

// statusError is a response that has no document.
type statusError int

func (e statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("answered %d %s", int(e), http.StatusText(int(e))))
}

// place is a URL without what may be a secret in it.
func place(u *url.URL) string {
	if u.Host == "" {
		return u.Scheme + ":" // of an opaque one nothing is known
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// placeOf is the place of a text that may be no URL.
func placeOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	return place(u)
}
