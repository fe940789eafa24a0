package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// unread is a body that nobody may touch.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) { return 0, errors.New("read") }
func (u unread) Close() error             { u.t.Error("closed"); return nil }

func challenged(t *testing.T, status int, challenges ...string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": challenges}, Body: unread{t}}
}

func TestInspectOfChallenges(t *testing.T) {
	const document = "https://h/.well-known/oauth-protected-resource"
	for name, c := range map[string]struct {
		status     int
		challenges []string
		want       *oauth.SignInRequiredError // nil: not for us
	}{
		"bearer": {401, []string{`Bearer resource_metadata="` + document + `", scope="a b"`},
			&oauth.SignInRequiredError{Status: 401, ResourceMetadata: document, Scopes: []string{"a", "b"}}},
		"in any case": {401, []string{`bearer scope=a`}, &oauth.SignInRequiredError{Status: 401, Scopes: []string{"a"}}},
		"one of several": {401, []string{`Basic realm="x", Bearer scope="a"`, `DPoP algs="ES256", scope="z"`},
			&oauth.SignInRequiredError{Status: 401, Scopes: []string{"a"}}},
		"dpop": {401, []string{`DPoP resource_metadata="` + document + `"`},
			&oauth.SignInRequiredError{Status: 401, ResourceMetadata: document}},
		"description": {401, []string{"Bearer error_description=\"no\ttoken\""},
			&oauth.SignInRequiredError{Status: 401, Description: "no token"}},
		"none":        {401, nil, &oauth.SignInRequiredError{Status: 401}},
		"empty scope": {401, []string{`Bearer scope=""`}, &oauth.SignInRequiredError{Status: 401}},
		"scope too narrow for no token at all": {403, []string{`Bearer error="insufficient_scope", scope="a"`},
			&oauth.SignInRequiredError{Status: 403, Scopes: []string{"a"}}},
		"for somebody else": {401, []string{`Basic realm="x"`}, nil},
		"forbidden":         {403, nil, nil},
		"another status":    {500, []string{`Bearer`}, nil},
		"success":           {200, []string{`Bearer`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var seen []oauth.Challenge
			calls := 0
			a := newAuthorizer(t, f, func(o *oauth.Config) {
				o.OnChallenge = func(_ context.Context, status int, challenges []oauth.Challenge) {
					assert.Equal(t, c.status, status)
					seen = challenges
					calls++
				}
			})
			req, err := http.NewRequest(http.MethodPost, f.url(), nil)
			require.NoError(t, err)
			require.NoError(t, a.Authorize(t.Context(), req, true))
			assert.Empty(t, req.Header)
			retry, err := a.Inspect(t.Context(), req, challenged(t, c.status, c.challenges...))
			assert.False(t, retry)
			if c.want == nil {
				require.NoError(t, err)
			} else {
				var required *oauth.SignInRequiredError
				require.ErrorAs(t, err, &required)
				c.want.Server = f.url()
				assert.Equal(t, c.want, required)
			}
			if c.status == 401 || c.status == 403 {
				assert.Equal(t, oauth.ParseChallenges(c.challenges), seen)
				assert.Equal(t, 1, calls)
				return
			}
			assert.Zero(t, calls)
		})
	}
}

// TestNothingIsAskedForACleanUp: with refresh false there is no I/O, and what is in memory is used.
func TestNothingIsAskedForACleanUp(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	signIn(t, f, a)
	req, err := http.NewRequest(http.MethodDelete, f.url(), nil)
	require.NoError(t, err)
	require.NoError(t, a.Authorize(t.Context(), req, false))
	assert.Contains(t, req.Header.Get("Authorization"), "Bearer ")

	b := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = forbidden{t} })
	req.Header.Del("Authorization")
	require.NoError(t, b.Authorize(t.Context(), req, false))
	assert.Empty(t, req.Header.Get("Authorization"))
}

// forbidden is a store that nobody may ask.
type forbidden struct{ t *testing.T }

func (s forbidden) Load(context.Context, string) ([]byte, error) {
	s.t.Error("Load")
	return nil, nil
}

func (s forbidden) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	s.t.Error("Update")
	return nil
}

// TestATokenGoesToItsServerOnly has transports that are not at the Server of the Config.
func TestATokenGoesToItsServerOnly(t *testing.T) {
	f, other := newFake(t), newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	for _, at := range []string{other.url(), "https" + strings.TrimPrefix(f.url(), "http"), "https://evil.example/mcp"} {
		for _, refresh := range []bool{true, false} {
			req, err := http.NewRequest(http.MethodPost, at, nil)
			require.NoError(t, err)
			var refused *oauth.EndpointError
			require.ErrorAs(t, a.Authorize(t.Context(), req, refresh), &refused, at)
			assert.Equal(t, at, refused.URL)
			assert.Empty(t, req.Header)
		}
	}
	requireCall(t, f, a)

	_, err := call(t.Context(), other, newAuthorizer(t, f, nil))
	assert.NoError(t, err, "what another server demands, nobody meets")
}

// TestATokenIsNotSentInTheOpen has one from a time when the server was at https.
func TestATokenIsNotSentInTheOpen(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	signIn(t, f, newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store }))
	record, err := store.Load(t.Context(), f.url())
	require.NoError(t, err)
	const server = "http://mcp.example/mcp"
	require.NoError(t, store.Update(t.Context(), server, func([]byte) ([]byte, error) { return record, nil }))
	a, err := oauth.New(oauth.Config{Server: server, Store: store})
	require.NoError(t, err)
	req, err := http.NewRequest(http.MethodPost, server, nil)
	require.NoError(t, err)
	assert.ErrorContains(t, a.Authorize(t.Context(), req, true), "it is not https")
	assert.Empty(t, req.Header)
}
