package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/worker/access"
)

// TestTokenNew: the entry is one that a worker takes, and does not tell the token, which is in a file of its own.
func TestTokenNew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	code, out, errs := command(t, "token", "new", "alice", "--expires", "24h", "--out", file)
	if code != 0 {
		t.Fatal(errs)
	}
	secret, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", i.Mode(), err)
	}
	if _, err := access.ParseRules([]byte("tokens:\n" + out)); err != nil || errs != "" || strings.Contains(out, strings.TrimSpace(string(secret))) || !strings.Contains(out, "expires:") {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
	if code, _, errs := command(t, "token", "new", "alice", "--out", file); code != cli.ExitFailure || !strings.Contains(errs, "exists") {
		t.Errorf("a file that is there: exit %d, %s", code, errs)
	}
	if code, out, errs := command(t, "token", "new", "bob"); code != 0 || !strings.Contains(errs, "rocwire_") || strings.Contains(out, "rocwire_") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for _, args := range [][]string{nil, {"new"}, {"old", "a"}, {"new", "--out"}, {"new", "a", "b"}, {"new", "a", "--expires", "-1h"}, {"new", ""}} {
		if code, _, errs := command(t, append([]string{"token"}, args...)...); code != cli.ExitUsage || errs == "" {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

// TestWhoRefusals: a worker that cannot know its clients as it was told to does not start, and says why in a line that tells no secret.
func TestWhoRefusals(t *testing.T) {
	exe := build(t)
	dir := t.TempDir()
	open, wrong := filepath.Join(dir, "open"), filepath.Join(dir, "wrong")
	for name, mode := range map[string]os.FileMode{open: 0o644, wrong: 0o600} {
		content := "tokens: [{name: a, token: hush-hush-hush-hush}]"
		if name == wrong {
			content = "tokens: [{name: a, tokens: hush-hush-hush-hush}]"
		}
		if err := errors.Join(os.WriteFile(name, []byte(content), mode), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		args []string
		say  string
	}{
		"others can read it": {[]string{"--token-file", open}, "chmod 600"}, "not the form": {[]string{"--token-file", wrong}, `no field "tokens"`},
		"no such file": {[]string{"--token-file", filepath.Join(dir, "x")}, "no such file"}, "audience only": {[]string{"--oidc-audience", "x"}, "--oidc-issuer"},
		"plain issuer": {[]string{"--oidc-issuer", "http://issuer.example"}, "https"}, "no cluster": {[]string{"--oidc-issuer", "kubernetes"}, "no pod"},
		"plain keys": {[]string{"--oidc-issuer", "https://issuer.example", "--oidc-jwks-url", "http://issuer.example/keys"}, "--oidc-jwks-url"},
		"no folder":  {[]string{"--audit", "/no/such/folder/file"}, "/no/such/folder"}, "no TLS": {[]string{"--listen", "0.0.0.0"}, "hip-worker keys init"},
	} {
		want := cli.ExitFailure
		if slices.Contains([]string{"no TLS", "audience only", "plain issuer", "plain keys"}, what) { // whatever files say
			want = cli.ExitUsage
		}
		code, _, errs := runToEnd(t, exe, append([]string{"--backend", "sim", "-p", "0"}, c.args...)...)
		if code != want || !strings.Contains(errs, c.say) || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "hush-hush") {
			t.Errorf("%s: exit code %d, %q", what, code, errs)
		}
	}
	if code, out, _ := runToEnd(t, exe, "--help"); code != 0 || !strings.Contains(out, "--token-file") || !strings.Contains(out, "--audit") {
		t.Errorf("--help: exit code %d", code)
	}
}

// TestInsecureIsSaid: what --insecure means is said, with what it lets everybody do.
func TestInsecureIsSaid(t *testing.T) {
	for allow, want := range map[bool]string{false: "may use the cards, and", true: "change them and end sessions"} {
		var b bytes.Buffer
		warnInsecure(&options{allowSet: allow}, slog.New(slog.NewTextHandler(&b, nil)))
		if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "level=WARN") {
			t.Error(b.String())
		}
	}
}
