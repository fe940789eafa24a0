package oauth_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func withDPoP(c *oauth.Config) { c.DPoP = true }

// The fake checks each proof (RFC 9449, section 4.3), and that the key stays the same.
func TestDPoP(t *testing.T) {
	for name, nonce := range map[string]string{"without a nonce": "", "with nonces": "n1"} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.dpop, f.nonce = true, nonce
			store := oauth.NewMemoryStore()
			shared := func(c *oauth.Config) { c.DPoP, c.Store = true, store }
			a := newAuthorizer(t, f, shared)
			requireSignIn(t, f, a)
			signIn(t, f, a)
			requireCall(t, f, a)
			requireCall(t, f, a)
			if nonce != "" {
				f.mu.Lock()
				f.nonce = "n2"
				f.mu.Unlock()
			}
			requireCall(t, f, a)
			f.revoke()
			requireCall(t, f, a)
			f.revoke()
			b := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
			status, err := call(t.Context(), f, b) // the token is bound, whatever the configuration says now
			require.NoError(t, err)
			if nonce == "" {
				assert.Equal(t, http.StatusOK, status)
			}
			requireCall(t, f, b)
			token, err := b.Token(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "DPoP", token.Type)
			assert.Zero(t, f.lostGrants())
		})
	}
}

func TestDPoPForAMachine(t *testing.T) {
	f := newFake(t)
	f.dpop, f.nonce = true, "n1"
	secret := withSecret(f)
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		secret(c)
		c.DPoP = true
	})
	_, err := call(t.Context(), f, a) // which learns the nonce of the MCP server
	require.NoError(t, err)
	requireCall(t, f, a)
	f.revoke()
	requireCall(t, f, a)
}

func TestDPoPIsNeverGivenUp(t *testing.T) {
	t.Run("bearer token", func(t *testing.T) {
		f := newFake(t)
		a := newAuthorizer(t, f, withDPoP)
		s, err := a.StartSignIn(t.Context(), nil)
		require.NoError(t, err)
		assert.ErrorIs(t, a.CompleteSignIn(t.Context(), s, consent(t, f, s)), oauth.ErrNoDPoP)
		requireSignIn(t, f, a)
	})
	t.Run("other algorithms", func(t *testing.T) {
		f := newFake(t)
		f.metadata = func(m map[string]any) { m["dpop_signing_alg_values_supported"] = []string{"RS256"} }
		_, err := newAuthorizer(t, f, withDPoP).StartSignIn(t.Context(), nil)
		assert.ErrorIs(t, err, oauth.ErrNoDPoP)
		secret := withSecret(f)
		a := newAuthorizer(t, f, func(c *oauth.Config) {
			secret(c)
			c.DPoP = true
		})
		_, err = call(t.Context(), f, a)
		assert.ErrorIs(t, err, oauth.ErrNoDPoP)
		assert.Zero(t, f.seen("/token"))
	})
}

// TestNoncesWithoutEnd has a server that is content with no nonce: the call must end.
func TestNoncesWithoutEnd(t *testing.T) {
	f := newFake(t)
	f.dpop = true
	a := newAuthorizer(t, f, withDPoP)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.token = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("DPoP-Nonce", unique("nonce"))
		refuse(w, http.StatusBadRequest, "use_dpop_nonce", "")
		return true
	}
	f.revoke()
	before := f.seen("/token")
	_, err := call(t.Context(), f, a)
	require.Error(t, err)
	assert.Equal(t, before+2, f.seen("/token"))
}

// TestProofsAreOfTheBareURL: htu has neither query nor fragment (RFC 9449, section 4.2).
func TestProofsAreOfTheBareURL(t *testing.T) {
	f := newFake(t)
	f.dpop = true
	a := newAuthorizer(t, f, withDPoP)
	signIn(t, f, a)
	req, err := http.NewRequest(http.MethodDelete, f.url()+"?session=1#top", nil)
	require.NoError(t, err)
	require.NoError(t, a.Authorize(t.Context(), req, false))
	claims := decodeJWT(t, req.Header.Get("DPoP")).claims
	assert.Equal(t, f.url(), claims["htu"])
	assert.Equal(t, "DELETE", claims["htm"])
}

func TestAServerThatWantsDPoPIsTold(t *testing.T) {
	f := newFake(t)
	f.resource = func(m map[string]any) { m["dpop_bound_access_tokens_required"] = true }
	_, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
	assert.ErrorContains(t, err, "Config.DPoP")
}
