package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Demonstrating Proof of Possession (RFC 9449): a token that is bound to a key, and a proof of the key with each
// request.

const (
	schemeBearer = "Bearer"
	schemeDPoP   = "DPoP"

	headerProof   = "DPoP"
	headerNonce   = "DPoP-Nonce"
	errorUseNonce = "use_dpop_nonce"
	dpopAlg       = "ES256"
)

// A dpopKey signs proofs. The record keeps it as PKCS #8.
type dpopKey struct {
	signer crypto.Signer
	jwk    map[string]string // the public half (RFC 7517)
}

func newDPoPKey() (*dpopKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return dpopKeyOf(key)
}

func dpopKeyOf(key *ecdsa.PrivateKey) (*dpopKey, error) {
	point, err := key.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		return nil, err
	}
	half := len(point) / 2
	return &dpopKey{signer: key, jwk: map[string]string{
		"kty": "EC", "crv": "P-256", "x": encode64(point[1 : 1+half]), "y": encode64(point[1+half:]),
	}}, nil
}

func parseDPoPKey(der []byte) (*dpopKey, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("the stored DPoP key cannot be read")
	}
	if ec, ok := key.(*ecdsa.PrivateKey); ok && ec.Curve == elliptic.P256() {
		return dpopKeyOf(ec)
	}
	return nil, fmt.Errorf("the stored DPoP key is a %T", key)
}

func (k *dpopKey) marshal() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.signer) }

// proof makes the DPoP header of one request (RFC 9449, section 4.2); token is "" in a request for a token.
func (k *dpopKey) proof(method string, target *url.URL, token, nonce string) (string, error) {
	claims := map[string]any{
		"jti": randomID(),
		"htm": method,
		"htu": bare(target),
		"iat": time.Now().Unix(),
	}
	if token != "" {
		hash := sha256.Sum256([]byte(token))
		claims["ath"] = encode64(hash[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return signJWT(k.signer, map[string]any{"typ": "dpop+jwt", "jwk": k.jwk}, claims)
}

// bare is a URL without user, query and fragment.
func bare(u *url.URL) string {
	b := *u
	b.User, b.RawQuery, b.ForceQuery, b.Fragment, b.RawFragment = nil, "", false, "", ""
	return b.String()
}

// proofNonce reads the nonce of a proof that this package made.
func proofNonce(proof string) string {
	_, rest, _ := strings.Cut(proof, ".")
	body, _, _ := strings.Cut(rest, ".")
	data, err := base64.RawURLEncoding.DecodeString(body)
	var claims struct {
		Nonce string `json:"nonce"`
	}
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return ""
	}
	return claims.Nonce
}

// nonces are what servers want to see in the next proof, by origin (RFC 9449, section 8.2).
type nonces struct {
	mu       sync.Mutex
	byOrigin map[string]string
}

// maxNonces bounds the origins that are remembered: a server and its authorization servers are a handful.
const maxNonces = 16

func (n *nonces) of(u *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byOrigin[origin(u)]
}

// learn takes the nonce of a response, if it has one, and reports that.
func (n *nonces) learn(u *url.URL, h http.Header) bool {
	nonce := h.Get(headerNonce)
	if nonce == "" || len(nonce) > 4<<10 {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byOrigin == nil || len(n.byOrigin) >= maxNonces {
		n.byOrigin = make(map[string]string)
	}
	n.byOrigin[origin(u)] = nonce
	return true
}
