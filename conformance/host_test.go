package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/conformance/internal/debroot"
)

func TestMain(m *testing.M) {
	debroot.Main()
	os.Exit(m.Run())
}

// TestEnter starts a program that has the tree as its root.
func TestEnter(t *testing.T) {
	tree, lib := filepath.Join(t.TempDir(), "tree"), t.TempDir()
	for _, dir := range []string{"usr/bin", "usr/lib/blas"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(tree, "usr/bin/look"), "./internal/debroot/testdata/look")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := &host{o: &options{tree: tree, lib: lib}, w: &worker{port: "4711"}, libs: []string{"usr/lib/blas"}, env: []string{"KEPT={tree}/" + lists}}
	leave, err := h.enter(t.Context(), func(*options) (map[string]string, error) { return map[string]string{"/build/cc": "/usr/bin/cc"}, nil })
	if errors.Is(err, debroot.ErrNotPermitted) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(tree, lists, "new")
	out, err := h.command(t.Context(), "usr/bin/look", "/build/cc", "{tree}/"+lists+"/new", filepath.Join(lib, "new"), "last").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Args, Env []string
		Link      string
		Errors    map[string]string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LD_LIBRARY_PATH=" + lib + ":" + tree + "/usr/lib/blas:" + tree + "/usr/lib/x86_64-linux-gnu", "TF_WORKER_PORT=4711", "KEPT=" + tree + "/" + lists, "PATH=/usr/bin:/usr/sbin"} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("no %s in %q", want, got.Env)
		}
	}
	if got.Args[0] != "/usr/bin/look" || got.Link != "/usr/bin/cc" || got.Errors[kept] != "" || !exists(kept) {
		t.Errorf("%+v", got)
	}
	if leave(); exists(h.root.Dir) {
		t.Error("the folder is left behind")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
