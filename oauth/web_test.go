package oauth

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// local is a web for a server on loopback.
func local(t *testing.T) *web {
	t.Helper()
	w := newWeb(webOptions{server: parseURL(t, "http://127.0.0.1:1/mcp")})
	return w
}

func TestVet(t *testing.T) {
	servers := map[string]*web{
		"remote":  newWeb(webOptions{server: parseURL(t, "https://mcp.example.com")}),
		"private": newWeb(webOptions{server: parseURL(t, "https://10.0.0.5:8443/mcp")}),
		"local":   newWeb(webOptions{server: parseURL(t, "http://localhost:3000/mcp")}),
		"named":   newWeb(webOptions{server: parseURL(t, "https://bücher.example/mcp")}),
		"trusting": newWeb(webOptions{
			server: parseURL(t, "https://mcp.example.com"), trusted: []*url.URL{parseURL(t, "https://10.0.0.1/config")},
		}),
	}
	const (
		notHTTPS = "it is not https, and not on loopback"
		noHost   = "its host is neither a name nor an address"
		notASCII = "its host is not in ASCII"
		inside   = "which the server is not"
	)
	for _, test := range []struct{ server, url, reason string }{
		{"remote", "https://a.example.com/token?x=1", ""},
		{"remote", "HTTPS://a.example.com", ""},
		{"remote", "https://93.184.215.14", ""},
		{"remote", "http://a.example.com", notHTTPS},
		{"remote", "http://mcp.example.com", notHTTPS},
		{"remote", "ftp://a.example.com", "it is not an https URL"},
		{"remote", "javascript:alert(1)", "it is not an https URL"},
		{"remote", "file:///etc/passwd", "it is not an https URL"},
		{"remote", "/token", "it is not an https URL"},
		{"remote", "https:a.example.com", "it has no host"},
		{"remote", "https://:443/", "it has no host"},
		{"remote", "https://user:secret@a.example.com", "it has a user"},
		{"remote", "https://a.example.com/%zz", "it cannot be read"},
		{"remote", "https://127.1/", noHost},
		{"remote", "https://0x7f000001/", noHost},
		{"remote", "https://2130706433/", noHost},
		{"remote", "https://a.0x7f./", noHost},
		{"remote", "https://99999999999999999999999/", noHost},
		{"remote", "https://ｌｏｃａｌｈｏｓｔ/", notASCII},
		{"remote", "https://local\u00adhost/", notASCII},
		{"remote", "https://127。0。0。1/", notASCII},
		{"remote", "https://loc%EF%BD%81lhost/", notASCII},
		{"local", "https://bücher.example/", notASCII},
		{"named", "https://bücher.example/token", ""},
		{"remote", "http://localhost:9000", inside},
		{"remote", "https://127.0.0.1", inside},
		{"remote", "https://169.254.169.254/latest", inside},
		{"remote", "https://192.168.0.1", inside},
		{"remote", "https://[::ffff:10.0.0.1]", inside},
		{"remote", "https://[fe80::1%25eth0]", inside},
		{"private", "https://192.168.0.1", ""},
		{"private", "https://10.0.0.5:8443/token", ""},
		{"private", "http://10.0.0.5:8443/token", notHTTPS},
		{"private", "https://localhost", inside},
		{"private", "https://169.254.169.254", inside},
		{"trusting", "https://10.0.0.1:443/token", ""},
		{"trusting", "https://10.0.0.1:8443/token", inside},
		{"trusting", "https://10.0.0.2/token", inside},
		{"local", "http://localhost:9000", ""},
		{"local", "http://a.localhost", ""},
		{"local", "http://[::1]:9000", ""},
		{"local", "http://127.0.0.2", ""},
		{"local", "https://192.168.0.1", ""},
		{"local", "http://192.168.0.1", notHTTPS},
	} {
		u, err := servers[test.server].vet(test.url)
		if test.reason == "" {
			if assert.NoError(t, err, test.url) {
				assert.NotNil(t, u)
			}
			continue
		}
		var refused *EndpointError
		if assert.ErrorAs(t, err, &refused, test.url) {
			assert.Contains(t, refused.Reason, test.reason, test.url)
			assert.NotContains(t, err.Error(), "secret")
		}
	}
}

