package oauth

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// remote is a web for a server on the public network. The name example.com, which the certificate of every TLS site is
// for, has a loopback address.
func remote(t *testing.T, s *site, change ...func(*webOptions)) *web {
	t.Helper()
	_, resolver := resolverOf(t, map[string][]string{"example.com": {"127.0.0.1"}})
	o := webOptions{server: parseURL(t, "https://mcp.example.net/mcp"), resolver: resolver}
	known := s.Client().Transport.(*http.Transport).TLSClientConfig
	o.client = &http.Client{Transport: &http.Transport{TLSClientConfig: known}}
	for _, f := range change {
		f(&o)
	}
	return newWeb(o)
}

func requireRefused(t *testing.T, err error, reason string) {
	t.Helper()
	var refused *EndpointError
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Reason, reason)
}

func TestNameWithALoopbackAddressIsRefusedWhereItIsDialed(t *testing.T) {
	s := newTLSSite(t)
	_, err := remote(t, s).get(t.Context(), "https://example.com:"+s.port()+"/x?key=secret", nil)
	requireRefused(t, err, "127.0.0.1 is local")
	assert.Zero(t, s.connections())
	assert.NotContains(t, err.Error(), "secret")
}

func TestClientsWithoutADialFunctionAreRefusedBeforeTheyConnect(t *testing.T) {
	for name, client := range map[string]*http.Client{
		"none":                  nil,
		"the default transport": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTLSSite(t)
			w := remote(t, s, func(o *webOptions) { o.client = client })
			_, err := w.get(t.Context(), "https://example.com:"+s.port(), nil)
			requireRefused(t, err, "127.0.0.1 is local")
			assert.Zero(t, s.connections())
		})
	}
}

func TestNameThatChangesItsAddressIsRefused(t *testing.T) {
	s := newTLSSite(t)
	names, resolver := resolverOf(t, map[string][]string{"example.com": {"192.0.2.1", "127.0.0.1"}})
	w := remote(t, s, func(o *webOptions) { o.resolver = resolver })
	// Whoever looks first and then dials by name is told a public address, and goes to the other one.
	addrs, err := resolver.LookupNetIP(t.Context(), "ip4", "example.com")
	require.NoError(t, err)
	require.Equal(t, "192.0.2.1", addrs[0].String())
	_, err = w.get(t.Context(), "https://example.com:"+s.port(), nil)
	requireRefused(t, err, "127.0.0.1 is local")
	assert.Zero(t, s.connections())
	assert.Equal(t, 2, names.questions())
}

func TestAddressesAreFreeWhereTheUserSaysSo(t *testing.T) {
	for name, change := range map[string]func(s *site) func(*webOptions){
		"AllowPrivate": func(*site) func(*webOptions) {
			return func(o *webOptions) { o.allowPrivate = true }
		},
		"the server's own origin": func(s *site) func(*webOptions) {
			return func(o *webOptions) { o.server = &url.URL{Scheme: "https", Host: "EXAMPLE.com:" + s.port()} }
		},
		"a configured URL": func(s *site) func(*webOptions) {
			return func(o *webOptions) {
				o.trusted = []*url.URL{{Scheme: "https", Host: "example.com:" + s.port(), Path: "/other"}}
			}
		},
		"a server on loopback": func(*site) func(*webOptions) {
			return func(o *webOptions) { o.server = &url.URL{Scheme: "http", Host: "127.0.0.1:1"} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTLSSite(t)
			s.text("/x", "text/plain", "{}")
			_, resolver := resolverOf(t, map[string][]string{"example.com": {"127.0.0.1"}})
			w := remote(t, s, func(o *webOptions) {
				o.resolver = resolver
				// A trusted URL is dialed as the user's client dials.
				dialer := &net.Dialer{Resolver: resolver}
				o.client.Transport.(*http.Transport).DialContext = dialer.DialContext
			}, change(s))
			data, err := w.getJSON(t.Context(), "https://example.com:"+s.port()+"/x", nil)
			require.NoError(t, err)
			assert.Equal(t, "{}", string(data))
		})
	}
}

