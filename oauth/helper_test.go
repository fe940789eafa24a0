package oauth_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// The fit that the packages may not know of each other.
var _ streamablehttp.Authorizer = (*oauth.Authorizer)(nil)

const redirectURL = "http://127.0.0.1:7777/callback" // nobody listens there

func newAuthorizer(t *testing.T, f *fake, change func(*oauth.Config)) *oauth.Authorizer {
	t.Helper()
	c := oauth.Config{Server: f.url(), RedirectURL: redirectURL, HTTP: f.http}
	if change != nil {
		change(&c)
	}
	a, err := oauth.New(c)
	require.NoError(t, err)
	return a
}

// call makes a request as the transport does: with credentials, and once more if the Authorizer says so. It returns the
// status.
func call(ctx context.Context, f *fake, a *oauth.Authorizer) (int, error) {
	for again := false; ; again = true {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url(), nil)
		if err != nil {
			return 0, err
		}
		if err := a.Authorize(ctx, req, true); err != nil {
			return 0, err
		}
		resp, err := f.http.Do(req)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		retry, err := a.Inspect(ctx, req, resp)
		if err != nil || !retry || again {
			return resp.StatusCode, err
		}
	}
}

// consent is the user in a browser who agrees; it returns what comes back.
func consent(t *testing.T, f *fake, s *oauth.SignIn) *oauth.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AuthorizationURL, nil)
	require.NoError(t, err)
	resp, err := f.http.Transport.RoundTrip(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusFound, resp.StatusCode)
	response, err := oauth.ResponseFromRedirectURL(resp.Header.Get("Location"))
	require.NoError(t, err)
	return response
}

// signIn signs in from beginning to end.
func signIn(t *testing.T, f *fake, a *oauth.Authorizer) *oauth.SignIn {
	t.Helper()
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	require.False(t, s.Done())
	require.NoError(t, a.CompleteSignIn(t.Context(), s, consent(t, f, s)))
	return s
}

func requireCall(t *testing.T, f *fake, a *oauth.Authorizer) {
	t.Helper()
	status, err := call(t.Context(), f, a)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

// requireSignIn makes a call that must ask for a sign-in.
func requireSignIn(t *testing.T, f *fake, a *oauth.Authorizer) *oauth.SignInRequiredError {
	t.Helper()
	_, err := call(t.Context(), f, a)
	var required *oauth.SignInRequiredError
	require.ErrorAs(t, err, &required)
	return required
}
