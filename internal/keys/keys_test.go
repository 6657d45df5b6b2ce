package keys

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestInit: certificates are good for what they are for, and for nothing else; keys are for their owner's eyes.
func TestInit(t *testing.T) {
	d := Dir{Path: t.TempDir() + "/new", Days: 30}
	if err := d.Init([]string{"gpu7", "10.0.0.7", "::1"}, []string{"alice"}); err != nil {
		t.Fatal(err)
	}
	if err := d.AddClient("bob@home"); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(read(t, d.Cert(CA)))) {
		t.Fatal("no CA")
	}
	for name, use := range map[string]x509.ExtKeyUsage{Server: x509.ExtKeyUsageServerAuth, Client("alice"): x509.ExtKeyUsageClientAuth, Client("bob@home"): x509.ExtKeyUsageClientAuth} {
		pair, err := tls.LoadX509KeyPair(d.Cert(name), d.Key(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{u}}); (err == nil) != (u == use) {
				t.Errorf("%s for use %d: %v", name, u, err)
			}
		}
		if left := time.Until(pair.Leaf.NotAfter); left > 31*24*time.Hour || left < 29*24*time.Hour || pair.Leaf.IsCA {
			t.Errorf("%s: %v", name, pair.Leaf.NotAfter)
		}
		if name == Server {
			for _, h := range []string{"gpu7", "10.0.0.7", "::1"} {
				if err := pair.Leaf.VerifyHostname(h); err != nil {
					t.Error(err)
				}
			}
		} else if pair.Leaf.Subject.CommonName != strings.TrimPrefix(name, "client-") {
			t.Errorf("%s is %s", name, pair.Leaf.Subject)
		}
		if i, err := os.Stat(d.Key(name)); err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, i.Mode(), err)
		}
	}
	if i, err := os.Stat(d.Path); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", i.Mode(), err)
	}
}

// TestNothingIsLost: what is there is not written over, unless that is wanted.
func TestNothingIsLost(t *testing.T) {
	d := Dir{Path: t.TempDir(), Days: 30}
	if err := d.AddClient("alice"); err == nil || !strings.Contains(err.Error(), "keys init") {
		t.Errorf("a client without a CA: %v", err)
	}
	if err := d.Init([]string{"h"}, []string{"alice"}); err != nil {
		t.Fatal(err)
	}
	ca, key := read(t, d.Key(CA)), read(t, d.Key("client-alice"))
	if err := d.Init([]string{"h"}, nil); err == nil {
		t.Error("a CA was replaced")
	}
	if err := d.AddClient("alice"); err == nil {
		t.Error("a client's key was replaced")
	}
	if read(t, d.Key(CA)) != ca || read(t, d.Key("client-alice")) != key {
		t.Error("keys have changed")
	}
	d.Force = true
	if err := d.AddClient("alice"); err != nil || read(t, d.Key("client-alice")) == key {
		t.Error("--force forces nothing", err)
	}
	d.Days = 11 * 365
	if err := d.AddClient("bob"); err == nil {
		t.Error("a certificate that outlives its CA")
	}
	for _, name := range []string{"", "../x", "a/b", ".x", "a b", strings.Repeat("x", 65)} {
		if err := d.AddClient(name); err == nil {
			t.Errorf("a client called %q", name)
		}
	}
	for _, hosts := range [][]string{nil, {""}, {"a b"}, {"h:1"}} {
		if err := (&Dir{Path: t.TempDir(), Days: 1}).Init(hosts, nil); err == nil {
			t.Errorf("hosts %q", hosts)
		}
	}
}