func TestDialFunctionOfTheUserIsCheckedBeforeAnythingIsSent(t *testing.T) {
	for name, use := range map[string]func(*http.Transport, dialFunc){
		"DialContext":    func(tr *http.Transport, dial dialFunc) { tr.DialContext = dial },
		"DialTLSContext": func(tr *http.Transport, dial dialFunc) { tr.DialTLSContext = dial },
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			transport := new(http.Transport)
			use(transport, func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
			})
			w := newWeb(webOptions{
				client: &http.Client{Transport: transport},
				server: parseURL(t, "https://mcp.example.net"),
			})
			_, err = w.get(t.Context(), "https://a.example.net", nil)
			requireRefused(t, err, "127.0.0.1 is local")
			conn, err := listener.Accept()
			require.NoError(t, err)
			defer conn.Close()
			sent, err := io.ReadAll(conn)
			require.NoError(t, err)
			assert.Empty(t, sent)
		})
	}
}

func TestUnixSocketOfTheUserIsNoAddressToRefuse(t *testing.T) {
	folder, err := os.MkdirTemp("", "s") // the path of a socket is short
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	require.NoError(t, err)
	server := &http.Server{Handler: http.NotFoundHandler()}
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	transport := &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", listener.Addr().String())
	}}
	w := newWeb(webOptions{
		client: &http.Client{Transport: transport},
		server: parseURL(t, "https://mcp.example.net"),
	})
	r, err := w.get(t.Context(), "https://a.example.net", nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, r.status)
	require.NoError(t, server.Close())
	<-done
}

// roundTripper is an http.RoundTripper of one function.
type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func TestTransportThatCannotBeGuardedGetsNoNameWithAPrivateAddress(t *testing.T) {
	_, resolver := resolverOf(t, map[string][]string{
		"private.example.com": {"10.0.0.1"},
		"public.example.com":  {"192.0.2.1"},
	})
	errSent := errors.New("sent")
	for name, transport := range map[string]http.RoundTripper{
		"foreign": roundTripper(func(*http.Request) (*http.Response, error) { return nil, errSent }),
		"with functions of old": &http.Transport{
			//lint:ignore SA1019 somebody may still set it
			Dial: func(string, string) (net.Conn, error) { return nil, errSent },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(webOptions{
				client:   &http.Client{Transport: transport},
				server:   parseURL(t, "https://mcp.example.net"),
				resolver: resolver,
			})
			_, err := w.get(t.Context(), "https://private.example.com", nil)
			requireRefused(t, err, "10.0.0.1 is private")
			_, err = w.get(t.Context(), "https://public.example.com", nil)
			assert.ErrorIs(t, err, errSent)
			_, err = w.get(t.Context(), "https://unknown.example.com", nil)
			assert.ErrorIs(t, err, errSent, "there may be names that only a proxy knows")
		})
	}
}

func TestProxyIsUsedButNotForNamesWithAPrivateAddress(t *testing.T) {
	proxy := newSite(t) // on loopback, as proxies often are
	w := remote(t, proxy, func(o *webOptions) {
		o.client.Transport = &http.Transport{Proxy: http.ProxyURL(parseURL(t, proxy.URL))}
	})
	_, err := w.get(t.Context(), "https://example.com/x", nil)
	requireRefused(t, err, "127.0.0.1 is local")
	assert.Empty(t, proxy.asked())

	_, err = w.get(t.Context(), "https://known-to-the-proxy.example.net/x?key=secret", nil)
	require.ErrorContains(t, err, "Not Found", "that is what it answers to CONNECT")
	assert.NotContains(t, err.Error(), "secret")
	request, _ := proxy.request(0)
	assert.Equal(t, http.MethodConnect, request.Method)
	assert.Equal(t, "known-to-the-proxy.example.net:443", request.Host)
}

func TestProxyThatCannotBeNamed(t *testing.T) {
	errNoProxy := errors.New("no proxy")
	w := newWeb(webOptions{client: &http.Client{Transport: &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return nil, errNoProxy },
	}}})
	_, err := w.get(t.Context(), "https://a.example.net", nil)
	assert.ErrorIs(t, err, errNoProxy)
}

func TestClientWithoutATransportHasTheDefaultOne(t *testing.T) {
	errSent := errors.New("sent")
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, errSent })
	_, err := newWeb(webOptions{client: new(http.Client)}).get(t.Context(), "https://a.example.net", nil)
	assert.ErrorIs(t, err, errSent)
}
