package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// pair is a certificate and its key, as PEM.
type pair struct {
	cert, key []byte
	parsed    *x509.Certificate
	private   *ecdsa.PrivateKey
}

// sign makes a certificate; with no authority, one that signs itself and others.
func sign(t testing.TB, by *pair, name string, groups []string, addresses ...net.IP) *pair {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	must(err)
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name, Organization: groups}, IPAddresses: addresses,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	parent, parentKey := c, key
	if by == nil {
		c.IsCA, c.KeyUsage, c.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
	} else {
		parent, parentKey = by.parsed, by.private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), parentKey)
	must(err)
	parsed, err := x509.ParseCertificate(der)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	return &pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		parsed: parsed, private: key,
	}
}

// write leaves it in base.crt and base.key.
func (p *pair) write(t testing.TB, base string) {
	t.Helper()
	for name, b := range map[string][]byte{base + ".crt": p.cert, base + ".key": p.key} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
