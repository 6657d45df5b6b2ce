//go:build linux && amd64

package ebpf

import (
	"testing"

	"github.com/rocwire/rocwire/exporter/local"
)

// Arguments are read from where the ABI has them.
func TestArguments(t *testing.T) {
	modes(t, func(t *testing.T, mode func(*Options)) {
		_, program := stub(t)
		tr := open(t, mode)
		r := start(t, program, "allocate", "copy", "launch", "release")
		watched(t, tr, 1)

		r.step("done")
		p := of(t, tr, r.pid())
		equal(t, "calls", counts(p), map[string]uint64{
			"hipMalloc hipSuccess": 1, "hipMalloc hipErrorInvalidValue": 1, "hipMallocAsync hipSuccess": 1, "hipExtMallocWithFlags hipSuccess": 1,
			"hipMallocPitch hipSuccess": 1, "hipMalloc3D hipSuccess": 1, "hipMemCreate hipSuccess": 1, "hipMallocManaged hipSuccess": 1,
			"hipHostMalloc hipSuccess": 1, "hipMallocHost hipSuccess": 1, "hipFree hipSuccess": 3, "hipFree hipErrorInvalidValue": 1,
			"hipFreeAsync hipSuccess": 1, "hipHostFree hipSuccess": 1,
		})
		memory := func(what string, m local.Memory, allocations, held uint64) {
			t.Helper()
			if n, ok := m.Held.Get(); m.Allocations != allocations || !ok || n != held {
				t.Errorf("%s: %d allocations, %d bytes held, %v; want %d, %d", what, m.Allocations, n, ok, allocations, held)
			}
		}
		memory("device", p.Device, 6, 3000+256*7+512*10*3+1<<21)
		memory("managed", p.Managed, 1, 5000)
		memory("host", p.Host, 2, 7000)

		r.step("done")
		p = of(t, tr, r.pid())
		copies, bytes := map[string]uint64{}, map[string]uint64{}
		for _, k := range p.Copies {
			copies[k.Kind], bytes[k.Kind] = k.Count, k.Bytes
		}
		equal(t, "copies", copies, map[string]uint64{
			"host_to_host": 1, "host_to_device": 5, "device_to_host": 4, "device_to_device": 7, "default": 1,
		})
		equal(t, "bytes", bytes, map[string]uint64{
			"host_to_host": 1, "host_to_device": 1<<20 + 10 + 70 + 11*12 + 100*10*2, "device_to_host": 20 + 40 + 80 + 30*20,
			"device_to_device": 30 + 50 + 60 + 9*10 + 13*14 + 7*5*3 + 5, "default": 3,
		})
		got := counts(p)
		equal(t, "results", map[string]uint64{
			"ok": got["hipMemcpy hipSuccess"], "1": got["hipMemcpy hipErrorInvalidValue"], "719": got["hipMemcpy hipErrorLaunchFailure"], "-5": got["hipMemcpy other"],
		}, map[string]uint64{"ok": 2, "1": 1, "719": 1, "-5": 1})

		r.step("done")
		p = of(t, tr, r.pid())
		const dims, block = 3 * 5 * 7 * 2 * 11 * 13, 2 * 11 * 13
		if p.Launches != 10 {
			t.Errorf("%d launches", p.Launches)
		}
		sizes := func(what string, s local.Sizes, sum float64, want map[int]uint64) {
			t.Helper()
			got := map[int]uint64{}
			for i, n := range s.Buckets {
				if n > 0 {
					got[i] = n
				}
			}
			equal(t, what, got, want)
			if s.Sum != sum {
				t.Errorf("%s: the sum is %v, want %v", what, s.Sum, sum)
			}
		}
		// 30030 threads four times, 600·5·7 = 21000, 24·210 = 5040, 64, 128, 256.
		sizes("grids", p.Grid, 4*dims+21000+5040+64+128+256, map[int]uint64{15: 5, 13: 1, 6: 1, 7: 1, 8: 1})
		sizes("blocks", p.Block, 5*block+210+3*64, map[int]uint64{9: 5, 8: 1, 6: 3})

		r.step("done")
		p = of(t, tr, r.pid())
		memory("device after a reset", p.Device, 9, 64)
		equal(t, "dropped", dropped(tr), map[string]uint64{})
	})
}
