package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// webFiles makes a certificate for 127.0.0.1, which is its own authority, with its key.
type webFiles struct {
	dir  string
	pool *x509.CertPool
	cert tls.Certificate
}

func newWebFiles(t *testing.T) *webFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{{127, 0, 0, 1}}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	f := &webFiles{dir: t.TempDir(), pool: x509.NewCertPool()}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	f.write(t, "cert.pem", string(certPEM))
	f.write(t, "key.pem", string(keyPEM))
	f.pool.AppendCertsFromPEM(certPEM)
	if f.cert, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *webFiles) write(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(f.dir, name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func hash(t *testing.T, password string) string {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	withTLS   = "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"
	withCerts = withTLS + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: cert.pem\n"
)

func users(name, hash string) string { return fmt.Sprintf("basic_auth_users:\n  %s: %s\n", name, hash) }

// Other machines may connect only if they must say who they are, over TLS.
func TestWhereToListen(t *testing.T) {
	f := newWebFiles(t)
	pw := users("prometheus", hash(t, "secret"))
	for name, c := range map[string]struct {
		web      string
		listen   string
		args     []string
		insecure bool
		err      string
	}{
		"loopback":                           {"", "127.0.0.1:0", nil, false, ""},
		"loopback with TLS":                  {withTLS, "[::1]:0", nil, false, ""},
		"everywhere":                         {"", "0.0.0.0:0", nil, false, "--insecure"},
		"everywhere, named by nothing":       {"", ":0", nil, false, "--insecure"},
		"everywhere, insecure":               {"", "0.0.0.0:0", nil, true, ""},
		"everywhere, TLS alone":              {withTLS, "0.0.0.0:0", nil, false, "demands authentication over TLS"},
		"everywhere, password alone":         {pw, "0.0.0.0:0", nil, false, "demands authentication over TLS"},
		"everywhere, both":                   {withTLS + pw, "0.0.0.0:0", nil, false, ""},
		"everywhere, certificates":           {withCerts, "0.0.0.0:0", nil, false, ""},
		"everywhere, any certificate":        {withTLS + "  client_auth_type: RequireAnyClientCert\n", "0.0.0.0:0", nil, false, "demands"},
		"everywhere, certificates if given":  {strings.Replace(withCerts, "RequireAndVerifyClientCert", "VerifyClientCertIfGiven", 1), "0.0.0.0:0", nil, false, "demands"},
		"everywhere, the system's authority": {withTLS + "  client_auth_type: RequireAndVerifyClientCert\n", "0.0.0.0:0", nil, false, "demands"},
		"everywhere, no users":               {withTLS + "basic_auth_users: {}\n", "0.0.0.0:0", nil, false, "demands"},
		"everywhere, profiles":               {withTLS + pw, "0.0.0.0:0", []string{"--web-debug"}, false, "--web-debug"},
		"insecure, profiles":                 {"", "0.0.0.0:0", []string{"--web-debug"}, true, "--web-debug"},
		"no YAML":                            {"{", "127.0.0.1:0", nil, false, "--web-config"},
		"unknown key":                        {"basic_auth: x", "127.0.0.1:0", nil, false, "--web-config"},
		"no hash":                            {users("x", "secret"), "127.0.0.1:0", nil, false, "--web-config"},
		"no certificate":                     {"tls_server_config:\n  cert_file: none\n  key_file: none\n", "127.0.0.1:0", nil, false, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, c.args...)
			o.Listen, o.Insecure = c.listen, c.insecure
			if c.web != "" {
				o.WebConfig = f.write(t, "web.yml", c.web)
			}
			tls, err := o.CheckWeb()
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v", err)
			}
			if err == nil && tls != strings.Contains(c.web, "tls_server_config") {
				t.Errorf("TLS %v", tls)
			}
		})
	}
	o := options(t, "--web-config", f.dir+"/missing.yml")
	if _, err := o.CheckWeb(); err == nil || !strings.Contains(err.Error(), "missing.yml") {
		t.Error(err)
	}
}

func TestPassword(t *testing.T) {
	f := newWebFiles(t)
	o := options(t, "--web-config", f.write(t, "web.yml", withTLS+users("prometheus", hash(t, "secret"))))
	o.Listen = "0.0.0.0:0"
	r := start(t, o)
	_, port, err := net.SplitHostPort(r.listener.Addr().String())
	if err != nil || !strings.HasPrefix(r.URL(), "https://") {
		t.Fatal(r.URL(), err)
	}
	url := "https://127.0.0.1:" + port + "/metrics"
	c := clientWith(&tls.Config{RootCAs: f.pool})
	for name, w := range map[string]struct {
		auth []string
		code int
	}{
		"right":    {[]string{"prometheus", "secret"}, 200},
		"wrong":    {[]string{"prometheus", "Secret"}, 401},
		"empty":    {[]string{"prometheus", ""}, 401},
		"stranger": {[]string{"root", "secret"}, 401},
		"none":     {nil, 401},
	} {
		if a := get(c, url, w.auth...); a.code != w.code || a.code == 401 && strings.Contains(a.body, "gpu_") {
			t.Errorf("%s: %d, %v", name, a.code, a.err)
		}
	}
	if a := get(http.DefaultClient, strings.Replace(url, "https", "http", 1), "prometheus", "secret"); a.code == 200 {
		t.Error("without TLS as well")
	}
	// A new password counts from the next request on.
	f.write(t, "web.yml", withTLS+users("prometheus", hash(t, "new")))
	if a := get(c, url, "prometheus", "secret"); a.code != 401 {
		t.Errorf("the old password: %d", a.code)
	}
	if a := get(c, url, "prometheus", "new"); a.code != 200 {
		t.Errorf("the new password: %d", a.code)
	}
	// Who takes the password away does not open the door.
	f.write(t, "web.yml", withTLS)
	if a := get(c, url); a.code != 503 || !strings.Contains(a.body, "no longer demands") {
		t.Errorf("without a password: %d %s", a.code, a.body)
	}
	f.write(t, "web.yml", "{}")
	if a := get(c, url); a.code == 200 {
		t.Error("without anything")
	}
	f.write(t, "web.yml", withTLS+users("prometheus", hash(t, "new")))
	if a := get(c, url, "prometheus", "new"); a.code != 200 {
		t.Errorf("the password again: %d", a.code)
	}
}

func TestCertificates(t *testing.T) {
	f := newWebFiles(t)
	o := options(t, "--web-config", f.write(t, "web.yml", withCerts))
	o.Listen = "0.0.0.0:0"
	r := start(t, o)
	_, port, err := net.SplitHostPort(r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	url := "https://127.0.0.1:" + port + "/metrics"
	known := clientWith(&tls.Config{RootCAs: f.pool, Certificates: []tls.Certificate{f.cert}})
	unknown := clientWith(&tls.Config{RootCAs: f.pool, Certificates: []tls.Certificate{newWebFiles(t).cert}})
	none := clientWith(&tls.Config{RootCAs: f.pool})
	if a := get(known, url); a.code != 200 {
		t.Errorf("known: %d, %v", a.code, a.err)
	}
	for name, c := range map[string]*http.Client{"unknown": unknown, "none": none} {
		if a := get(c, url); a.err == nil {
			t.Errorf("%s: %d", name, a.code)
		}
	}
	f.write(t, "web.yml", withTLS)
	for name, c := range map[string]*http.Client{"known": known, "none": none} {
		if a := get(c, url); a.code != 503 {
			t.Errorf("%s, once certificates are not demanded: %d %v", name, a.code, a.err)
		}
	}
}
