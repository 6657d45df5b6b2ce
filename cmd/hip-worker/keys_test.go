package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/cli"
)

// TestKeys: the lines that are printed name files that are there, as text and as JSON.
func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "k")
	code, out, errs := command(t, "keys", "init", "--dir", dir, "--host", "gpu", "--client", "alice")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{"hip-worker --listen 0.0.0.0 --tls-cert " + dir + "/server.crt", "TF_WORKER_HOST=gpu TF_WORKER_TLS_CA=" + dir + "/ca.crt", "TF_WORKER_TLS_KEY=" + dir + "/client-alice.key"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if code, out, errs = command(t, "keys", "add-client", "bob", "--json", "carol", "--dir", dir); code != 0 {
		t.Fatal(errs)
	}
	var m made
	if err := json.Unmarshal([]byte(out), &m); err != nil || len(m.Clients) != 2 || m.Clients[1].Name != "carol" || m.Worker != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range m.Clients {
		for name, path := range c.Environment {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, args := range []string{"", "what", "init x", "add-client", "init --days 0", "init --no", "add-client --host h x"} {
		words := strings.Fields(args)
		if args != "" && args != "what" {
			words = append(words, "--dir", t.TempDir())
		}
		if code, _, errs := command(t, append([]string{"keys"}, words...)...); code != cli.ExitUsage || errs == "" {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// command runs the program, but not as a worker.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(func(string) string { return "" }, func(*options) error { t.Error("a worker would be started"); return nil })
	code = cli.Main(t.Context(), root, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTLSFlags(t *testing.T) {
	for _, args := range []string{"--tls-cert a", "--tls-key a", "--tls-client-ca a", "--tls-cert a --tls-key b --listen unix:/x"} {
		if _, err := parse(strings.Fields(args), func(string) string { return "" }); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
	o, err := parse(strings.Fields("--tls-cert a --tls-key b --tls-client-ca c"), func(string) string { return "" })
	if err != nil || o.tls.Cert != "a" || o.tls.Key != "b" || o.tls.ClientCA != "c" {
		t.Errorf("%+v, %v", o, err)
	}
}
