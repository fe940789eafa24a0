package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailuresOfTheAPI(t *testing.T) {
	fails := func(status int, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const wrong = `{"error": {"message": "wrong key key-of-the-test\u001b[2J given\nand more"}}`
	tests := map[string]struct {
		reply    func(w http.ResponseWriter)
		want     string
		requests int
	}{
		"refused": {fails(401, wrong),
			"the model's API answered 401 Unauthorized: wrong key ***\x1b[2J given ...", 1},
		"cut in the key": {fails(403, `{"error": {"message": "`+strings.Repeat("x", 195)+`key-of-the-test"}}`),
			"the model's API answered 403 Forbidden: " + strings.Repeat("x", 195) + "***", 1},
		"broken": {fails(500, "<html>"), "the model's API answered 500 Internal Server Error", maxAttempts},
		"busy":   {fails(429, "null"), "the model's API answered 429 Too Many Requests", maxAttempts},
		"moved": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "the model's API answered 307 Temporary Redirect", 1},
		"no JSON":      {fails(200, "<html>"), "the model's API answered with something else than a reply: invalid", 1},
		"no choice":    {fails(200, `{}`), "the model's API answered without a choice", 1},
		"nothing said": {fails(200, `{"choices": [{}]}`), "the model said nothing", 1},
		"too much": {func(w http.ResponseWriter) { _, _ = w.Write(bytes.Repeat([]byte(" "), maxReplyBytes+1)) },
			"the model's API answered with more than 8388608 bytes", 1},
		"cut short": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "the model's API: unexpected EOF", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, func(_ int, w http.ResponseWriter, _ *http.Request) { test.reply(w) })
			agent, _ := newAgent(t, a, addNotes)
			agent.model.(*chatAPI).wait = time.Millisecond
			err := agent.turn(t.Context(), "Hello?")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), test.want), "%v", err)
			assert.NotContains(t, err.Error(), "key-of")
			assert.Len(t, a.received(), test.requests)
		})
	}
}

// A roundTrip is an API without a network, so that time can be measured.
type roundTrip func() (status int, retryAfter string)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	status, retryAfter := f()
	body := `{"choices": [{"message": {"content": "here"}}]}`
	header := http.Header{"Retry-After": {retryAfter}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func TestRetries(t *testing.T) {
	for retryAfter, want := range map[string]time.Duration{
		"":      3 * time.Second, // 1 s and 2 s
		"5":     10 * time.Second,
		"86400": 2 * maxRetryWait,
		"-1":    3 * time.Second,
		"soon":  3 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			model, n := newChatAPI("http://api.invalid/v1/", "m", ""), 0
			assert.Equal(t, "http://api.invalid/v1/chat/completions", model.url)
			model.client.Transport = roundTrip(func() (int, string) {
				if n++; n < maxAttempts {
					return http.StatusServiceUnavailable, retryAfter
				}
				return http.StatusOK, ""
			})
			begun := time.Now()
			reply, err := model.reply(t.Context(), nil, nil)
			require.NoError(t, err)
			assert.Equal(t, message{Role: "assistant", Content: "here"}, reply)
			assert.Equal(t, want, time.Since(begun), retryAfter)
		})
	}
}

func TestAPIThatIsNotThere(t *testing.T) {
	model := newChatAPI("http://api.invalid/v1", "m", "key-of-the-test")
	gone := errors.New("gone")
	model.client.Transport = failing{gone}
	_, err := model.reply(t.Context(), nil, nil)
	assert.ErrorIs(t, err, gone)
	assert.NotContains(t, fmt.Sprintf("%+v", err), "key-of-the-test")
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }
