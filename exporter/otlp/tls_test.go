package otlp

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
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// authority signs certificates and keeps them as files.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// issue writes NAME.pem and NAME.key.
func (a *authority) issue(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// server is a configuration that wants certificates of the authority's clients.
func (a *authority) server(t *testing.T) *tls.Config {
	t.Helper()
	a.issue(t, "server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	pair, err := tls.LoadX509KeyPair(a.path("server.pem"), a.path("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// A receiver is checked and checks us, over both protocols; one that cannot be checked
// gets nothing, and what was meant for it stays on the queue.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	other := newAuthority(t)
	r := &receiver{}
	web := httptest.NewUnstartedServer(r)
	web.TLS = a.server(t)
	web.Config.ErrorLog = nil
	web.StartTLS()
	t.Cleanup(web.Close)
	addr := r.overGRPC(t, grpc.Creds(credentials.NewTLS(a.server(t))))

	for _, to := range []struct{ protocol, endpoint string }{{HTTP, web.URL}, {GRPC, "https://" + addr}, {GRPC, addr}} {
		for name, c := range map[string]struct {
			ca, cert string
			want     string
		}{
			"all":            {a.path("ca.pem"), a.path("client"), "sent"},
			"no certificate": {a.path("ca.pem"), "", "again"},
			"other receiver": {other.path("ca.pem"), a.path("client"), "again"},
			"system's":       {"", a.path("client"), "again"},
		} {
			s := newSink(t, &source{r: fullReading()}, func(o *Options) {
				m := &o.Metrics
				m.Endpoint, m.Protocol, m.CA = to.endpoint, to.protocol, c.ca
				if c.cert != "" {
					m.Cert, m.Key = c.cert+".pem", c.cert+".key"
				}
				o.Queue.Drain = time.Millisecond
			})
			s.Export()
			if got := outcomeOf(t, s); got != c.want {
				t.Errorf("%s %s, %s: %s, want %s: %s", to.protocol, to.endpoint, name, got, c.want, s.Stats()[0].LastError)
			}
		}
	}
}

func TestTLSOptions(t *testing.T) {
	a := newAuthority(t)
	if err := os.WriteFile(a.path("junk"), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Signal{
		"no certificate in PEM":    {CA: a.path("junk")},
		"no such file":             {CA: a.path("none")},
		"go together":              {Cert: a.path("ca.pem")},
		"client certificate: open": {Cert: a.path("none"), Key: a.path("ca.key")},
		"failed to find any PEM":   {Cert: a.path("junk"), Key: a.path("ca.key")},
	} {
		s.Endpoint = "https://127.0.0.1:4318"
		if _, err := New(Options{Metrics: s}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
