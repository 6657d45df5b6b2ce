package hiptest

import (
	"fmt"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

var threadTests = []test{
	{"Independent", func(e *env) {
		// Threads with streams of their own, all calls at once.
		f := e.kernel("vector_add", "vector_add")
		var wg sync.WaitGroup
		errs := make(chan error, 8)
		for k := range 8 {
			host := [3][]byte{e.host(4 * 5000), e.host(4 * 5000), e.host(4 * 5000)}
			wg.Go(func() { errs <- e.thread(f, uint32(k+10), host) })
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				e.Error(err)
			}
		}
	}},
	{"OneStream", func(e *env) {
		// Threads share a stream and a counter that only one task at a time may touch.
		s := e.stream(0)
		var wg sync.WaitGroup
		n := 0
		for range 4 {
			wg.Go(func() {
				for range 50 {
					if err := e.LaunchHostFunc(e.th, s, func() { n++ }); err != hip.Success {
						e.Errorf("LaunchHostFunc: %v", err)
					}
				}
			})
		}
		wg.Wait()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if n != 200 {
			e.Errorf("%d of 200 tasks ran alone", n)
		}
	}},
	{"WaitingBlocksNobody", func(e *env) {
		s := e.stream(nonBlocking)
		g := e.gate(s)
		done := make(chan hip.Error, 1)
		go func() { done <- e.StreamSynchronize(hip.Thread{ID: 7}, s) }()
		e.addOn(1000, e.stream(nonBlocking))
		select {
		case err := <-done:
			e.Errorf("StreamSynchronize came back early: %v", err)
		default:
		}
		g.open()
		e.ok("StreamSynchronize", <-done)
	}},
}

// thread does a program's work on a stream of its own, several times.
func (e *env) thread(f hip.Function, id uint32, host [3][]byte) error {
	th := hip.Thread{ID: id}
	const n = 5000
	s, err := e.StreamCreateWithPriority(th, nonBlocking, 0)
	if err != hip.Success {
		return fmt.Errorf("hipStreamCreate: %w", err)
	}
	for round := range 10 {
		var dev [3]hip.Ptr
		for i := range dev {
			if dev[i], err = e.Malloc(th, 4*n); err != hip.Success {
				return fmt.Errorf("hipMalloc: %w", err)
			}
		}
		a, b, want := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = float32(i), float32(round)*float32(id)
			want[i] = a[i] + b[i]
		}
		copy(host[0], f32s(a))
		copy(host[1], f32s(b))
		for i := range 2 {
			if err := e.MemcpyAsync(th, dev[i], ptr(host[i]), 4*n, hip.MemcpyHostToDevice, s); err != hip.Success {
				return fmt.Errorf("hipMemcpyAsync: %w", err)
			}
		}
		if err := e.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: (n + 255) / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1},
			Stream: s, Args: pack(dev[0], dev[1], dev[2], int32(n))}); err != hip.Success {
			return fmt.Errorf("hipLaunchKernel: %w", err)
		}
		if err := e.MemcpyAsync(th, ptr(host[2]), dev[2], 4*n, hip.MemcpyDeviceToHost, s); err != hip.Success {
			return fmt.Errorf("hipMemcpyAsync: %w", err)
		}
		if err := e.StreamSynchronize(th, s); err != hip.Success {
			return fmt.Errorf("hipStreamSynchronize: %w", err)
		}
		if string(host[2]) != string(f32s(want)) {
			return fmt.Errorf("wrong sum of thread %d, round %d", id, round)
		}
		for _, p := range dev {
			if err := e.Free(th, p); err != hip.Success {
				return fmt.Errorf("hipFree: %w", err)
			}
		}
	}
	if err := e.StreamDestroy(th, s); err != hip.Success {
		return fmt.Errorf("hipStreamDestroy: %w", err)
	}
	return nil
}
