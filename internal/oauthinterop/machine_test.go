package oauthinterop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// A machineClient is registered with the authorization server for client_credentials.
func machineClient(method string, more map[string]any) map[string]any {
	c := map[string]any{
		"client_id": "machine", "token_endpoint_auth_method": method, "grant_types": []string{"client_credentials"},
		"response_types": []string{}, "redirect_uris": []string{},
	}
	for name, value := range more {
		c[name] = value
	}
	return c
}

// callAsMachine calls as the client, which takes no more than one token.
func callAsMachine(t *testing.T, registered map[string]any, client *oauth.Client) {
	t.Helper()
	w := newWorld(t, providerOptions{Lifetime: hour, Clients: []map[string]any{registered}})
	a, err := oauth.New(oauth.Config{Server: w.url, Grant: oauth.ClientCredentials{}, Client: client})
	require.NoError(t, err)
	c, err := connect(w, a)
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, "you are machine", whoami(t, c))
	seen := w.provider.seen()
	assert.Equal(t, map[string]int{"client_credentials": 1}, seen.Grants)
	assert.Empty(t, seen.Refused)
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"client_secret_basic", "client_secret_post"} {
		t.Run(method, func(t *testing.T) {
			secret := "a secret: with / and % and + in it"
			callAsMachine(t, machineClient(method, map[string]any{"client_secret": secret}),
				&oauth.Client{ID: "machine", Secret: secret, AuthMethod: method})
		})
	}
}

func TestPrivateKeyJWT(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	point, err := key.PublicKey.Bytes()
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	jwk := map[string]any{"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig",
		"x": encode(point[1:33]), "y": encode(point[33:])}
	callAsMachine(t, machineClient("private_key_jwt", map[string]any{
		"token_endpoint_auth_signing_alg": "ES256",
		"jwks":                            map[string]any{"keys": []any{jwk}},
	}), &oauth.Client{ID: "machine", SigningKey: key, KeyID: "1"})
}
