package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// nearClient is a client on this machine, of a worker of its own.
func nearClient() (*hipremote.Client, func(), error) {
	env, stop, err := startWorker()
	if err != nil {
		return nil, nil, err
	}
	cfg := hipremote.FromEnv(func(name string) (string, bool) {
		for _, e := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v, true
			}
		}
		return "", false
	})
	c := hipremote.New(cfg)
	return c, func() { _ = c.Close(); stop() }, nil
}

// nearCopies measures hipMemcpy on one machine beside memcpy, in pieces of each size, walking through as much memory: data that is copied comes from memory,
// as a rule, and not from a cache.
func nearCopies(t *table) error {
	if _, err := os.Stat(workerPath); err != nil {
		t.plain("shared: hipMemcpy not measured", "", workerPath+" is missing (make build)")
		return nil
	}
	c, stop, err := nearClient()
	if err != nil {
		return err
	}
	defer stop()
	th, memory, other := hip.Thread{}, touched(*size), touched(*size)
	device, code := c.Malloc(th, uint64(*size))
	if code != hip.Success {
		return code
	}
	if _, code = c.StreamCreateWithPriority(th, hip.StreamNonBlocking, 0); code != hip.Success { // as most programs have one
		return code
	}
	for n := 4 << 10; ; n = min(4*n, *size) {
		var bare, to, from []float64
		for i := range *rounds + 2 {
			walk := func(f func(at int, p []byte) hip.Error) (float64, error) {
				start := time.Now()
				for at := 0; at < *size; at += n {
					if code := f(at, memory[at:min(at+n, *size)]); code != hip.Success {
						return 0, code
					}
				}
				return float64(*size) / time.Since(start).Seconds(), nil
			}
			b, err1 := walk(func(at int, p []byte) hip.Error { copy(other[at:], p); return hip.Success })
			u, err2 := walk(func(at int, p []byte) hip.Error {
				return c.Memcpy(th, device+hip.Ptr(at), address(p), uint64(len(p)), hip.MemcpyHostToDevice)
			})
			d, err3 := walk(func(at int, p []byte) hip.Error {
				return c.Memcpy(th, address(p), device+hip.Ptr(at), uint64(len(p)), hip.MemcpyDeviceToHost)
			})
			for _, err := range []error{err1, err2, err3} {
				if err != nil {
					return err
				}
			}
			if i >= 2 { // the memory is mapped by then
				bare, to, from = append(bare, b), append(to, u), append(from, d)
			}
		}
		promise := sharedCopy
		if n < 64<<10 {
			promise = 0
		}
		name := fmt.Sprintf("shared: hipMemcpy of %s", bytesName(n))
		t.row(name+" to the device, floor memcpy", bare, to, rate, promise, true)
		t.row(name+" from the device", bare, from, rate, promise, true)
		if n == *size {
			return nearCalls(t, c)
		}
	}
}

// nearCalls measures synchronous calls: a copy of 4 bytes from the device, behind which a launch would wait;
// waiting for a device that has nothing to do; and memory that is allocated and freed.
func nearCalls(t *table, c *hipremote.Client) error {
	th := hip.Thread{}
	device, code := c.Malloc(th, 4096)
	if code != hip.Success {
		return code
	}
	var word [4]byte
	for _, m := range []struct {
		what string
		call func() hip.Error
		most float64
	}{
		{"hipMemcpy of 4 bytes from the device", func() hip.Error {
			return c.Memcpy(th, address(word[:]), device, 4, hip.MemcpyDeviceToHost)
		}, sharedMost},
		{"hipDeviceSynchronize with nothing to wait for", func() hip.Error { return c.DeviceSynchronize(th) }, sharedMost},
		{"hipMalloc and hipFree of 1 MiB", func() hip.Error {
			p, code := c.Malloc(th, 1<<20)
			if code != hip.Success {
				return code
			}
			return c.Free(th, p)
		}, 0},
	} {
		times := make([]float64, *calls)
		var mid, high []float64
		for range *rounds {
			for i := range times {
				start := time.Now()
				if code := m.call(); code != hip.Success {
					return code
				}
				times[i] = float64(time.Since(start))
			}
			slices.Sort(times)
			mid, high = append(mid, times[len(times)/2]), append(high, times[len(times)*99/100])
		}
		promise := ""
		if m.most > 0 {
			promise = fmt.Sprintf("p50 ≤ %.0f µs: %s", m.most/1e3, verdict(median(mid) <= m.most))
		}
		t.plain("shared: "+m.what+", p50 and p99", micros(median(mid))+", "+micros(median(high)), promise)
	}
	return nil
}

// address is where p lies, which must be kept.
func address(p []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) }
