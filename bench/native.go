package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// nativeKernel is a kernel that c/kernels.c does, too. What is promised is how many times as long as C's its time
// may be, with each of the compiler's flags; 0: nothing.
type nativeKernel struct {
	simKernel
	plain, best float64
}

// nativeKernels have the sizes of c/kernels.c.
var nativeKernels = []nativeKernel{
	{simKernel{"spin", "spin", hip.Dim3{X: 256, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
		e.U64(uint64(p))
		e.U64(2000)
		e.U32(256 * 256)
	}}, 0, 0},
	{simKernel{"mandelbrot", "mandelbrot_f32", hip.Dim3{X: 32, Y: 32, Z: 1}, hip.Dim3{X: 16, Y: 16, Z: 1}, func(e *segment, p hip.Ptr) {
		e.U64(uint64(p))
		e.U32(512)
		e.U32(512)
		e.F32(-2)
		e.F32(-1.25)
		e.F32(2.5 / 512)
		e.U32(256)
	}}, 1.5, 0},
	{simKernel{"matmul", "matmul_f32", hip.Dim3{X: 32, Y: 32, Z: 1}, hip.Dim3{X: 16, Y: 16, Z: 1}, func(e *segment, p hip.Ptr) {
		for i := range uint64(3) {
			e.U64(uint64(p) + i<<20)
		}
		for range 3 {
			e.U32(512)
		}
	}}, 0, 3},
	// Memory is what C waits for: 0.6 of its speed.
	{simKernel{"vector_add", "vector_add", hip.Dim3{X: nativeAdded / 256, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
		for i := range uint64(3) {
			e.U64(uint64(p) + i*4*nativeAdded)
		}
		e.U32(nativeAdded)
	}}, 1 / 0.6, 0},
}

const nativeAdded = 16 << 20 // numbers that are added, more than fit into caches

// benchNative measures kernels on one core beside C that does the same, compiled for any processor of the architecture and for this one.
func benchNative(t *table, _ *floor, dir string) error {
	r, err := simgpu.New(simgpu.Options{Workers: 1, MemoryBytes: 512 << 20})
	if err != nil {
		return err
	}
	defer r.Close()
	plain, best := &floor{filepath.Join(dir, "kernels")}, &floor{filepath.Join(dir, "kernels-native")}
	if err := compile(plain.path, "-O3", "bench/c/kernels.c"); err != nil {
		return err
	}
	if err := compile(best.path, "-O3", "-march=native", "bench/c/kernels.c"); err != nil {
		return err
	}
	for _, k := range nativeKernels {
		l, err := loadKernel(r, k.simKernel, 3*4*nativeAdded)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		err = besideC(t, k, l, plain, best)
		l.close()
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return launchOfMany(t, r, plain)
}

// launchOfMany measures launching a kernel of many workgroups and waiting for it, when the workgroups find that there is nothing to do for them; the
// floor is giving another thread something to do and waiting for it.
func launchOfMany(t *table, r *simgpu.Runtime, c *floor) error {
	const most = 50_000 // ns
	l, err := loadKernel(r, simKernel{"vector_add", "vector_add", hip.Dim3{X: 1024, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, func(e *segment, p hip.Ptr) {
		for range 3 {
			e.U64(uint64(p))
		}
		e.U32(0)
	}}, 4096)
	if err != nil {
		return err
	}
	defer l.close()
	var there, here []float64
	for i := range *rounds + 1 {
		v, err := c.measure("handoff", 1000)
		if err != nil {
			return err
		}
		var times []float64
		for range 200 {
			start := time.Now()
			if err := l.run(); err != nil {
				return err
			}
			times = append(times, float64(time.Since(start).Nanoseconds()))
		}
		if i > 0 { // the first warms up
			there, here = append(there, v[0]), append(here, median(times))
		}
	}
	t.beside("simulator, one core: a kernel of 1024 workgroups with nothing to do, launched and waited for, floor handing over to a thread", there, here, micros,
		fmt.Sprintf("≤ %.0f µs: %s", most/1e3, verdict(median(here) <= most)))
	return nil
}

// besideC measures a kernel and both programs in each round.
func besideC(t *table, k nativeKernel, l *loadedKernel, plain, best *floor) error {
	if err := l.run(); err != nil { // translates it, and touches memory
		return err
	}
	var here, there, fastest []float64
	for range *rounds {
		for _, c := range []struct {
			program *floor
			to      *[]float64
		}{{plain, &there}, {best, &fastest}} {
			v, err := c.program.measure(k.object, 5)
			if err != nil {
				return err
			}
			*c.to = append(*c.to, v[0])
		}
		var times []float64
		for range 5 {
			start := time.Now()
			if err := l.run(); err != nil {
				return err
			}
			times = append(times, float64(time.Since(start).Nanoseconds()))
		}
		here = append(here, median(times))
	}
	t.row("simulator, one core: "+k.name+", floor C at -O3", there, here, millis, k.plain, false)
	t.row("simulator, one core: "+k.name+", floor C at -O3 -march=native", fastest, here, millis, k.best, false)
	return nil
}

func millis(ns float64) string { return fmt.Sprintf("%.2f ms", ns/1e6) }
