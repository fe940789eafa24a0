package httpinterop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The certificate of every server with TLS in these tests, in files, as nginx wants it.
var certificate struct {
	folder, cert, key string
}

// makeCertificate makes one for loopback that signs itself, and has this process trust it as it trusts the system's. It
// must come before anything else looks at those.
func makeCertificate() error {
	folder, err := os.MkdirTemp("", "httpinterop")
	if err != nil {
		return err
	}
	certificate.folder = folder
	certificate.cert, certificate.key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
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
	if err := writePEM(certificate.cert, "CERTIFICATE", cert); err != nil {
		return err
	}
	if err := writePEM(certificate.key, "PRIVATE KEY", private); err != nil {
		return err
	}
	return os.Setenv("SSL_CERT_FILE", certificate.cert)
}

func writePEM(file, kind string, data []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}

func serverTLS(t testing.TB) *tls.Config {
	pair, err := tls.LoadX509KeyPair(certificate.cert, certificate.key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// clientTLS trusts the certificate alone.
func clientTLS(t testing.TB) *tls.Config {
	text, err := os.ReadFile(certificate.cert)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return &tls.Config{RootCAs: pool}
}
