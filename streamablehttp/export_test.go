package streamablehttp

import (
	"crypto/tls"
	"net/http"
)

// OwnClient is like the package's own, for servers whose certificates only a test trusts.
func OwnClient(config *tls.Config) *http.Client {
	return &http.Client{Transport: newRoundTripper(config)}
}
