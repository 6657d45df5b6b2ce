package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamedWorker: keys and tokens as their commands make them, and a configuration file that names the worker: a program finds it by its name, and its
// record says whose it was. A token that was taken back is an error of the next program that says what to do.
func TestNamedWorker(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	tool := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(filepath.Join(built, "hip-worker"), args...).Output()
		if err != nil {
			t.Fatalf("hip-worker %s: %v", strings.Join(args, " "), err)
		}
		return string(out)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool("keys", "init", "--dir", in("keys"), "--host", "gpu-server")
	write("tokens.yaml", "tokens:\n"+tool("token", "new", "alice", "--expires", "1h", "--out", in("alice.token")))
	env := worker(t, nil, "--backend", "sim", "--tls-cert", in("keys/server.crt"), "--tls-key", in("keys/server.key"), "--token-file", in("tokens.yaml"), "--audit", in("audit"))
	write("config.yaml", `default: lab
workers:
  lab:
    address: rocwire://127.0.0.1:`+strings.TrimPrefix(env[1], "TF_WORKER_PORT=")+`
    token-file: alice.token
    tls: {ca: keys/ca.crt, server-name: gpu-server}
`)
	config := "ROCWIRE_CONFIG=" + in("config.yaml")
	quick := program(t, "examples/tests/quick.c")
	runs(t, []string{config, "TF_WORKER_HOST=lab"}, quick)
	runs(t, []string{config}, quick)
	write("tokens.yaml", "tokens: []\n")
	cmd := exec.Command(quick)
	cmd.Env = append(os.Environ(), config)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "TF_WORKER_TOKEN_FILE") {
		t.Errorf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(in("audit"))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(in("alice.token"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), strings.TrimSpace(string(secret))) {
		t.Error("the record tells the token")
	}
	got := map[string]int{}
	for line := range strings.Lines(string(b)) {
		var e struct{ Event, Who, Method, Result string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got[e.Event+" "+e.Who+" "+e.Method]++
	}
	if got["session alice token"] != 2 || got["refused  token"] != 1 {
		t.Errorf("%v\n%s", got, b)
	}
}
