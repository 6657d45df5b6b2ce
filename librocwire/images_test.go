package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The programs of arrays and textures on a device with images behind a library:
// [TestProxy]'s has none.
func TestProxyImages(t *testing.T) {
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a")
	rocm := filepath.Join(t.TempDir(), "rocm")
	if err := os.Symlink(built, rocm); err != nil {
		t.Fatal(err)
	}
	env = worker(t, append(env, "ROCM_PATH="+rocm), "--backend", "rocm")
	for _, name := range []string{"images", "arrays", "texrefs", "texobjects", "array_graphs"} {
		if out := runs(t, env, program(t, "examples/tests/"+name+".c")); !strings.Contains(out, "ok\n") {
			t.Errorf("%s wrote %q", name, out)
		}
	}
}
