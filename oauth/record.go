package oauth

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// recordVersion is the version of the records that are written. A record of a later version is not read, since what
// that one means by its fields is not known; a user who goes back to an older program has to sign in again.
const recordVersion = 1

// A record is what is kept in the Store under one key. It is not changed once it was published to other goroutines.
type record struct {
	Version     int                    `json:"version"`
	Generation  uint64                 `json:"generation"`             // grows with each writing, past a removal too
	Clients     map[string]*registered `json:"clients,omitzero"`       // that were registered, by issuer
	BoundIssuer string                 `json:"bound_issuer,omitempty"` // of Config.Client, if that names none
	Credentials *credentials           `json:"credentials,omitempty"`  // nil: nobody is signed in
}

// registered is a client that an authorization server has registered (RFC 7591, section 3.2.1).
type registered struct {
	ID           string    `json:"client_id"`
	Secret       string    `json:"client_secret,omitempty"`
	AuthMethod   string    `json:"token_endpoint_auth_method,omitempty"`
	RedirectURLs []string  `json:"redirect_uris,omitzero"`
	Scopes       []string  `json:"scopes,omitzero"`  // that it may ask for; nil: not said
	Expires      time.Time `json:"expires,omitzero"` // of the secret
}

// An issuer is what is kept of an authorization server's metadata: what it takes to ask it for tokens.
type issuer struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	AuthMethods   []string `json:"auth_methods,omitzero"` // of its token endpoint
	SigningAlgs   []string `json:"signing_algs,omitzero"` // for private_key_jwt
	Resource      string   `json:"resource"`              // the MCP server, in the authorization server's words

	RevocationEndpoint string `json:"revocation_endpoint,omitempty"` // "" for a server without one
}

// credentials are what somebody was granted.
type credentials struct {
	issuer
	ClientID     string      `json:"client_id"`
	Client       *registered `json:"client,omitempty"` // unless it is Config.Client; the record may have a later one
	AccessToken  string      `json:"access_token"`
	TokenType    string      `json:"token_type"`
	Expires      time.Time   `json:"expires,omitzero"` // zero: not known
	Due          time.Time   `json:"due,omitzero"`     // when to renew it; zero: when it is refused
	RefreshToken string      `json:"refresh_token,omitempty"`
	Scopes       []string    `json:"scopes,omitzero"` // granted
	Asked        []string    `json:"asked,omitzero"`  // for
	DPoPKey      []byte      `json:"dpop_key,omitzero"`
}

func decodeRecord(data []byte) (*record, error) {
	if len(data) == 0 {
		return &record{Version: recordVersion}, nil
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, errors.New("the stored record cannot be read") // the cause may show a part of it
	}
	if r.Version != recordVersion {
		return nil, fmt.Errorf("the stored record has version %d, not %d", r.Version, recordVersion)
	}
	return &r, nil
}

func (r *record) encode() ([]byte, error) {
	r.touch()
	return json.Marshal(r)
}

func (r *record) touch() {
	r.Version = recordVersion
	r.Generation = max(r.Generation+1, uint64(time.Now().UnixMicro()))
}

// due reports whether it is time to renew the access token.
func (c *credentials) due() bool { return !c.Due.IsZero() && time.Until(c.Due) <= 0 }

// over reports whether the access token is known to be of no more use.
func (c *credentials) over() bool { return !c.Expires.IsZero() && time.Until(c.Expires) <= 0 }

// wide reports whether the token has all of these scopes, as far as is known.
func (c *credentials) wide(scopes []string) bool {
	return includes(c.Scopes, scopes)
}

// hashOf tells tokens apart without telling them.
func hashOf(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return encode64(sum[:12])
}

// take enters new tokens. What the answer does not say stays as it is (RFC 6749, sections 5.1 and 6).
func (c *credentials) take(t *tokens) {
	c.AccessToken, c.TokenType = t.access, t.kind
	c.Expires, c.Due = time.Time{}, time.Time{}
	if t.lifetime > 0 {
		c.Expires = time.Now().Add(t.lifetime).Round(0) // the clock on the wall: the other stands still in sleep
		c.Due = c.Expires.Add(-min(expirySkew, t.lifetime/4))
	}
	if t.refresh != "" {
		c.RefreshToken = t.refresh
	}
	if t.scopes != nil {
		c.Scopes = t.scopes
	}
}
