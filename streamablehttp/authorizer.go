package streamablehttp

import (
	"context"
	"net/http"
)

// Authorizer is what stands between the transport and credentials: bearer tokens, proofs of possession, anything that a
// request can carry. Both methods may be called concurrently, also for requests that were challenged at the same time:
// an Authorizer that recovers (refreshes a token, asks the user) does it once for all of them.
//
// Requests go to the origin of [Transport].URL and nowhere else.
type Authorizer interface {
	// Authorize adds credentials to req, which is complete but for them; it may change nothing else. It is called for
	// each request that goes out, a repeated one included, so that a proof can be made of method and URL. With refresh
	// false it uses what is at hand and does no I/O: the request only cleans up (the DELETE of a session, the notice of
	// a cancellation), and nobody is asked on its behalf. An error means that req is not sent.
	Authorize(ctx context.Context, req *http.Request, refresh bool) error

	// Inspect sees every response, but not a 401 or 403 to a request that was authorized with refresh false. It must
	// not read the body. Retry says that it met a challenge and that the request may be sent once more, with new
	// credentials; that happens at most twice for each message (a new nonce, say, and then a new token), and only after
	// a response of 400 or above. An error ends the exchange; it is found by errors.Is and errors.As, as is the
	// [*StatusError] of the response.
	Inspect(ctx context.Context, req *http.Request, resp *http.Response) (retry bool, err error)
}

// StaticToken returns an Authorizer that sends token as a bearer token (RFC 6750) with every request. It meets no
// challenge.
func StaticToken(token string) Authorizer { return staticToken("Bearer " + token) }

type staticToken string

func (t staticToken) Authorize(_ context.Context, req *http.Request, _ bool) error {
	req.Header.Set("Authorization", string(t))
	return nil
}

func (staticToken) Inspect(context.Context, *http.Request, *http.Response) (bool, error) {
	return false, nil
}

// Nothing that formats a transport shows the token.
func (staticToken) String() string   { return "StaticToken" }
func (staticToken) GoString() string { return "StaticToken" }
