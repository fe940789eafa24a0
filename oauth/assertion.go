package oauth

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	assertionType     = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	assertionLifetime = time.Minute
)

// clientAssertion is a JWT by which a client proves who it is (private_key_jwt: RFC 7523, section 3). Its audience is
// the issuer and nothing else: one that other servers take as well could be replayed there.
func clientAssertion(c *Client, s *issuer) (string, error) {
	alg, err := signingAlg(c.SigningKey)
	if err != nil {
		return "", err
	}
	if len(s.SigningAlgs) > 0 && !slices.Contains(s.SigningAlgs, alg) {
		return "", fmt.Errorf("the authorization server takes assertions with %s, and the key makes them with %s",
			excerpt(strings.Join(s.SigningAlgs, " ")), alg)
	}
	header := map[string]any{"typ": "JWT"}
	if c.KeyID != "" {
		header["kid"] = c.KeyID
	}
	now := time.Now()
	return signJWT(c.SigningKey, header, map[string]any{
		"iss": c.ID,
		"sub": c.ID,
		"aud": s.Issuer,
		"jti": randomID(),
		"iat": now.Unix(),
		"exp": now.Add(assertionLifetime).Unix(),
	})
}
