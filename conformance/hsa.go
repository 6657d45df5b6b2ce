package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hsaPackages are AMD's own runtimes, with the compiler that they use, and who tells of what they find.
var hsaPackages = append([]string{"libc6", "libstdc++6", "libgcc-s1", "libamdhip64-6", "rocm-opencl-icd", "lld-21",
	"rocminfo", "clinfo", "ocl-icd-libopencl1", "librocrand1", "librocrand1-tests",
	"ucx-utils", "libucx0", "libfuse3-4", "libibmad5", "libibumad3", "libze1", "libgomp1"}, rtc...)

// hsaCase is a program on AMD's runtimes, and what it must say.
type hsaCase struct {
	name   string
	source string // of C, compiled here; "" is a program of the tree
	libs   []string
	asIf   bool   // it looks for the driver first
	on     string // the only card that it has code for; "" is any
	args   []string
	env    []string
	wants  []string
}

// hsaCases are AMD's tools, then programs in C on AMD's HIP and AMD's OpenCL. Those of examples/tests are the ones that ask for nothing that AMD's library
// does otherwise.
// hsaArches are the cards that AMD's own runtime is run on: waves of 32 lanes are not what libhsa-runtime64 here tells of.
var hsaArches = []string{"gfx90a", "gfx942"}

func hsaCases() []hsaCase {
	cases := []hsaCase{
		{name: "rocminfo", args: []string{"usr/bin/rocminfo"}, asIf: true, wants: []string{"amdgcn-amd-amdhsa--{arch}:sramecc+:xnack-", "Device Type:             GPU", "*** Done ***"}},
		{name: "clinfo", args: []string{"usr/bin/clinfo", "-l"}, wants: []string{"AMD Accelerated Parallel Processing", "{arch}:sramecc+:xnack-"}},
		{name: "hello_hip", source: "examples/hello_hip/hello_hip.c", libs: []string{"libamdhip64.so.6"}, wants: []string{"PASSED: 1048576 elements"}},
		{name: "textures", source: "conformance/testdata/hip_textures.c", libs: []string{"libamdhip64.so.6"}, wants: []string{"textures: ok"}},
		{name: "opencl", source: "conformance/testdata/opencl.c", libs: []string{"libOpenCL.so.1"}, wants: []string{"opencl: ok"}},
	}
	for name, says := range map[string]string{"quick": "quick: ok", "first": "first: ok", "signal_stack": "ok", "queries": "ok", "meminfo": "ok", "graph_symbols": "ok",
		"host_memory": "ok", "function_attributes": "ok", "arrays": "ok", "boxes": "boxes: ok", "userobjects": "ok", "streams_events": "ok"} {
		cases = append(cases, hsaCase{name: name, source: "examples/tests/" + name + ".c", libs: []string{"libamdhip64.so.6"}, wants: []string{says}})
	}
	for _, name := range []string{"vector_add", "local_memory", "atomics", "printf", "events", "sub_buffers", "queues", "copies", "images"} {
		c := hsaCase{name: "opencl/" + name, source: "conformance/testdata/opencl_set.c", libs: []string{"libOpenCL.so.1"}, args: []string{name}, wants: []string{name + ": ok"}}
		if name == "printf" {
			c.wants = append(c.wants, "item 7 has 4711, strings, 1.50")
		}
		cases = append(cases, c)
	}
	for _, test := range []string{"tag_lat", "ucp_am_lat", "stream_lat", "ucp_put_lat"} { // those whose bytes it compares
		for _, size := range []string{"64", "100000", "3000000"} {
			cases = append(cases, hsaCase{name: "ucx/" + test + "_" + size, args: []string{"usr/bin/ucx_perftest", "-l", "-V", "-m", "rocm", "-t", test, "-s", size, "-n", "10", "-w", "1"},
				env: []string{"UCX_MEMTYPE_CACHE=n", "UCX_TLS=rocm,self,sm,tcp"}, wants: []string{"Final:"}})
		}
	}
	return cases
}

