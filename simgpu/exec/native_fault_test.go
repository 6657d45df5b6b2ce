//go:build linux && amd64

package exec

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// faultsRead are the versions of Go whose signal handling was read for what
// callNative says of it. Read it again before adding one.
var faultsRead = []string{"go1.26"}

// TestFaultsInMachineCode: pages that are not there, found by machine code while
// the profiler and the garbage collector interrupt it.
func TestFaultsInMachineCode(t *testing.T) {
	if !slices.ContainsFunc(faultsRead, func(v string) bool {
		return runtime.Version() == v || strings.HasPrefix(runtime.Version(), v+".")
	}) {
		t.Fatalf("nobody has read how %s handles signals in code that is not Go's; see callNative", runtime.Version())
	}
	if err := pprof.StartCPUProfile(new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC() // stops everybody
			}
		}
	})
	defer wg.Wait()
	defer close(over)
	d := newDevice(t, gcn.GFX942, 1<<20)
	d.withOptions(gcn.GFX942, Options{TranslateAfter: 1})
	buf, _ := d.alloc(page)
	for _, c := range []struct {
		inst string
		code []uint32
	}{
		{"global_load_dword v0, v1, s[0:1]", words("", 0xdc508000, 0x00000001)},
		{"global_store_dword v1, v0, s[0:1]", words("", 0xdc708000, 0x00000001)},
		{"s_load_dword s4, s[0:1], 0x0", words("", 0xc0020100, 0)},
	} {
		// A loop, so that it is interrupted, and then the access.
		run := d.assemble(buf+page, 2, 256, words("v_mov_b32_e32 v1, 0", 0x7e020280),
			words("s_movk_i32 s4, 0x1000", 0xb0041000), words("s_sub_u32 s4, s4, 1", 0x80848104), words("s_cmp_lg_u32 s4, 0", 0xbf078004), branchSCC1(-3), c.code, []uint32{endpgm})
		for range 50 {
			_, err := run.Run(context.Background(), 2)
			var f *Fault
			if !errors.As(err, &f) || f.Kind != MemoryFault || f.Addr != buf+page || f.Inst != c.inst || f.PC != run.Entry+20 {
				t.Fatalf("%s: %v: %+v, want address %#x at %#x", c.inst, err, f, buf+page, run.Entry+20)
			}
		}
		if e := d.prog.block(run.Entry).entry.Load(); e == nil {
			t.Fatalf("%s was not translated", c.inst)
		}
	}
}
