package greptime

import (
	"crypto/tls"
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/greptime/greptimetest"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/internal/outbound"
)

func TestOptions(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ROCWIRE_GREPTIME": "db.example.com", "ROCWIRE_GREPTIME_USER": "ann", "ROCWIRE_GREPTIME_PASSWORD": "from-env", "ROCWIRE_GREPTIME_TLS": "1"}
	var o Options
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil || !o.Enabled() {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../../docs/greptimedb.md")
	if err != nil {
		t.Fatal(err)
	}
	var help strings.Builder
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(&help)
	o.AddFlags(fs)
	fs.PrintDefaults()
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "--"+f.Name+" ") {
			t.Errorf("--%s is not explained", f.Name)
		}
		if !strings.Contains(string(docs), "--"+f.Name) {
			t.Errorf("--%s is not in the documentation", f.Name)
		}
	})
	if text := help.String() + Usage(); strings.Contains(text, "from-env") {
		t.Error(text)
	}
	if host, err := o.check(); err != nil || host != "db.example.com" || o.Address != "db.example.com:4001" || o.Password.Reveal() != "from-env" || o.Database != "public" {
		t.Errorf("%+v %v", o, err)
	}
	if err := fs.Parse([]string{"--greptime", "[::1]:5001", "--greptime-password-file", secret, "--greptime-database", "x"}); err != nil {
		t.Fatal(err)
	}
	if host, err := o.check(); err != nil || host != "::1" || o.Address != "[::1]:5001" || o.Password.Reveal() != "from-file" || o.Database != "x" {
		t.Errorf("%+v %v", o, err)
	}
	for _, bad := range []Options{
		{Address: ":4001"}, {Address: "h:0"}, {Address: "h:x"}, {Address: "http://h:4001"}, {Address: "h:99999"}, {Address: "a b"},
		{Address: "h", User: "u"}, {Address: "h", Password: "p"}, {Address: "h", User: "u", PasswordFile: filepath.Join(t.TempDir(), "none")},
		{Address: "h", TLS: outbound.TLS{CA: secret}}, {Address: "h", UseTLS: true, TLS: outbound.TLS{CA: secret}}, {Address: "h", Time: "ts:h"},
	} {
		if s, err := Open(bad, rows.RunnerOptions{Read: func() exporter.Reading { return exporter.Reading{} }}); err == nil {
			t.Errorf("%+v is taken", bad)
			_ = s.Close()
		} else if strings.Contains(err.Error(), "from-file") {
			t.Error(err)
		}
	}
	if err := (&Options{}).FromEnv(func(k string) string { return "maybe" }); err == nil || !strings.Contains(err.Error(), "ROCWIRE_GREPTIME_TLS") {
		t.Error(err)
	}
	if _, err := Open(Options{Address: "h"}, rows.RunnerOptions{}); err == nil {
		t.Error("nothing to read is taken")
	}
}

// A wrong password loses nothing: it is tried again until somebody puts it right.
func TestWrongPassword(t *testing.T) {
	work, ref, l := setup(t)
	s := serve(t, &greptimetest.Server{User: "ann", Password: "new-word"})
	dir := t.TempDir()
	p := start(t, Options{Address: s.Address(), User: "ann", Password: "old-word"}, dir, work, ref, l)
	p.put(2)
	wait(t, "an attempt fails", func() bool { return p.Stats().Failures > 0 })
	if st := p.Stats(); st.Waiting != 2 || st.Refused != 0 || !strings.Contains(st.LastError, "do not match") || strings.Contains(st.LastError, "-word") {
		t.Errorf("%+v", st)
	}
	p.stop()
	ref.Restart()
	q := start(t, Options{Address: s.Address(), User: "ann", Password: "new-word"}, dir, work, ref, l)
	q.drained(t)
	compare(t, s, ref)
	if text := l.String(); strings.Contains(text, "new-word") || strings.Contains(text, "old-word") {
		t.Error(text)
	}
}

// certificate is one for 127.0.0.1 and example.com, and a file that has it.
func certificate(t *testing.T) (*tls.Config, string) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	h.EnableHTTP2 = true
	h.StartTLS()
	defer h.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: h.TLS.Certificates}, path
}

func TestTLS(t *testing.T) {
	config, ca := certificate(t)
	for name, c := range map[string]struct {
		tls outbound.TLS
		ok  bool
	}{
		"its certificate":   {outbound.TLS{CA: ca}, true},
		"its other name":    {outbound.TLS{CA: ca, ServerName: "example.com"}, true},
		"not checked":       {outbound.TLS{Insecure: true}, true},
		"not its name":      {outbound.TLS{CA: ca, ServerName: "example.org"}, false},
		"unknown authority": {outbound.TLS{}, false},
	} {
		work, ref, l := setup(t)
		s := serve(t, &greptimetest.Server{TLS: config.Clone(), User: "ann", Password: "word"})
		p := start(t, Options{Address: s.Address(), User: "ann", Password: "word", UseTLS: true, TLS: c.tls}, t.TempDir(), work, ref, l)
		p.put(1)
		if c.ok {
			p.drained(t)
			compare(t, s, ref)
		} else {
			wait(t, "an attempt fails", func() bool { return p.Stats().Failures > 0 })
			if st := p.Stats(); st.Waiting != 1 || !strings.Contains(st.LastError, "certificate") {
				t.Errorf("%s: %+v", name, st)
			}
		}
		if strings.Contains(l.String(), "in the clear") {
			t.Errorf("%s: %s", name, l)
		}
	}
}
