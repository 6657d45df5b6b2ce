package influx

import (
	"bytes"
	"encoding/pem"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/exporter/rows/rowstest"
	"github.com/rocwire/rocwire/internal/outbound"
)

func TestOptions(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "token")
	if err := os.WriteFile(secret, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ROCWIRE_INFLUX_URL": "https://db.example.com", "ROCWIRE_INFLUX_BUCKET": "gpus", "ROCWIRE_INFLUX_TOKEN": "from-env"}
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
	c, err := newClient(&o)
	if err != nil || c.auth != "Token from-env" || c.target.String() != "https://db.example.com/api/v2/write?bucket=gpus&precision=ms" {
		t.Errorf("%+v %v", c, err)
	}
	if err := fs.Parse([]string{"--influx-token-file", secret, "--influx-org", "o", "--influx-url", "http://h:1/base/"}); err != nil {
		t.Fatal(err)
	}
	c, err = newClient(&o)
	if err != nil || c.auth != "Token from-file" || c.target.String() != "http://h:1/base/api/v2/write?bucket=gpus&org=o&precision=ms" {
		t.Errorf("%+v %v", c, err)
	}
	for _, bad := range []Options{
		{URL: "h:8086"}, {URL: "ftp://h"}, {URL: "http://"}, {URL: "http://h"}, {URL: "http://u:hunter2@h", Bucket: "b"}, {URL: "http://h/#x", Bucket: "b"},
		{URL: "http://hunter2 %zz", Bucket: "b"}, {URL: "http://h", Bucket: "b", User: "u"}, {URL: "http://h", Bucket: "b", Password: "hunter2"},
		{URL: "http://h", Bucket: "b", User: "u", Password: "hunter2", Token: "x"}, {URL: "http://h", Bucket: "b", TokenFile: filepath.Join(dir, "none")},
		{URL: "http://h", Bucket: "b", TLS: outbound.TLS{CA: secret}}, {URL: "https://h", Bucket: "b", TLS: outbound.TLS{CA: secret}},
	} {
		if s, err := Open(bad, rows.RunnerOptions{Read: func() exporter.Reading { return exporter.Reading{} }}); err == nil {
			t.Errorf("%+v is taken", bad)
			_ = s.Close()
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "from-file") {
			t.Error(err)
		}
	}
}

func TestHTTPS(t *testing.T) {
	s := &server{path: v2, auth: "Token abc", points: map[string]point{}}
	h := httptest.NewTLSServer(http.HandlerFunc(s.ServeHTTP))
	defer h.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tls outbound.TLS
		ok  bool
	}{
		"its certificate": {outbound.TLS{CA: ca}, true}, "its other name": {outbound.TLS{CA: ca, ServerName: "example.com"}, true},
		"not checked": {outbound.TLS{Insecure: true}, true}, "unknown authority": {outbound.TLS{}, false},
		"not its name": {outbound.TLS{CA: ca, ServerName: "example.org"}, false},
	} {
		p := start(t, Options{URL: h.URL, Bucket: "gpus", Org: "o", Token: "abc", TLS: c.tls}, t.TempDir(), rowstest.NewWork(), rowstest.NewReference(place))
		p.put(1)
		if c.ok {
			p.drained(t)
		} else {
			wait(t, "an attempt fails", func() bool { return p.Stats().Failures > 0 })
		}
		if st := p.Stats(); c.ok == strings.Contains(st.LastError, "certificate") || strings.Contains(st.LastError, "bucket=") {
			t.Errorf("%s: %+v", name, st)
		}
		p.stop()
	}
}

// The token is never shown, but that it is sent in the clear is said.
func TestWarning(t *testing.T) {
	var log bytes.Buffer
	r := rows.RunnerOptions{Read: func() exporter.Reading { return exporter.Reading{} }, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for url, want := range map[string]bool{"http://h": true, "https://h": false} {
		log.Reset()
		s, err := Open(Options{URL: url, Bucket: "b", Token: "hunter2"}, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if got := log.String(); strings.Contains(got, "in the clear") != want || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %s", url, got)
		}
	}
}
