package debroot

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// seen is what testdata/look says.
type seen struct {
	Args, Env []string
	Dir       string
	Root      []string
	Link      string
	Errors    map[string]string // of writing, by what was written
}

// tree has the program look in its usr/bin, and says where a process can make a root.
func tree(t *testing.T) Root {
	t.Helper()
	r := Root{Tree: filepath.Join(t.TempDir(), "tree"), Dir: t.TempDir()}
	for _, dir := range []string{"usr/bin", "usr/lib", "etc/vendors", "kept", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(r.Tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(r.Tree, "usr/bin/look"), "./testdata/look")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // there is no C library in the tree
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// TestCommand starts a program with a tree as its root: what it sees there, what it may write, and that nothing of it stays.
func TestCommand(t *testing.T) {
	r := tree(t)
	kept := filepath.Join(r.Tree, "kept")
	r.Shared = []string{kept}
	r.Links = map[string]string{"/opt/where/it/was": "/usr/bin/look"}
	r.Env = []string{"LD_LIBRARY_PATH=/nowhere", "A=inner"}
	switch err := r.Try(t.Context()); {
	case errors.Is(err, ErrNotPermitted):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	cmd := r.Command(t.Context(), "/bin/look", "/opt/where/it/was", kept+"/new", "/tmp/new", "/new", "/usr/new", r.Tree+"/elsewhere/new", "two words")
	cmd.Env = append(os.Environ(), "A=outer", "B=outer")
	cmd.Dir = kept
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got seen
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Dir != kept || got.Link != "/usr/bin/look" || got.Args[len(got.Args)-1] != "two words" {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"LD_LIBRARY_PATH=/nowhere", "A=inner", "B=outer"} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("the environment is without %s", want)
		}
	}
	if slices.Contains(got.Env, "A=outer") {
		t.Error("the environment has what Env says otherwise")
	}
	for _, want := range []string{"bin", "dev", "etc", "lib", "lib64", "opt", "proc", "sbin", "sys", "tmp", "usr"} {
		if !slices.Contains(got.Root, want) {
			t.Errorf("the root has no /%s: %q", want, got.Root)
		}
	}
	if slices.Contains(got.Root, "home") || slices.Contains(got.Root, "var") {
		t.Errorf("the root is this machine's: %q", got.Root)
	}
	for path, may := range map[string]bool{kept + "/new": true, "/tmp/new": true, "/new": true, "/usr/new": false, r.Tree + "/elsewhere/new": false} {
		if e, tried := got.Errors[path]; !tried || (e == "") != may || !may && !strings.Contains(e, "read-only") {
			t.Errorf("writing %s: %q", path, e)
		}
	}
	if _, err := os.Stat(kept + "/new"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(r.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat("/tmp/new"); err == nil {
		t.Error("/tmp is this machine's though it is not shared")
	}
}

// TestNothingThere has no tree, and no program.
func TestNothingThere(t *testing.T) {
	r := tree(t)
	if err := r.Try(t.Context()); errors.Is(err, ErrNotPermitted) {
		t.Skip(err)
	}
	out, err := r.Command(t.Context(), "/bin/other").CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != otherwise || !strings.Contains(string(out), "/bin/other: no such file") {
		t.Errorf("%v: %s", err, out)
	}
	r.Tree += "-not-there"
	if err := r.Try(t.Context()); err == nil || errors.Is(err, ErrNotPermitted) || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// TestNotPermitted is without the namespace, as somebody who may not mount.
func TestNotPermitted(t *testing.T) {
	r := tree(t)
	text, err := json.Marshal(start{Root: r})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", argument, string(text))
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != notPermitted || !strings.Contains(string(out), "mount /: operation not permitted") {
		t.Errorf("%v: %s", err, out)
	}
}
