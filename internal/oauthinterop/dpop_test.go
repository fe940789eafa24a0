package oauthinterop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// proofs checks those of requests to the MCP server (RFC 9449, section 4.3), in place of the Go SDK, which knows bearer
// tokens only: it is given the token as one. Each nonce is good for three requests.
type proofs struct {
	world *world

	mu    sync.Mutex
	nonce string
	uses  int
	seen  map[string]bool // by jti
	asked int             // for a proof with another nonce
}

func (p *proofs) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(challenge string) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`DPoP algs="ES256", resource_metadata=%q, scope=%q`,
				p.world.metadataURL(), scopeTools)+challenge)
			w.WriteHeader(http.StatusUnauthorized)
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
		if !ok {
			refuse("")
			return
		}
		switch err := p.check(r, token); {
		case errors.Is(err, errNonce):
			p.mu.Lock()
			w.Header().Set("DPoP-Nonce", p.nonce)
			p.mu.Unlock()
			refuse(`, error="use_dpop_nonce"`)
		case errors.Is(err, auth.ErrInvalidToken):
			refuse(`, error="invalid_token"`)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest) // which no client is to see
		default:
			r.Header.Set("Authorization", "Bearer "+token)
			next.ServeHTTP(w, r)
		}
	})
}

var errNonce = errors.New("another nonce is wanted")

type proofClaims struct {
	jwt.RegisteredClaims
	Method string `json:"htm"`
	URL    string `json:"htu"`
	Token  string `json:"ath"`
	Nonce  string `json:"nonce"`
}

func (p *proofs) check(r *http.Request, token string) error {
	var claims proofClaims
	var thumbprint string
	_, err := jwt.ParseWithClaims(r.Header.Get("DPoP"), &claims, func(t *jwt.Token) (key any, err error) {
		if t.Header["typ"] != "dpop+jwt" {
			return nil, errors.New("the proof has another type")
		}
		key, thumbprint, err = proofKey(t.Header["jwk"])
		return key, err
	}, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuedAt())
	if err != nil {
		return err
	}
	if err := p.use(&claims); err != nil {
		return err
	}
	info, err := p.world.introspect(r.Context(), token)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(token))
	switch {
	case claims.Method != r.Method || claims.URL != p.world.url:
		return fmt.Errorf("the proof is for %s %s", claims.Method, claims.URL)
	case claims.Token != base64.RawURLEncoding.EncodeToString(hash[:]):
		return errors.New("the proof is for another token")
	case info.Key.Thumbprint == "" || info.Key.Thumbprint != thumbprint:
		return errors.New("the token is bound to another key")
	}
	return nil
}

func (p *proofs) use(claims *proofClaims) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[claims.ID] || claims.ID == "" {
		return errors.New("the proof was used before")
	}
	p.seen[claims.ID] = true
	if p.uses++; p.uses%3 == 1 {
		p.nonce = rand.Text()
	}
	if claims.Nonce != p.nonce {
		p.asked++
		return errNonce
	}
	return nil
}

// proofKey reads a JSON Web Key, and makes its thumbprint (RFC 7638).
func proofKey(value any) (key *ecdsa.PublicKey, thumbprint string, err error) {
	jwk, _ := value.(map[string]any)
	if jwk["kty"] != "EC" || jwk["crv"] != "P-256" || jwk["d"] != nil {
		return nil, "", errors.New("the proof has no key for ES256, or a private one")
	}
	point := []byte{4}
	for _, name := range []string{"x", "y"} {
		text, _ := jwk[name].(string)
		number, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return nil, "", err
		}
		point = append(point, number...)
	}
	key, err = ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	hash := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, jwk["x"], jwk["y"]))
	return key, base64.RawURLEncoding.EncodeToString(hash[:]), err
}

func TestDPoPWithNoncesOfBothServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: 2, Nonces: true})
	p := &proofs{world: w, seen: make(map[string]bool)}
	w.guard = p.wrap
	client, a := signedIn(t, w, startBrowser(t), oauth.Config{DPoP: true})
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "DPoP", token.Type)
	callUntil(t, w, client, 2)
	assert.Greater(t, p.asked, 1, "the nonce has changed")
	refused := w.provider.seen().Refused
	assert.Equal(t, map[string]int{"use_dpop_nonce": 1}, refused, "once, then it is known")
}
