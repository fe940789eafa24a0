package streamablehttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func TestAcknowledgements(t *testing.T) { // field case 70
	for name, serve := range map[string]func(*arrival){
		"202":           func(a *arrival) { a.status(202) },
		"204":           func(a *arrival) { a.status(204) },
		"200 empty":     func(a *arrival) { a.set("Content-Length", "0"); a.w.Header()["Content-Type"] = nil },
		"202 with text": func(a *arrival) { a.text(202, "text/plain", "Accepted") },
		"200 with JSON": func(a *arrival) { a.text(200, "application/json", `{"jsonrpc":"2.0","result":{}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST notifications/initialized", serve)
			f.on("POST notifications/other", serve)
			f.on("POST answer", serve)
			c := open(t, f)
			_, _, err := c.send(t.Context(), notification("notifications/other"), version)
			assert.NoError(t, err)
			_, _, err = c.send(t.Context(), &transport.Message{ID: transport.IntID(1), Result: []byte(`{}`)}, version)
			assert.NoError(t, err)
			if name == "200 with JSON" {
				return
			}
			f.on("POST work", serve)
			answer, before, err := c.call(1, "work")
			assert.ErrorIs(t, err, transport.ErrNoResponse)
			assert.ErrorContains(t, err, "streamablehttp: no response: POST answered 20")
			assert.Empty(t, answer)
			assert.Empty(t, before)

			f.on("GET", func(a *arrival) { a.stream(); a.linger() })
			c = open(t, f)
			f.await("GET", 2)
			answer, before, err = c.call(1, "work")
			assert.NoError(t, err, "the answer may come on the GET stream")
			assert.Empty(t, answer)
			assert.Empty(t, before)
		})
	}
}

func TestAServerThatAcceptsEverythingAndSaysNothing(t *testing.T) {
	for _, status := range []int{200, 202, 204} {
		for name, o := range map[string]*mcp.Options{"legacy": legacy, "any": nil} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				f := newFake(t)
				f.on("POST initialize", func(a *arrival) { a.status(status) })
				if o == nil {
					f.on("POST server/discover", func(a *arrival) { a.status(status) })
				}
				begun := time.Now()
				_, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, o)
				assert.ErrorIs(t, err, transport.ErrNoResponse)
				assert.Less(t, time.Since(begun), soon)
			})
		}
	}
}

// A request that was accepted is not waited for once it is known that there is no GET stream.
func TestAcceptedAfterTheGetStreamWasLost(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.status(202) })
	f.on("GET", func(a *arrival) {
		if a.nth == 1 {
			a.stream()
			return
		}
		a.status(404)
	})
	c := open(t, f, quick)
	require.Error(t, within(t, c.received).Fault)
	_, _, err := c.call(1, "work")
	assert.ErrorIs(t, err, transport.ErrNoResponse)
}

func TestContentTypes(t *testing.T) { // field case 72
	for _, test := range []struct {
		contentType, body, result, err string
	}{
		{"application/json", `ANSWER`, `{}`, ""},
		{"Application/JSON; charset=UTF-8", `ANSWER`, `{}`, ""},
		{"application/json;charset", " \n ANSWER\n", `{}`, ""},
		{"text/plain; charset=utf-8", `ANSWER`, `{}`, ""}, // what net/http makes of JSON without a type
		{"", `ANSWER`, `{}`, ""},
		{"application/json", "\ufeffANSWER", `{}`, ""},
		{"", "\ufeff\nANSWER", `{}`, ""},
		{"application/json", `[{"jsonrpc":"2.0","method":"notifications/x"},ANSWER]`, `{}`, ""},
		{"text/event-stream;charset=utf-8", "data: ANSWER\n\n", `{}`, ""},
		{"Text/Event-Stream", "data:ANSWER\r\n\r\n", `{}`, ""},
		{"text/html", "<html>", "", `no response: the body is neither JSON nor an event stream, but of type "text/html"`},
		{"application/json", "<html>", "", "no response: not a message"},
		{"application/json", "{}", "", "no response: neither a method, a result nor an error"},
		{"application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", "no response: the body has no answer"},
	} {
		t.Run(test.contentType+" "+test.body, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				if a.w.Header()["Content-Type"] = nil; test.contentType != "" {
					a.set("Content-Type", test.contentType)
				}
				a.write(strings.ReplaceAll(test.body, "ANSWER", a.answer(`{}`)))
			})
			c := open(t, f)
			result, _, err := c.call(1, "work")
			assert.Equal(t, test.result, result)
			if test.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, "streamablehttp: "+test.err)
			assert.ErrorIs(t, err, transport.ErrNoResponse)
			assert.False(t, transport.SafeToRetry(err))
		})
	}
}

func TestAnErrorResponseInARefusal(t *testing.T) { // field case 94
	for i, id := range []string{`"id":1,`, `"id":"1",`, `"id":null,`, ``} {
		mark := strings.Repeat("\ufeff", i%2)
		t.Run(id, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				a.text(400, "application/json", mark+`{"jsonrpc":"2.0",`+id+`"error":{"code":-32602,"message":"no"}}`)
			})
			f.on("POST notifications/x", func(a *arrival) {
				a.text(400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}}`)
			})
			c := open(t, f)
			answer, _, err := c.send(t.Context(), request(1, "work"), version)
			require.NoError(t, err)
			require.NotNil(t, answer)
			assert.EqualError(t, answer.Error, "no (-32602)")
			_, _, err = c.send(t.Context(), notification("notifications/x"), version)
			assert.EqualError(t, err, "streamablehttp: POST answered 400 Bad Request: no (-32602)")
			var rpc *transport.RPCError
			assert.ErrorAs(t, err, &rpc)
		})
	}
}

