package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

var testKey, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)

func withSecret(f *fake) func(*oauth.Config) {
	f.addClient(&fakeClient{id: "machine", secret: "machine-secret", method: "client_secret_basic"})
	return func(c *oauth.Config) {
		c.Grant = oauth.ClientCredentials{}
		c.Client = &oauth.Client{ID: "machine", Secret: "machine-secret"}
	}
}

func TestClientCredentials(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	a := newAuthorizer(t, f, withSecret(f))
	requireCall(t, f, a)
	assert.Equal(t, "client_credentials", f.lastForm().Get("grant_type"))
	assert.Equal(t, "read", f.lastForm().Get("scope"))
	for range 3 {
		f.revoke()
		before := f.seen("/token")
		calls(t, f, 20, a)
		assert.Equal(t, before+1, f.seen("/token"), "one request for all")
	}
	f.wanted = []string{"write"}
	requireCall(t, f, a)
	assert.Equal(t, "read write", f.lastForm().Get("scope"))
	assert.Zero(t, f.seen("/register"))

	_, err := a.StartSignIn(t.Context(), nil)
	assert.Error(t, err)
}

func TestMachinesThatShareAStore(t *testing.T) {
	f := newFake(t)
	store, secret := oauth.NewMemoryStore(), withSecret(f)
	shared := func(c *oauth.Config) {
		secret(c)
		c.Store = store
	}
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	for range 3 {
		before := f.seen("/token")
		calls(t, f, 10, a, b)
		assert.Equal(t, before+1, f.seen("/token"))
		f.revoke()
	}
}

func TestATokenWithoutACall(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, withSecret(f))
	first, err := a.Token(t.Context())
	require.NoError(t, err)
	second, err := a.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, first, second)

	_, err = newAuthorizer(t, f, nil).Token(t.Context())
	var required *oauth.SignInRequiredError
	assert.ErrorAs(t, err, &required)
}

func TestAMachineThatIsRefused(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, withSecret(f))
	requireCall(t, f, a)
	f.challenge = func(*http.Request) string { return "Bearer" }
	for range 3 {
		_, err := call(t.Context(), f, a)
		var refused *oauth.RefusedError
		require.ErrorAs(t, err, &refused)
	}
	assert.Equal(t, 2, f.seen("/token"), "one attempt")

	f.challenge = nil
	f.narrow = true
	f.wanted = []string{"admin"}
	for range 3 {
		_, _ = call(t.Context(), f, a)
	}
	_, err := call(t.Context(), f, a)
	var refused *oauth.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, 4, f.seen("/token"), "two attempts at more scope")
}

func TestARefusedGrantIsFinal(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Grant = oauth.WorkloadIdentity{Assertion: func(context.Context, string) (string, error) { return "jwt", nil }}
	})
	f.token = func(w http.ResponseWriter, _ *http.Request) bool {
		refuse(w, http.StatusBadRequest, "unauthorized_client", "")
		return true
	}
	for range 3 {
		_, err := call(t.Context(), f, a)
		var e *oauth.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "unauthorized_client", e.Code)
	}
	assert.Equal(t, 1, f.seen("/token"))
}

func TestWorkloadIdentity(t *testing.T) {
	f := newFake(t)
	f.addClient(&fakeClient{id: "workload", method: "none"})
	failing := true
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client = &oauth.Client{ID: "workload"}
		c.Grant = oauth.WorkloadIdentity{Assertion: func(_ context.Context, audience string) (string, error) {
			assert.Equal(t, f.asURL, audience)
			if failing {
				return "", errNoPlatform
			}
			return "platform.jwt.x", nil
		}}
	})
	_, err := call(t.Context(), f, a)
	require.ErrorIs(t, err, errNoPlatform)

	failing = false
	b := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client = &oauth.Client{ID: "workload"}
		c.Grant = oauth.WorkloadIdentity{Assertion: func(context.Context, string) (string, error) {
			return "platform.jwt.x", nil
		}}
	})
	requireCall(t, f, b)
	form := f.lastForm()
	assert.Equal(t, "urn:ietf:params:oauth:grant-type:jwt-bearer", form.Get("grant_type"))
	assert.Equal(t, "platform.jwt.x", form.Get("assertion"))
	assert.Equal(t, "workload", form.Get("client_id"))
}

var errNoPlatform = errors.New("the platform has no token")

func TestEnterpriseManaged(t *testing.T) {
	f, idp := newFake(t), newFake(t)
	idp.token = func(w http.ResponseWriter, r *http.Request) bool {
		id, secret, _ := r.BasicAuth()
		assert.Equal(t, "at-idp", id)
		assert.Equal(t, "idp-secret", secret)
		writeJSON(w, 200, map[string]any{
			"access_token": "the-id-jag", "token_type": "N_A",
			"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
		})
		return true
	}
	f.addClient(&fakeClient{id: "app", secret: "app-secret", method: "client_secret_basic"})
	f.wanted = []string{"chat"}
	for name, provider := range map[string]oauth.EnterpriseManaged{
		"token endpoint": {TokenEndpoint: idp.asURL + "/token"},
		"issuer":         {Issuer: idp.asURL},
	} {
		t.Run(name, func(t *testing.T) {
			provider.Client = oauth.Client{ID: "at-idp", Secret: "idp-secret"}
			provider.Subject = func(context.Context) (string, error) { return "id-token", nil }
			a := newAuthorizer(t, f, func(c *oauth.Config) {
				c.Client = &oauth.Client{ID: "app", Secret: "app-secret"}
				c.Grant = provider
			})
			requireCall(t, f, a)
			assert.Equal(t, url.Values{
				"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
				"requested_token_type": {"urn:ietf:params:oauth:token-type:id-jag"},
				"audience":             {f.asURL},
				"resource":             {f.url()},
				"scope":                {"chat"},
				"subject_token":        {"id-token"},
				"subject_token_type":   {"urn:ietf:params:oauth:token-type:id_token"},
			}, idp.lastForm())
			assert.Equal(t, "the-id-jag", f.lastForm().Get("assertion"))
		})
	}
}

func TestEnterpriseManagedRefusedByTheProvider(t *testing.T) {
	f, idp := newFake(t), newFake(t)
	idp.token = func(w http.ResponseWriter, r *http.Request) bool {
		refuse(w, http.StatusBadRequest, "invalid_grant", "no such user: "+r.PostForm.Get("subject_token"))
		return true
	}
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client = &oauth.Client{ID: "app"}
		c.Grant = oauth.EnterpriseManaged{
			TokenEndpoint: idp.asURL + "/token",
			Client:        oauth.Client{ID: "at-idp"},
			Subject:       func(context.Context) (string, error) { return "secret-id-token", nil },
		}
	})
	_, err := call(t.Context(), f, a)
	assert.EqualError(t, err,
		"oauth: identity provider: the authorization server answered invalid_grant: no such user: ***")
	assert.Zero(t, f.seen("/token"))
}

// TestClientAssertion checks the assertions of all kinds of keys, and what they claim.
func TestClientAssertion(t *testing.T) {
	for alg, key := range testKeys(t) {
		t.Run(alg, func(t *testing.T) {
			f := newFake(t)
			f.metadata = func(m map[string]any) {
				m["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"}
				m["token_endpoint_auth_signing_alg_values_supported"] = []string{alg}
			}
			f.addClient(&fakeClient{id: "machine", method: "private_key_jwt"})
			a := newAuthorizer(t, f, func(c *oauth.Config) {
				c.Grant = oauth.ClientCredentials{}
				c.Client = &oauth.Client{ID: "machine", SigningKey: opaque{key}, KeyID: "k1"}
			})
			requireCall(t, f, a)
			assert.False(t, f.lastForm().Has("client_id"), "the assertion says it")

			d := decodeJWT(t, f.lastForm().Get("client_assertion"))
			assert.Equal(t, alg, d.header["alg"])
			assert.Equal(t, "k1", d.header["kid"])
			assert.Equal(t, "machine", d.claims["iss"])
			assert.Equal(t, "machine", d.claims["sub"])
			assert.Equal(t, f.asURL, d.claims["aud"])
			assert.NotEmpty(t, d.claims["jti"])
			assert.InDelta(t, time.Now().Add(time.Minute).Unix(), d.claims["exp"], 5)
			assert.True(t, verify(key.Public(), d))

			f.metadata = func(m map[string]any) {
				m["token_endpoint_auth_signing_alg_values_supported"] = []string{"PS256"}
			}
			f.revoke()
			_, err := call(t.Context(), f, a)
			assert.ErrorContains(t, err, "PS256")
		})
	}
}

// opaque is a key that only signs, as one in a module does.
type opaque struct{ crypto.Signer }

func testKeys(t *testing.T) map[string]crypto.Signer {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	p521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return map[string]crypto.Signer{"ES256": testKey, "ES384": p384, "ES512": p521, "RS256": rs, "EdDSA": ed}
}

func verify(key crypto.PublicKey, d decodedJWT) bool {
	input := []byte(d.input)
	switch key := key.(type) {
	case *rsa.PublicKey:
		hash := sha256.Sum256(input)
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], d.signature) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(key, input, d.signature)
	case *ecdsa.PublicKey:
		half := len(d.signature) / 2
		r, s := new(big.Int).SetBytes(d.signature[:half]), new(big.Int).SetBytes(d.signature[half:])
		switch half {
		case 32:
			hash := sha256.Sum256(input)
			return ecdsa.Verify(key, hash[:], r, s)
		case 48:
			hash := sha512.Sum384(input)
			return ecdsa.Verify(key, hash[:], r, s)
		case 66:
			hash := sha512.Sum512(input)
			return ecdsa.Verify(key, hash[:], r, s)
		}
	}
	return false
}

// TestAProviderThatIsKnownByItsEndpoint gets an assertion whose audience is that, for want of an issuer.
func TestAProviderThatIsKnownByItsEndpoint(t *testing.T) {
	f, idp := newFake(t), newFake(t)
	idp.token = func(w http.ResponseWriter, _ *http.Request) bool {
		writeJSON(w, 200, map[string]any{"access_token": "the-id-jag", "token_type": "N_A"})
		return true
	}
	f.addClient(&fakeClient{id: "app", method: "none"})
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client = &oauth.Client{ID: "app"}
		c.Grant = oauth.EnterpriseManaged{
			TokenEndpoint: idp.asURL + "/token",
			Client:        oauth.Client{ID: "at-idp", SigningKey: testKey},
			Subject:       func(context.Context) (string, error) { return "id-token", nil },
		}
	})
	requireCall(t, f, a)
	assert.Equal(t, idp.asURL+"/token", decodeJWT(t, idp.lastForm().Get("client_assertion")).claims["aud"])
}

// TestAGrantMayBeAPointer, and its URLs are checked all the same.
func TestAGrantMayBeAPointer(t *testing.T) {
	_, err := oauth.New(oauth.Config{
		Server: "https://example.com/mcp",
		Client: &oauth.Client{ID: "app"},
		Grant: &oauth.EnterpriseManaged{
			Issuer:  "not a URL",
			Client:  oauth.Client{ID: "at-idp"},
			Subject: func(context.Context) (string, error) { return "id-token", nil },
		},
	})
	assert.ErrorContains(t, err, "EnterpriseManaged.Issuer")
}
