package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nextExports are what libamdhip64.so.7 has beside what libamdhip64.so.6 has, by
// the version they came with.
var nextExports = map[string]string{
	"hip_6.5": "hipLaunchKernelExC hipDrvLaunchKernelEx hipMemGetHandleForAddressRange",
	"hip_7.1": "hipModuleGetFunctionCount hipMemsetD2D8 hipMemsetD2D8Async hipMemsetD2D16 hipMemsetD2D16Async hipMemsetD2D32 hipMemsetD2D32Async " +
		"hipStreamGetAttribute hipStreamSetAttribute hipModuleLoadFatBinary hipMemcpyBatchAsync hipMemcpy3DBatchAsync hipMemcpy3DPeer " +
		"hipMemcpy3DPeerAsync hipGetDriverEntryPoint hipGetDriverEntryPoint_spt hipMemPrefetchAsync_v2 hipMemAdvise_v2 hipStreamGetId",
	"hip_7.2": "hipLibraryLoadData hipLibraryLoadFromFile hipLibraryUnload hipLibraryGetKernel hipLibraryGetKernelCount hipStreamCopyAttributes " +
		"hipOccupancyAvailableDynamicSMemPerBlock",
}

// libamdhip64.so.7 has what libamdhip64.so.6 has but for hipRTC, and HIP 7's.
func TestNextExports(t *testing.T) {
	want := exports(t, "libamdhip64.so.6", "libc.so.6")
	for name := range want {
		if strings.HasPrefix(name, "hiprtc") {
			delete(want, name)
		}
	}
	if len(want) != 502-18 {
		t.Errorf("%d of HIP 6", len(want))
	}
	for version, names := range nextExports {
		for _, name := range strings.Fields(names) {
			want[name] = version + " T"
		}
	}
	compare(t, exports(t, "libamdhip64.so.7", "libc.so.6"), want)
}

// Programs that were linked with libamdhip64.so.7 run, over a worker and on a card
// in their own process.
func TestNextPrograms(t *testing.T) {
	lib := filepath.Join(built, "lib", "libamdhip64.so.7")
	var bins []string
	for _, name := range []string{"next", "api_more", "streams_events"} {
		bin := filepath.Join(built, name+"7")
		build(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-Ihip/include", "examples/tests/"+name+".c", "-o", bin,
			lib, "-Wl,-rpath,"+filepath.Dir(lib), "-lm", "-lpthread")
		if b, err := os.ReadFile(bin); err != nil || !strings.Contains(string(b), "libamdhip64.so.7") || strings.Contains(string(b), "libamdhip64.so.6") {
			t.Errorf("%s is not linked with %s: %v", name, lib, err)
		}
		bins = append(bins, bin)
	}
	remote := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942")
	two := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--sim-cards", "2")
	for _, env := range [][]string{remote, two, {"TF_WORKER_HOST=sim:", "ROCWIRE_SIM_ARCH=gfx90a"}} {
		for _, bin := range bins {
			if out := runs(t, env, bin); !strings.Contains(out, "ok") {
				t.Errorf("%s wrote %q", filepath.Base(bin), out)
			}
		}
	}
}