func TestGetAsksForJSON(t *testing.T) {
	s := newSite(t)
	s.text("/x", "text/html", "body")
	r, err := local(t).get(t.Context(), s.URL+"/x?a=b", http.Header{"Mcp-Protocol-Version": {"v"}})
	require.NoError(t, err)
	assert.Equal(t, "body", string(r.body))
	assert.Equal(t, "text/html", r.header.Get("Content-Type"))
	request, _ := s.request(0)
	assert.Equal(t, "GET /x?a=b", request.Method+" "+request.RequestURI)
	assert.Equal(t, "application/json", request.Header.Get("Accept")) // case 135
	assert.Equal(t, "v", request.Header.Get("Mcp-Protocol-Version"))
	assert.NotContains(t, request.Header, "Content-Type")
}

func TestPost(t *testing.T) {
	s := newSite(t)
	s.status("/x", http.StatusTeapot)
	r, err := local(t).postForm(t.Context(), s.URL+"/x", url.Values{"a": {"1 & 2"}}, http.Header{"Dpop": {"proof"}})
	require.NoError(t, err)
	assert.Equal(t, http.StatusTeapot, r.status)
	request, body := s.request(0)
	assert.Equal(t, "a=1+%26+2", body)
	assert.Equal(t, http.MethodPost, request.Method)
	assert.Equal(t, "application/x-www-form-urlencoded", request.Header.Get("Content-Type"))
	assert.Equal(t, "application/json", request.Header.Get("Accept"))
	assert.Equal(t, "proof", request.Header.Get("Dpop"))

	_, err = local(t).postJSON(t.Context(), s.URL+"/x", map[string]int{"a": 1}, nil)
	require.NoError(t, err)
	request, body = s.request(1)
	assert.JSONEq(t, `{"a": 1}`, body)
	assert.Equal(t, "application/json", request.Header.Get("Content-Type"))
}

func TestGetJSONTakesOnlyStatus200(t *testing.T) {
	s := newSite(t)
	for _, code := range []int{http.StatusNoContent, http.StatusNotFound, 599} {
		s.status("/"+strconv.Itoa(code), code)
		_, err := local(t).getJSON(t.Context(), s.URL+"/"+strconv.Itoa(code), nil)
		assert.ErrorIs(t, err, statusError(code))
	}
	assert.EqualError(t, statusError(404), "answered 404 Not Found")
	assert.EqualError(t, statusError(599), "answered 599")
}

