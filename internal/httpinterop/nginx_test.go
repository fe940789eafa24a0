package httpinterop

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/require"
)

// An nginx is a reverse proxy in front of one server.
type nginx struct {
	*process
	t     testing.TB
	http2 bool
	url   string
}

// nginxConfig has one worker, logs to its standard error, and keeps its files in its own folder.
const nginxConfig = `
daemon off;
worker_processes 1;
worker_shutdown_timeout 1s;
pid nginx.pid;
error_log stderr notice;
%s
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	upstream mcp { server %s; keepalive 32; }
	server {
		listen %s;
		ssl_certificate %s;
		ssl_certificate_key %s;
		location / {
			proxy_pass http://mcp;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host localhost;
			proxy_buffering %s;
			proxy_read_timeout %s;
		}
	}
}
`

type nginxOptions struct {
	buffering   bool
	http2       bool          // and TLS with it
	readTimeout time.Duration // in whole seconds; 60 s if zero
}

// newNginx puts an nginx in front of the server at upstream, which is an address.
func newNginx(t testing.TB, upstream string, o nginxOptions) *nginx {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	listening, scheme, user, buffering := address(port), "http", "", "off"
	if o.http2 {
		listening, scheme = listening+" ssl http2", "https"
	}
	if os.Getuid() == 0 {
		user = "user root;" // whose folder it is
	}
	if o.buffering {
		buffering = "on"
	}
	if o.readTimeout == 0 {
		o.readTimeout = time.Minute
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, certificate.cert, 0o600))
	require.NoError(t, os.WriteFile(key, certificate.key, 0o600))
	config := fmt.Sprintf(nginxConfig, user, strings.TrimPrefix(upstream, "http://"), listening, cert, key, buffering,
		fmt.Sprintf("%ds", int(o.readTimeout.Seconds())))
	file := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	return &nginx{
		process: run(t, port, nil, "nginx", "-p", dir, "-e", "stderr", "-c", file),
		t:       t, http2: o.http2, url: fmt.Sprintf("%s://%s/mcp", scheme, address(port)),
	}
}

// reload replaces the workers: the old ones take no request any more, finish those that they have, and are made to end
// after a second.
func (n *nginx) reload() {
	n.t.Helper()
	before := strings.Count(n.output.String(), "start worker processes")
	require.NoError(n.t, n.command.Process.Signal(syscall.SIGHUP))
	require.Eventually(n.t, func() bool {
		return strings.Count(n.output.String(), "start worker processes") > before
	}, wait, time.Millisecond)
}

// connect makes a client of the server behind the proxy, which trusts its certificate.
func (n *nginx) connect() *session {
	n.t.Helper()
	below := http.DefaultTransport.(*http.Transport).Clone()
	below.TLSClientConfig = clientTLS(n.t)
	n.t.Cleanup(below.CloseIdleConnections)
	return connectOver(n.t, &streamablehttp.Transport{URL: n.url}, below, nil)
}
