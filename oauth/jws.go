package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // of ES256 and RS256
	_ "crypto/sha512" // of the others
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// JSON Web Signatures (RFC 7515, section 3.1; RFC 7518, section 3), made by any crypto.Signer, so that a key may live
// in a hardware module or at a key management service.

var curves = map[elliptic.Curve]struct {
	alg  string
	hash crypto.Hash
	name string
}{
	elliptic.P256(): {"ES256", crypto.SHA256, "P-256"},
	elliptic.P384(): {"ES384", crypto.SHA384, "P-384"},
	elliptic.P521(): {"ES512", crypto.SHA512, "P-521"},
}

// signingAlg returns the JWS algorithm of a key: RS256 for RSA, and the one of its curve for another.
func signingAlg(key crypto.Signer) (string, error) {
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		if curve, ok := curves[public.Curve]; ok {
			return curve.alg, nil
		}
	case *rsa.PublicKey:
		return "RS256", nil
	case ed25519.PublicKey:
		return "EdDSA", nil
	}
	return "", fmt.Errorf("a key of type %T signs nothing here", key.Public())
}

// signJWT returns a JWT. The header gets its algorithm.
func signJWT(key crypto.Signer, header, claims map[string]any) (string, error) {
	alg, err := signingAlg(key)
	if err != nil {
		return "", err
	}
	header["alg"] = alg
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	input := encode64(head) + "." + encode64(body)
	signature, err := sign(key, []byte(input))
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return input + "." + encode64(signature), nil
}

func sign(key crypto.Signer, input []byte) ([]byte, error) {
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		der, err := key.Sign(rand.Reader, digest(curves[public.Curve].hash, input), curves[public.Curve].hash)
		if err != nil {
			return nil, err
		}
		return fixedWidth(der, (public.Params().BitSize+7)/8)
	case ed25519.PublicKey:
		return key.Sign(rand.Reader, input, crypto.Hash(0))
	default:
		return key.Sign(rand.Reader, digest(crypto.SHA256, input), crypto.SHA256)
	}
}

// fixedWidth turns a signature in ASN.1, as signers make them, into R and S of a fixed width (RFC 7518, section 3.4).
func fixedWidth(der []byte, width int) ([]byte, error) {
	var parts struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &parts); err != nil || len(rest) > 0 {
		return nil, errors.New("the signer's signature is not in ASN.1")
	}
	if parts.R.Sign() < 0 || parts.S.Sign() < 0 || parts.R.BitLen() > 8*width || parts.S.BitLen() > 8*width {
		return nil, errors.New("the signer's signature does not fit its key")
	}
	raw := make([]byte, 2*width)
	parts.R.FillBytes(raw[:width])
	parts.S.FillBytes(raw[width:])
	return raw, nil
}

func digest(hash crypto.Hash, input []byte) []byte {
	h := hash.New()
	h.Write(input)
	return h.Sum(nil)
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// randomID returns 256 random bits as text: a state, a verifier or the id of a token.
func randomID() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return encode64(b)
}
