package exec

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// cpuTime is the processor time of this process in seconds.
func cpuTime() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkKernels executes whole kernels on one goroutine. Glane/s counts the
// active lanes of vector arithmetic, memory and LDS instructions, per second of
// processor time.
func BenchmarkKernels(b *testing.B) {
	for _, c := range []struct {
		object, kernel string
		grid, block    [3]uint32
		lds            uint32
		args           func(d *device) []byte
	}{
		{"mandelbrot", "mandelbrot_f32", [3]uint32{256, 256, 1}, [3]uint32{16, 16, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(256 * 256 * 4)
			return args(a, uint32(256), uint32(256), b32(-2), b32(-1.25), b32(2.5/256), uint32(256))
		}},
		{"matmul", "matmul_f32", [3]uint32{128, 128, 1}, [3]uint32{16, 16, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(128 * 128 * 4)
			return args(a, a, a, uint32(128), uint32(128), uint32(128))
		}},
		{"vector_add", "vector_add", [3]uint32{1 << 20, 1, 1}, [3]uint32{256, 1, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(4 << 20)
			return args(a, a, a, uint32(1<<20))
		}},
		{"spin", "spin", [3]uint32{4096, 1, 1}, [3]uint32{256, 1, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(4096 * 4)
			return args(a, uint64(1000), uint32(4096))
		}},
		// Barriers and reads and writes of the LDS between them, of a few lanes most of the time.
		{"reduce", "reduce_sum_f32", [3]uint32{1 << 16, 1, 1}, [3]uint32{256, 1, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(1 << 18)
			o, _ := d.alloc(1 << 10)
			return args(a, o, uint32(1<<16))
		}},
		{"reduce", "scan_u32", [3]uint32{1 << 16, 1, 1}, [3]uint32{256, 1, 1}, 0, func(d *device) []byte {
			a, _ := d.alloc(1 << 18)
			return args(a, a, uint32(1<<16))
		}},
		{"dynamic_lds", "bitonic", [3]uint32{1 << 14, 1, 1}, [3]uint32{1024, 1, 1}, 4096, func(d *device) []byte {
			a, data := d.alloc(1 << 16)
			for i := range data {
				data[i] = byte(i*i>>8 ^ i*77)
			}
			o, _ := d.alloc(1 << 16)
			return args(a, o, o)
		}},
		{"histogram", "histogram_lds_u32", [3]uint32{1 << 12, 1, 1}, [3]uint32{256, 1, 1}, 0, func(d *device) []byte {
			a, data := d.alloc(1 << 18)
			for i := range data {
				data[i] = byte(i*i>>8 ^ i*77)
			}
			o, _ := d.alloc(1 << 10)
			return args(a, o, uint32(1<<18))
		}},
	} {
		for _, arch := range []gcn.Arch{gcn.GFX942, gcn.GFX1100} {
			b.Run(c.kernel+"/"+arch.String(), func(b *testing.B) {
				l := newLauncher(b, arch, c.object)
				d := l.dispatch(l.m, c.kernel, c.grid, c.block, c.lds, c.args(l.device))
				var all Stats
				start := cpuTime()
				for b.Loop() {
					s, err := d.Run(context.Background(), 1)
					if err != nil {
						b.Fatal(err)
					}
					all.Add(&s)
				}
				sec := cpuTime() - start
				b.ReportMetric(float64(all.LaneOperations())/sec/1e9, "Glane/s")
				b.ReportMetric(float64(all.TotalInstructions())/sec/1e6, "Minst/s")
			})
		}
	}
}
