package oauth

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzTokens reads the answers of token endpoints.
func FuzzTokens(f *testing.F) {
	f.Add(200, []byte(`{"access_token":"a","token_type":"DPoP","expires_in":"3600","scope":["x","y"]}`))
	f.Add(201, []byte("access_token=a&scope=x+x&expires_in=1e300"))
	f.Add(400, []byte(`{"error":"invalid_grant","error_description":"the code was \u001b[31msecret-code","error_uri":1}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		const secret = "secret-code"
		tokens, err := parseTokens(status, body, []string{secret})
		if err != nil {
			var e *Error
			require.True(t, errors.As(err, &e))
			requireLine(t, e.Code)
			requireLine(t, e.Description)
			require.NotContains(t, e.Error(), secret)
			return
		}
		require.Nil(t, err)
		require.True(t, status >= 200 && status < 300)
		require.NotEmpty(t, tokens.access)
		require.True(t, isHeaderValue(tokens.access))
		require.GreaterOrEqual(t, tokens.lifetime, 0*maxLifetime)
		require.LessOrEqual(t, tokens.lifetime, maxLifetime)
		require.Equal(t, tokens.scopes, splitScopes(joinScopes(tokens.scopes)))
	})
}

// FuzzRegistration reads the answers of registration endpoints.
func FuzzRegistration(f *testing.F) {
	f.Add(201, []byte(`{"client_id":"c","client_secret":"s","client_secret_expires_at":0}`))
	f.Add(200, []byte(`{"client_id":7,"token_endpoint_auth_method":"client_secret_post"}`))
	f.Add(500, []byte("<html>\x00"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		client, err := parseRegistration("https://as", status, body)
		if err != nil {
			var e *RegistrationError
			require.True(t, errors.As(err, &e))
			requireLine(t, e.Code)
			requireLine(t, e.Excerpt)
			return
		}
		require.NoError(t, client.client().check(), "what is kept can be used")
	})
}

// FuzzRedirectURL reads what users paste.
func FuzzRedirectURL(f *testing.F) {
	f.Add("http://127.0.0.1:1/callback?code=c&state=s&iss=https%3A%2F%2Fas#x")
	f.Add("?error=access_denied&error_description=%0a")
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := ResponseFromRedirectURL(raw)
		if err != nil {
			require.Less(t, len(err.Error()), 100, "nothing of the URL")
			return
		}
		require.True(t, r.Code != "" || r.Error != "")
		require.NotContains(t, r.RedirectURL, "?")
		s := &SignIn{Issuer: "https://as", State: "a-state", RedirectURL: "https://app/callback"}
		if err := r.check(s); err == nil {
			require.Equal(t, s.State, r.State)
			require.NotEmpty(t, r.Code)
		}
	})
}

// FuzzRecord reads what is stored, which another version or another program may have written.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"generation":7,"credentials":{"access_token":"a","due":"2026-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"version":1,"clients":{"https://as":{"client_id":"c"}}}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(data)
		if err != nil {
			return
		}
		before := r.Generation
		again, err := r.encode()
		require.NoError(t, err)
		back, err := decodeRecord(again)
		require.NoError(t, err)
		require.Equal(t, r, back)
		require.True(t, back.Generation > before || before == 1<<64-1)
	})
}

func requireLine(t *testing.T, text string) {
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, utf8.RuneCountInString(text), maxExcerpt+3)
	require.False(t, strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }))
}
