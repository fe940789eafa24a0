package httpinterop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certificate is that of every server with TLS in these tests, in PEM.
var certificate struct{ cert, key []byte }

// makeCertificate makes one for loopback that signs itself, and has this process trust it as it trusts the system's. It
// must come before anything else looks at those.
func makeCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "loopback"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certificate.cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	certificate.key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return trustCertificate()
}

func trustCertificate() error {
	folder, err := os.MkdirTemp("", "certificate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "cert.pem")
	if err := os.WriteFile(file, certificate.cert, 0o600); err != nil {
		return err
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		return err
	}
	_, err = x509.SystemCertPool() // which reads the file, once for the process
	return errors.Join(err, os.Unsetenv("SSL_CERT_FILE"))
}

func serverTLS(t testing.TB) *tls.Config {
	pair, err := tls.X509KeyPair(certificate.cert, certificate.key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// clientTLS trusts the certificate alone.
func clientTLS(t testing.TB) *tls.Config {
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(certificate.cert))
	return &tls.Config{RootCAs: pool}
}
