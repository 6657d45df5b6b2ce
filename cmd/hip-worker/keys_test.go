package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeys: the lines that are printed name files that are there, as text and as JSON.
func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "k")
	var out bytes.Buffer
	if err := makeKeys([]string{"init", "--dir", dir, "--host", "gpu", "--client", "alice"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--tls-cert " + dir + "/server.crt", "TF_WORKER_TLS_CA=" + dir + "/ca.crt", "TF_WORKER_TLS_KEY=" + dir + "/client-alice.key"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := makeKeys([]string{"add-client", "bob", "--json", "carol", "--dir", dir}, &out); err != nil {
		t.Fatal(err)
	}
	var m made
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || len(m.Clients) != 2 || m.Clients[1].Name != "carol" || m.Worker != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, c := range m.Clients {
		for name, path := range c.Environment {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, args := range []string{"what", "init x", "add-client", "init --days 0", "init --no", "add-client --host h x"} {
		if err := makeKeys(strings.Fields(args+" --dir "+t.TempDir()), &out); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	out.Reset()
	if err := makeKeys(nil, &out); err != nil || out.String() != keysUsage {
		t.Error(err)
	}
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
