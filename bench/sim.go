package main

import (
	"fmt"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/wire"
)

// benchSim measures the simulator itself, in this process: lane operations (active lanes of vector arithmetic, memory and LDS instructions) per
// second of whole kernels on all processors, as the simulated card counts them.
func benchSim(t *table, _ *floor, _ string) error {
	seg, err := simgpu.CreateSegment(simgpu.Options{MemoryBytes: 256 << 20})
	if err != nil {
		return err
	}
	r, err := simgpu.New(simgpu.Options{Segment: seg})
	if err != nil {
		return err
	}
	defer r.Close()
	m := card.NewMonitor(seg)
	for _, k := range simKernels {
		v, err := workRate(r, k, func() uint64 {
			var lanes uint64
			for _, c := range []card.Class{card.VALU, card.MFMA, card.VMEM, card.LDS} {
				lanes += m.Read()[0].Work.Lanes[c]
			}
			return lanes
		})
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		t.plain("simulator: "+k.name+", 10⁹ lane operations a second", fmt.Sprintf("%.2f", v/1e9), "")
	}
	return benchMatrix(t, r, m)
}

// benchMatrix measures products of matrices by matrix instructions: multiplications and additions per second.
func benchMatrix(t *table, r *simgpu.Runtime, m *card.Monitor) error {
	const n = 512
	for _, k := range []struct {
		name string
		tile uint32
		ops  uint64 // of an instruction
	}{{"matrix_f16", 64, 2 * 32 * 32 * 8}, {"matrix_bf16", 64, 2 * 32 * 32 * 8}, {"matrix_f32", 64, 2 * 32 * 32 * 2}, {"matrix_f64", 32, 2 * 16 * 16 * 4}, {"matrix_i8", 64, 2 * 32 * 32 * 16}} {
		v, err := workRate(r, simKernel{"matrix", k.name, hip.Dim3{X: n / k.tile, Y: n / k.tile, Z: 1}, hip.Dim3{X: 64, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
			for i := range uint64(3) {
				e.U64(uint64(p) + i*n*n*8)
			}
			e.U32(n)
			e.U32(n)
		}}, func() uint64 { return m.Read()[0].Work.Instructions[card.MFMA] * k.ops })
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		t.plain("simulator: "+k.name+", 10⁹ operations a second", fmt.Sprintf("%.1f", v/1e9), "")
	}
	return nil
}

type simKernel struct {
	object, name string
	grid, block  hip.Dim3
	args         func(e *segment, memory hip.Ptr)
}

// segment builds a kernel argument segment; the arguments here need no padding.
type segment = wire.Enc

var simKernels = []simKernel{
	{"spin", "spin", hip.Dim3{X: 256, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
		e.U64(uint64(p))
		e.U64(2000)
		e.U32(256 * 256)
	}},
	{"mandelbrot", "mandelbrot_f32", hip.Dim3{X: 32, Y: 32, Z: 1}, hip.Dim3{X: 16, Y: 16, Z: 1}, func(e *segment, p hip.Ptr) {
		e.U64(uint64(p))
		e.U32(512)
		e.U32(512)
		e.F32(-2)
		e.F32(-1.25)
		e.F32(2.5 / 512)
		e.U32(256)
	}},
	{"matmul", "matmul_f32", hip.Dim3{X: 16, Y: 16, Z: 1}, hip.Dim3{X: 16, Y: 16, Z: 1}, func(e *segment, p hip.Ptr) {
		for i := range uint64(3) {
			e.U64(uint64(p) + i<<18)
		}
		for range 3 {
			e.U32(256)
		}
	}},
	{"vector_add", "vector_add", hip.Dim3{X: 4096, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
		for i := range uint64(3) {
			e.U64(uint64(p) + i<<22)
		}
		e.U32(1 << 20)
	}},
}

// loadedKernel is a kernel that can be launched.
type loadedKernel struct {
	r      *simgpu.Runtime
	module hip.Module
	memory hip.Ptr
	launch hip.Launch
}

// loadKernel loads a kernel, with so many bytes of memory for its arguments.
func loadKernel(r *simgpu.Runtime, k simKernel, size uint64) (*loadedKernel, error) {
	image, err := kernels.Object(simgpu.DefaultArch, k.object)
	if err != nil {
		return nil, err
	}
	var th hip.Thread
	l := &loadedKernel{r: r}
	var e hip.Error
	if l.module, e = r.ModuleLoadData(th, image); e != hip.Success {
		return nil, e
	}
	f, e := r.ModuleGetFunction(th, l.module, k.name)
	if e == hip.Success {
		l.memory, e = r.Malloc(th, size)
	}
	if e != hip.Success {
		r.ModuleUnload(th, l.module)
		return nil, e
	}
	var args segment
	k.args(&args, l.memory)
	l.launch = hip.Launch{Function: f, Grid: k.grid, Block: k.block, Args: args.B}
	return l, nil
}

// run executes the kernel once.
func (l *loadedKernel) run() error {
	var th hip.Thread
	e := l.r.LaunchKernel(th, &l.launch)
	if e == hip.Success {
		e = l.r.DeviceSynchronize(th)
	}
	if e != hip.Success {
		return e
	}
	return nil
}

func (l *loadedKernel) close() {
	var th hip.Thread
	l.r.Free(th, l.memory)
	l.r.ModuleUnload(th, l.module)
}

// workRate launches a kernel until enough time has passed and gives the median of the rounds: by how much the work that is done grows in a second.
func workRate(r *simgpu.Runtime, k simKernel, work func() uint64) (float64, error) {
	l, err := loadKernel(r, k, 16<<20)
	if err != nil {
		return 0, err
	}
	defer l.close()
	var rates []float64
	for range *rounds {
		before, start := work(), time.Now()
		for time.Since(start) < 300*time.Millisecond {
			if err := l.run(); err != nil {
				return 0, err
			}
		}
		rates = append(rates, float64(work()-before)/time.Since(start).Seconds())
	}
	return median(rates), nil
}
