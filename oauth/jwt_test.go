package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type decodedJWT struct {
	header, claims map[string]any
	input          string
	signature      []byte
}

func decode64(t *testing.T, s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	require.NoError(t, err)
	return b
}

func decodeJWT(t *testing.T, token string) decodedJWT {
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	d := decodedJWT{input: parts[0] + "." + parts[1], signature: decode64(t, parts[2])}
	require.NoError(t, json.Unmarshal(decode64(t, parts[0]), &d.header))
	require.NoError(t, json.Unmarshal(decode64(t, parts[1]), &d.claims))
	return d
}

// verifyES256 checks a signature as RFC 7518, section 3.4, has it.
func verifyES256(t *testing.T, d decodedJWT, x, y []byte) bool {
	require.Len(t, d.signature, 64)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	require.NoError(t, err)
	hash := sha256.Sum256([]byte(d.input))
	r, s := new(big.Int).SetBytes(d.signature[:32]), new(big.Int).SetBytes(d.signature[32:])
	return ecdsa.Verify(key, hash[:], r, s)
}

// proof checks the proof of a request (RFC 9449, section 4.3) and returns the thumbprint of its key. If the proof lacks
// the nonce, the request is answered and ok is false.
func (f *fake) proof(w http.ResponseWriter, r *http.Request, target, token string) (key string, ok bool) {
	proofs := r.Header.Values("DPoP")
	if !assert.Len(f.t, proofs, 1) {
		refuse(w, http.StatusBadRequest, "invalid_dpop_proof", "")
		return "", false
	}
	d := decodeJWT(f.t, proofs[0])
	assert.Equal(f.t, "dpop+jwt", d.header["typ"])
	assert.Equal(f.t, "ES256", d.header["alg"])
	jwk := d.header["jwk"].(map[string]any)
	assert.Len(f.t, jwk, 4, "the public key and nothing else")
	x, y := jwk["x"].(string), jwk["y"].(string)
	assert.True(f.t, verifyES256(f.t, d, decode64(f.t, x), decode64(f.t, y)))
	assert.Equal(f.t, r.Method, d.claims["htm"])
	assert.Equal(f.t, target, d.claims["htu"])
	assert.InDelta(f.t, time.Now().Unix(), d.claims["iat"], 60)
	if token == "" {
		assert.NotContains(f.t, d.claims, "ath")
	} else {
		hash := sha256.Sum256([]byte(token))
		assert.Equal(f.t, base64.RawURLEncoding.EncodeToString(hash[:]), d.claims["ath"])
	}
	jti := d.claims["jti"].(string)
	f.mu.Lock()
	assert.False(f.t, f.jtis[jti], "a proof was used twice")
	f.jtis[jti] = true
	nonce := f.nonce
	f.mu.Unlock()
	if got, _ := d.claims["nonce"].(string); got != nonce {
		w.Header().Set("DPoP-Nonce", nonce)
		if token == "" {
			refuse(w, http.StatusBadRequest, "use_dpop_nonce", "")
			return "", false
		}
		w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		w.WriteHeader(http.StatusUnauthorized)
		return "", false
	}
	hash := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + x + `","y":"` + y + `"}`)) // RFC 7638
	return base64.RawURLEncoding.EncodeToString(hash[:]), true
}
