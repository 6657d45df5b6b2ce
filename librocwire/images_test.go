package main

import (
	"strings"
	"testing"
)

// The programs of arrays and textures on a device with images behind a library:
// [TestProxy]'s has none.
func TestProxyImages(t *testing.T) {
	env := proxyOf(t, worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a"))
	for _, name := range []string{"images", "arrays", "texrefs", "texobjects", "array_graphs"} {
		if out := runs(t, env, program(t, "examples/tests/"+name+".c")); !strings.Contains(out, "ok\n") {
			t.Errorf("%s wrote %q", name, out)
		}
	}
}
