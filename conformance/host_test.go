package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrap starts a program of a tree, as one of its programs would.
func TestWrap(t *testing.T) {
	tree := t.TempDir()
	for path, text := range map[string]string{
		"usr/lib64/ld-linux-x86-64.so.2": "#!/bin/sh\necho \"$@\"\n",
		"usr/lib/x/1.0/helper":           "",
	} {
		p := filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := &host{o: &options{tree: tree, lib: "/our lib"}, libs: []string{"usr/lib/blas"}}
	if _, err := h.wrap(map[string]string{"X": "usr/lib/y/*/helper"}); err == nil {
		t.Error("a program that is not there")
	}
	remove, err := h.wrap(map[string]string{"X": "usr/lib/x/*/helper"})
	if err != nil {
		t.Fatal(err)
	}
	script, found := strings.CutPrefix(strings.Join(h.env, " "), "X=")
	if !found {
		t.Fatalf("%q", h.env)
	}
	out, err := exec.Command(script, "a b", "c").Output()
	want := "--library-path /our lib:" + tree + "/usr/lib/blas:" + tree + "/usr/lib/x86_64-linux-gnu " + tree + "/usr/lib/x/1.0/helper a b c\n"
	if err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
	if remove(); exists(script) {
		t.Error("the script is left behind")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