func TestRedirects(t *testing.T) {
	other := newSite(t)
	s := newSite(t)
	s.text("/end", "", "end")
	for path, to := range map[string]string{
		"/once":    "/end",
		"/twice":   "/once",
		"/3":       "/twice",
		"/4":       "/3",
		"/other":   other.URL + "/x?key=secret",
		"/host":    "http://localhost:" + s.port() + "/end",
		"/user":    "http://user:secret@" + s.Listener.Addr().String() + "/end",
		"/nowhere": "",
	} {
		s.page(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
	}
	s.page("/found", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/end", http.StatusFound) })

	for path, reason := range map[string]string{
		"/once":  "",
		"/3":     "",
		"/found": "",
		"/4":     "too many redirects",
		"/other": "another origin",
		"/host":  "another origin",
		"/user":  "has a user",
	} {
		r, err := local(t).get(t.Context(), s.URL+path, nil)
		if reason == "" {
			require.NoError(t, err, path)
			assert.Equal(t, "end", string(r.body), path)
			continue
		}
		requireRefused(t, err, reason)
		assert.NotContains(t, err.Error(), "secret")
	}
	assert.Empty(t, other.asked())
	_, err := local(t).get(t.Context(), s.URL+"/nowhere", nil)
	require.NoError(t, err, "without a target it is a response like any other")
}

func TestRedirectOfAPost(t *testing.T) {
	s := newSite(t)
	s.text("/end", "", "end")
	for _, code := range []int{http.StatusFound, http.StatusPermanentRedirect} {
		s.page("/"+strconv.Itoa(code), func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/end", code) })
	}
	_, err := local(t).postForm(t.Context(), s.URL+"/308", url.Values{"a": {"1"}}, nil)
	require.NoError(t, err)
	request, body := s.request(1)
	assert.Equal(t, "POST /end a=1", request.Method+" "+request.URL.Path+" "+body)

	_, err = local(t).postForm(t.Context(), s.URL+"/302", url.Values{"a": {"1"}}, nil)
	requireRefused(t, err, "change the method")
	assert.Len(t, s.asked(), 3)
}

func TestRedirectToPlainHTTPIsRefused(t *testing.T) {
	s := newTLSSite(t)
	s.page("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/x", http.StatusTemporaryRedirect)
	})
	w := newWeb(webOptions{server: parseURL(t, s.URL), client: s.Client()})
	_, err := w.get(t.Context(), s.URL, nil)
	requireRefused(t, err, "another origin")
}

func TestResponseIsBounded(t *testing.T) {
	s := newSite(t)
	for n := maxBody; n <= maxBody+1; n++ {
		s.page(fmt.Sprintf("/%d", n), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_, _ = io.CopyN(w, zeros{}, int64(n))
		})
	}
	r, err := local(t).get(t.Context(), fmt.Sprintf("%s/%d", s.URL, maxBody), nil)
	require.NoError(t, err)
	assert.Len(t, r.body, maxBody)
	_, err = local(t).get(t.Context(), fmt.Sprintf("%s/%d", s.URL, maxBody+1), nil)
	assert.ErrorIs(t, err, errTooLarge)

	s.page("/bomb", func(w http.ResponseWriter, _ *http.Request) { // some KiB on the wire
		w.Header().Set("Content-Encoding", "gzip")
		bomb := gzip.NewWriter(w)
		_, _ = io.CopyN(bomb, zeros{}, maxBody+1)
		_ = bomb.Close()
	})
	_, err = local(t).get(t.Context(), s.URL+"/bomb", nil)
	assert.ErrorIs(t, err, errTooLarge)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// hanging is a client whose requests take until they are given up.
func hanging() *http.Client {
	return &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})}
}

func TestRequestTakesTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := newWeb(webOptions{client: hanging()}).get(t.Context(), "https://a.example.com/?key=secret", nil)
		assert.EqualError(t, err, "no response within 10s")
		assert.Equal(t, 10*time.Second, time.Since(begun))
	})
}

func TestResponseThatDoesNotEndTakesTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			body, w := io.Pipe()
			context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		})}
		begun := time.Now()
		_, err := newWeb(webOptions{client: client}).get(t.Context(), "https://a.example.com", nil)
		assert.ErrorIs(t, err, errTooSlow)
		assert.Equal(t, 10*time.Second, time.Since(begun))
	})
}

func TestCallerEndsARequest(t *testing.T) {
	errEnough := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errEnough) })
		_, err := newWeb(webOptions{client: hanging()}).get(ctx, "https://a.example.com", nil)
		assert.ErrorIs(t, err, errEnough)
	})
}

func TestErrorOfARequestHasNoURL(t *testing.T) {
	s := newTLSSite(t) // with a certificate that nobody knows
	w := newWeb(webOptions{server: parseURL(t, s.URL)})
	_, err := w.postForm(t.Context(), s.URL+"/x?key=secret", url.Values{"code": {"secret"}}, nil)
	require.ErrorContains(t, err, "certificate")
	assert.NotContains(t, err.Error(), "secret")
}

func TestClientOfTheUserIsNotChanged(t *testing.T) {
	transport := new(http.Transport)
	client := &http.Client{Transport: transport}
	newWeb(webOptions{client: client, server: parseURL(t, "https://mcp.example.com")})
	assert.Same(t, transport, client.Transport)
	assert.Nil(t, client.CheckRedirect)
	assert.Nil(t, transport.DialContext)
	assert.Zero(t, transport.IdleConnTimeout)
}
