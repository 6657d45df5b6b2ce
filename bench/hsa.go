package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/simgpu"
)

// hsaPath is our stand-in for AMD's HSA library, as "make build" made it.
const hsaPath = "build/lib/hsa/libhsa-runtime64.so.1"

// benchHSA measures the simulated card behind HSA's interface, and AMD's own HIP runtime on it beside ours on the same card, in the program itself. AMD's
// is that of Debian's packages, which "go run ./conformance -only hsa" fetches.
func benchHSA(t *table, f *floor, dir string) error {
	if !built(t, "hsa") {
		return nil
	}
	path := filepath.Join(dir, "hsabench")
	lib, err := filepath.Abs(filepath.Dir(hsaPath))
	if err != nil {
		return err
	}
	if err := compile(path, "-D_GNU_SOURCE", "-Ihsaabi/include", "bench/c/hsabench.c", hsaPath, "-Wl,-rpath,"+lib); err != nil {
		return err
	}
	p, err := start(os.Environ(), path, "examples/kernels/"+simgpu.DefaultArch+"/vector_add.co")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := hsaCalls(t, f, p); err != nil {
		return err
	}
	return besideAMD(t, dir, lib)
}

func hsaCalls(t *table, f *floor, p *program) error {
	var mid, late, mem, to, from []float64
	for i := range *rounds + 1 {
		v, err := p.measure("dispatch", *calls/10)
		if err != nil {
			return err
		}
		c, u, d, err := bothWays(f, p)
		if err != nil {
			return err
		}
		if i == 0 { // warms up
			continue
		}
		mid, late, mem, to, from = append(mid, v[0]), append(late, v[1]), append(mem, c), append(to, u), append(from, d)
	}
	t.plain("hsa: dispatch, from the doorbell to the completion signal", fmt.Sprintf("%s, p99 %s", micros(median(mid)), micros(median(late))), "")
	mib := fmt.Sprintf("hsa: hsa_amd_memory_async_copy of %d MiB", *size>>20)
	t.row(mib+" to the card, floor memcpy", mem, to, rate, 0, true)
	t.row(mib+" from the card, floor memcpy", mem, from, rate, 0, true)
	return nil
}

// besideAMD measures programs of HIP's on AMD's runtime over our HSA library, and on ours: what is the floor here.
func besideAMD(t *table, dir, lib string) error {
	tree, err := debtree.Find()
	if err != nil {
		return err
	}
	libs := filepath.Join(tree, "usr/lib/x86_64-linux-gnu")
	if _, err := os.Stat(filepath.Join(libs, "libamdhip64.so.6")); err != nil {
		t.plain("hsa: AMD's HIP runtime: not measured", "", "it is not in "+tree+" (go run ./conformance -only hsa fetches it)")
		return nil
	}
	path, err := hipProgram(dir, "hipbench")
	if err != nil {
		return err
	}
	ours := append(os.Environ(), "TF_WORKER_HOST=sim:", "LD_LIBRARY_PATH="+filepath.Dir(lib))
	amd := []string{filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", lib + ":" + libs}
	a, err := start(ours, path)
	if err != nil {
		return err
	}
	defer a.stop()
	b, err := start(os.Environ(), append(amd, path)...)
	if err != nil {
		return err
	}
	defer b.stop()
	for _, m := range []struct {
		name, what string
		n          int
		unit       func(float64) string
	}{
		{"a kernel, launched and waited for", "wait", *calls / 10, micros},
		{"kernel launch, issue cost", "launch", *calls / 10, micros},
		{"hipMemcpy of 4 bytes from the device", "sync", *calls / 10, micros},
		{fmt.Sprintf("hipMemcpy of %d MiB to the device", *size>>20), "to", *size, rate},
		{fmt.Sprintf("hipMemcpy of %d MiB from the device", *size>>20), "from", *size, rate},
	} {
		var floor, here []float64
		for i := range *rounds + 1 {
			x, err := a.measure(m.what, m.n)
			if err != nil {
				return err
			}
			y, err := b.measure(m.what, m.n)
			if err != nil {
				return err
			}
			if i > 0 { // the first warms up
				floor, here = append(floor, x[0]), append(here, y[0])
			}
		}
		t.row("hsa: AMD's HIP: "+m.name+", floor ours", floor, here, m.unit, 0, false)
	}
	return startUps(t, ours, amd)
}

// startUps measures the whole life of hello_hip on both.
func startUps(t *table, ours, amd []string) error {
	var floor, here []float64
	for i := range *rounds + 1 {
		x, err := life(ours, helloPath)
		if err != nil {
			return err
		}
		y, err := life(os.Environ(), append(amd, helloPath)...)
		if err != nil {
			return err
		}
		if i > 0 {
			floor, here = append(floor, x), append(here, y)
		}
	}
	t.row("hsa: AMD's HIP: hello_hip from start to end, floor ours", floor, here, func(ns float64) string { return fmt.Sprintf("%.0f ms", ns/1e6) }, 0, false)
	return nil
}
