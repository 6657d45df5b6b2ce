//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// call runs the program, without an environment.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, func(string) string { return "" }, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestUsage: what is wrong on the command line is said, and is not taken for a cluster that is away.
func TestUsage(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "--help"}, {"x", 2, "x"}, {"publish x", 2, "x"}, {"publish --nonsense", 2, "nonsense"}, {"publish --interval soon", 2, "interval"},
		{"node --kubeconfig " + none, 2, "--node-name"}, {"publish --kubeconfig " + none, 1, none}, {"node --node-name n --kubeconfig " + none, 1, none},
	} {
		if code, _, errs := call(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit code %d, %s", c.args, code, errs)
		}
	}
	if code, out, _ := call(t, "--version"); code != 0 || !strings.HasPrefix(out, "rocwire-dra ") {
		t.Errorf("exit code %d, %s", code, out)
	}
}

// TestManifest: what is deployed starts the commands with flags that they have.
func TestManifest(t *testing.T) {
	b, err := os.ReadFile("../../deploy/dra/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	starts := regexp.MustCompile(`(?m)^ *args: \[(.*)\]$`).FindAllStringSubmatch(string(b), -1)
	if len(starts) != 2 {
		t.Fatalf("%q", starts)
	}
	for _, s := range starts {
		args := strings.Split(s[1], ", ")
		code, help, errs := call(t, args[0], "--help")
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", args[0], code, errs)
		}
		for _, a := range args[1:] {
			if strings.HasPrefix(a, "--") && !regexp.MustCompile(`(?m)^ *(-., )?`+a+` `).MatchString(help) {
				t.Errorf("%s has no flag %s:\n%s", args[0], a, help)
			}
		}
	}
}

// TestNoLimit: nothing but the API server holds back who has thousands of slices to write.
func TestNoLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: a, context: {cluster: a}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := (&settings{kubeconfig: file}).cluster()
	if err != nil {
		t.Fatal(err)
	}
	if l := client.ResourceV1().RESTClient().GetRateLimiter(); l != nil {
		t.Errorf("%v requests a second", l.QPS())
	}
}