func TestRefusals(t *testing.T) { // field case 94
	big := strings.Repeat("x", 20<<10)
	for name, test := range map[string]struct {
		status      int
		contentType string
		body, text  string
	}{
		"bad gateway": {502, "text/plain", "upstream\n\tdown", "POST answered 502 Bad Gateway: upstream down"},
		"page":        {503, "text/html", "<html>long</html>", "POST answered 503 Service Unavailable"},
		"empty":       {500, "text/plain", "", "POST answered 500 Internal Server Error"},
		"large":       {500, "text/plain", big, "POST answered 500 Internal Server Error: " + big[:200] + "..."},
		"other error": {
			400, "application/json", `{"error":"bad_request"}`, `POST answered 400 Bad Request: {"error":"bad_request"}`,
		},
		"not ours": {
			400, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`,
			"POST answered 400 Bad Request: m (1)",
		},
		"login": {
			401, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`,
			"POST answered 401 Unauthorized: m (1)",
		},
		"busy, with an error": {
			429, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`,
			"POST answered 429 Too Many Requests: m (1)",
		},
		"forbidden": {403, "text/plain", "no", "POST answered 403 Forbidden: no"},
		"busy":      {429, "text/plain", "", "POST answered 429 Too Many Requests"},
		"slow":      {504, "text/plain", "", "POST answered 504 Gateway Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				if a.nth > 1 {
					a.json(`{}`)
					return
				}
				a.set("X-Reason", "some")
				a.text(test.status, test.contentType, test.body)
			})
			c := open(t, f)
			_, _, err := c.call(1, "work")
			var status *streamablehttp.StatusError
			require.ErrorAs(t, err, &status)
			assert.EqualError(t, err, "streamablehttp: "+test.text)
			assert.Equal(t, test.status, status.StatusCode)
			assert.Equal(t, "some", status.Header.Get("X-Reason"))
			assert.Equal(t, test.body[:min(len(test.body), 8<<10)], string(status.Body))
			assert.False(t, transport.SafeToRetry(err))
			passes := slices.Contains([]int{429, 502, 503, 504}, test.status)
			assert.Equal(t, passes, errors.Is(err, transport.ErrUnavailable))
			_, _, err = c.call(2, "work")
			assert.NoError(t, err, "the session is kept")
		})
	}
}

func TestAnErrorBodyThatNeverEnds(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.text(500, "text/plain", "sorry")
		a.flush()
		a.linger()
	})
	c := open(t, f)
	_, _, err := c.call(1, "work")
	assert.EqualError(t, err, "streamablehttp: POST answered 500 Internal Server Error: sorry")
}

type brokenError struct{}

func (*brokenError) Error() string { return "broken" }

func TestErrorsOfARoundTripper(t *testing.T) { // field case 94
	f := newFake(t)
	var broken atomic.Bool
	client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		if broken.Load() {
			return nil, &brokenError{}
		}
		return http.DefaultTransport.RoundTrip(req)
	})}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.URL += "?key=secret"; tr.Client = client })
	broken.Store(true)
	_, _, err := c.call(1, "work")
	var mine *brokenError
	assert.ErrorAs(t, err, &mine)
	assert.ErrorIs(t, err, transport.ErrNoResponse)
	assert.EqualError(t, err, "streamablehttp: no response: POST: broken", "and not the URL")
	assert.False(t, transport.SafeToRetry(err))
	broken.Store(false)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func TestNobodyListens(t *testing.T) {
	f := newFake(t)
	f.server.Close()
	c := connect(t, &streamablehttp.Transport{URL: f.url})
	_, _, err := c.send(t.Context(), request(1, "initialize"), "")
	require.Error(t, err)
	assert.True(t, transport.SafeToRetry(err), err)
	assert.NotErrorIs(t, err, transport.ErrNoResponse)
}

func TestAConnectionThatDiesIsNotSafeToRetry(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(*arrival) { panic(http.ErrAbortHandler) })
	c := open(t, f)
	_, _, err := c.call(1, "work")
	assert.ErrorIs(t, err, transport.ErrNoResponse)
	assert.False(t, transport.SafeToRetry(err))
}

func TestMessageLimits(t *testing.T) {
	text := strings.Repeat("x", 2000)
	for name, serve := range map[string]func(*arrival){
		"announced":   func(a *arrival) { a.json(`"` + text + `"`) },
		"unannounced": func(a *arrival) { a.set("Content-Type", "application/json"); a.flush(); a.json(`"` + text + `"`) },
		"endless": func(a *arrival) {
			for a.r.Context().Err() == nil {
				a.write(`{"jsonrpc":"2.0",` + text)
				a.flush()
			}
		},
		"event": func(a *arrival) { a.stream(); a.event(`data: {"x":"` + text + `"}`); a.linger() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", serve)
			f.on("POST small", func(a *arrival) { a.json(`{}`) })
			c := open(t, f, func(tr *streamablehttp.Transport) { tr.MaxMessageBytes = 1000 })
			_, _, err := c.call(1, "work")
			assert.ErrorIs(t, err, transport.ErrMessageTooLarge)
			assert.False(t, errors.Is(err, transport.ErrNoResponse))
			_, _, err = c.call(2, "small")
			assert.NoError(t, err)
		})
	}
}

func TestAnAnswerOverTheLimitFailsItsCallOnly(t *testing.T) {
	f := newFake(t)
	text := strings.Repeat("x", 2000)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"notifications/large","params":{"x":"` + text + `"}}`)
		a.event("data: " + a.answer(`{"x":"`+text+`"}`))
		a.linger()
	})
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.MaxMessageBytes = 1000 })
	answer, before, err := c.send(t.Context(), request(1, "work"), version)
	require.NoError(t, err)
	require.NotNil(t, answer)
	assert.ErrorIs(t, answer.Fault, transport.ErrMessageTooLarge)
	require.Len(t, before, 1)
	assert.Equal(t, "notifications/large", before[0].Method)
	assert.ErrorIs(t, before[0].Fault, transport.ErrMessageTooLarge)
}

func TestSixteenMiBByDefault(t *testing.T) { // field case 79
	f := newFake(t)
	text := strings.Repeat("x", 2<<20)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event("data: " + a.answer(`"`+text+`"`))
	})
	f.on("POST large", func(a *arrival) { a.json(`"` + strings.Repeat("x", 16<<20) + `"`) })
	c := open(t, f)
	result, _, err := c.call(1, "work")
	require.NoError(t, err)
	assert.Len(t, result, 2<<20+2)
	_, _, err = c.call(2, "large")
	assert.ErrorIs(t, err, transport.ErrMessageTooLarge)
}
