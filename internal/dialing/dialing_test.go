package dialing

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocwire/rocwire/internal/keys"
	"github.com/rocwire/rocwire/wire"
)

// TestTLS: what turns TLS on, and what makes no sense.
func TestTLS(t *testing.T) {
	d := keys.Dir{Path: t.TempDir(), Days: 1}
	if err := d.Init([]string{"w"}, []string{"c"}); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(d.Path, "bad")
	if err := os.WriteFile(bad, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	ca, cert, key := d.Cert(keys.CA), d.Cert("client-c"), d.Key("client-c")
	for _, c := range []struct {
		env      map[string]string
		on, fail bool
	}{
		{nil, false, false},
		{map[string]string{TLSVariable: "1"}, true, false},
		{map[string]string{TLSVariable: "0", CAVariable: "/none"}, false, false},
		{map[string]string{TLSVariable: "maybe"}, false, true},
		{map[string]string{CAVariable: ca}, true, false},
		{map[string]string{ServerNameVariable: "w"}, true, false},
		{map[string]string{CAVariable: ca, CertVariable: cert, KeyVariable: key}, true, false},
		{map[string]string{CertVariable: cert, KeyVariable: key}, true, false},
		{map[string]string{CertVariable: cert}, false, true},
		{map[string]string{CertVariable: cert, KeyVariable: bad}, false, true},
		{map[string]string{KeyVariable: key}, false, true},
		{map[string]string{CAVariable: bad}, false, true},
		{map[string]string{CAVariable: "/none"}, false, true},
	} {
		s := FromEnv(func(name string) string { return c.env[name] })
		var o wire.Options
		if err := s.Apply(&o); (err != nil) != c.fail || (o.TLS != nil) != c.on {
			t.Errorf("%v: %+v, %v", c.env, o.TLS, err)
		}
		if o.TLS != nil && (o.TLS.InsecureSkipVerify || o.TLS.ServerName != c.env[ServerNameVariable]) {
			t.Errorf("%v: %+v", c.env, o.TLS)
		}
	}
}

// TestFlags: a flag goes before its variable.
func TestFlags(t *testing.T) {
	s := Settings{TLS: TLS{CA: "a", Key: "k"}}
	f := flag.NewFlagSet("", flag.ContinueOnError)
	s.AddFlags(f, "tls")
	if err := f.Parse([]string{"--tls-ca", "b", "--tls-server-name", "n"}); err != nil {
		t.Fatal(err)
	}
	if want := (TLS{CA: "b", Key: "k", ServerName: "n"}); s.TLS != want {
		t.Errorf("%+v", s.TLS)
	}
}
