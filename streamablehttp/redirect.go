package streamablehttp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 5

// redirected returns where a response sends its request, nil if it does not. A request is repeated as it is or not at
// all (RFC 9110, section 15.4): never as a GET in place of a POST, and never at another origin, which would get headers
// that are not meant for it.
func redirected(req *http.Request, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, fmt.Errorf("%s answered %s without a usable target", req.Method, resp.Status)
	}
	target := req.URL.ResolveReference(location)
	var why string
	switch {
	case !sameOrigin(req.URL, target):
		why = "another origin"
	case resp.StatusCode < http.StatusTemporaryRedirect && req.Method != http.MethodGet:
		why = "which would change its method"
	default:
		if target.User == nil {
			target.User = req.URL.User // which is meant for this origin
		}
		return target, nil
	}
	return nil, &redirectError{fmt.Errorf("%s was redirected (%s) to %s, %s", req.Method, resp.Status, place(target), why)}
}

// redirectError is a redirect that is not followed. Asking again would not change it.
type redirectError struct{ error }

var errRedirects = &redirectError{errors.New("too many redirects")}

// sameOrigin compares scheme, host and port (RFC 6454, section 5).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// place is a URL without its secrets: no user, no query.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }
