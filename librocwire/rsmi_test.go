package main

import (
	"path/filepath"
	"testing"
)

// The older interface tells of a worker's cards what AMD SMI's tells, and lets nobody do
// more.
func TestRSMI(t *testing.T) {
	bin, lib := filepath.Join(built, "smi_rsmi"), filepath.Join(built, "lib")
	build(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-Ismiabi/include", "-Ilibrocwire", "librocwire/testdata/rsmi.c", "-o", bin, "-L"+lib, "-lrocm_smi64", "-lamd_smi", "-Wl,-rpath,"+lib)
	wants(t, runs(t, simEnv, bin, "1"), "rsmi: 1 cards ok")
	for _, arch := range []string{"gfx90a", "gfx942"} {
		wants(t, runs(t, worker(t, nil, "--backend", "sim", "--sim-arch", arch, "--sim-cards", "2"), bin, "0"), "rsmi: 2 cards ok")
	}
}