// hsaRocrand are those of each of rocRAND's programs' tests that need the fewest forms of instructions.
func hsaRocrand() ([]hsaCase, error) {
	const most, each = 100, 3
	tests, err := formsOf("conformance/rocrand_gfx90a.tsv", most)
	if err != nil {
		return nil, err
	}
	var cases []hsaCase
	for _, t := range tests {
		i := slices.IndexFunc(cases, func(c hsaCase) bool { return c.name == "rocrand/"+t.program })
		if i < 0 {
			i = len(cases)
			cases = append(cases, hsaCase{name: "rocrand/" + t.program, args: []string{"usr/libexec/rocm/librocrand1-tests/" + t.program}, on: "gfx90a"})
		}
		if c := &cases[i]; len(c.wants) < each {
			c.wants = append(c.wants, "[       OK ] "+t.test+" (")
		}
	}
	for i := range cases {
		var names []string
		for _, w := range cases[i].wants {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(w, "[       OK ] "), " ("))
		}
		cases[i].args = append(cases[i].args, "--gtest_filter="+strings.Join(names, ":"))
	}
	return cases, nil
}

// prepareHSA fetches AMD's runtimes, says which version they are, and makes a folder for what is built, which everybody may enter: session processes
// run as other users.
func prepareHSA(ctx context.Context, o *options) (version, dir string, end func(), err error) {
	if err = fetch(ctx, o, hsaPackages); err != nil {
		return "", "", nil, err
	}
	if version, err = debianVersion(o, "libamdhip64-6"); err != nil {
		return "", "", nil, err
	}
	if dir, err = os.MkdirTemp("", "rocwire-hsa"); err != nil {
		return "", "", nil, err
	}
	end = func() { _ = os.RemoveAll(dir) }
	if err = os.Chmod(dir, 0o755); err != nil {
		end()
	}
	return version, dir, end, err
}

// conformHSA runs AMD's own HIP and OpenCL runtimes on the simulated cards, by our libhsa-runtime64.so.1.
func conformHSA(ctx context.Context, o *options) (failed int, err error) {
	version, dir, end, err := prepareHSA(ctx, o)
	if err != nil {
		return 0, err
	}
	defer end()
	rocrand, err := hsaRocrand()
	if err != nil {
		return 0, err
	}
	all := newPrograms()
	for _, arch := range hsaArches {
		for _, c := range append(hsaCases(), rocrand...) {
			if c.on != "" && c.on != arch {
				continue
			}
			if !o.match.MatchString("hsa/" + c.name) {
				continue
			}
			start := time.Now()
			why, err := c.run(ctx, o, dir, arch, filepath.Join(o.lib, "hsa"), "ROCWIRE_SIM_ARCH="+arch)
			if err != nil {
				return all.failed, err
			}
			all.ended(arch, "hsa/"+c.name, why, start)
		}
	}
	all.done("AMD's runtimes " + version + " on libhsa-runtime64.so.1")
	return all.failed, nil
}

// run runs one program with the libraries of a folder before Debian's, and more in its environment; why is "" if it said what it must.
func (c *hsaCase) run(ctx context.Context, o *options, dir, arch, lib string, env ...string) (why string, err error) {
	debian := filepath.Join(o.tree, "usr/lib/x86_64-linux-gnu")
	args := []string{filepath.Join(o.tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", lib + ":" + debian}
	if c.source != "" {
		bin := filepath.Join(dir, strings.TrimSuffix(filepath.Base(c.source), ".c"))
		if _, err := os.Stat(bin); errors.Is(err, os.ErrNotExist) {
			cc := []string{"-O2", "-D_GNU_SOURCE", "-Ihip/include", c.source, "-o", bin}
			for _, l := range c.libs {
				cc = append(cc, filepath.Join(debian, l))
			}
			cc = append(cc, "-Wl,--unresolved-symbols=ignore-in-shared-libs", "-lm", "-lpthread")
			if out, err := exec.CommandContext(ctx, "cc", cc...).CombinedOutput(); err != nil {
				return "", fmt.Errorf("%s: %w\n%s", c.source, err, out)
			}
		}
		args = append(append(args, bin), c.args...)
	} else {
		args = append(append(args, filepath.Join(o.tree, c.args[0])), c.args[1:]...)
	}
	if c.asIf {
		args = append([]string{"scripts/as_if_amdgpu.sh"}, args...)
	}
	limit, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(limit, args[0], args[1:]...)
	cmd.Env = slices.Concat(os.Environ(), []string{"OCL_ICD_VENDORS=" + filepath.Join(o.tree, "etc/OpenCL/vendors")}, c.env, env)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limit.Err() != nil:
		return "it ran longer than " + programTime.String(), nil
	case err != nil:
		return fmt.Sprintf("%v: %s", err, tail(string(out), 400)), nil
	}
	for _, w := range c.wants {
		if w = strings.ReplaceAll(w, "{arch}", arch); !strings.Contains(string(out), w) {
			return fmt.Sprintf("%q does not stand in: %s", w, tail(string(out), 400)), nil
		}
	}
	return "", nil
}
