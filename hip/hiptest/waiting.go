package hiptest

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// hostKinds are the ways to have host memory that the runtime knows.
var hostKinds = []struct {
	name string
	make func(e *env, n int) hip.Ptr
}{
	{"HostMalloc", func(e *env, n int) hip.Ptr {
		p, err := e.HostMalloc(e.th, uint64(n), 0)
		e.ok("HostMalloc", err)
		return p
	}},
	{"MallocManaged", func(e *env, n int) hip.Ptr {
		p, err := e.MallocManaged(e.th, uint64(n), 1)
		e.ok("MallocManaged", err)
		return p
	}},
	{"HostRegister", func(e *env, n int) hip.Ptr {
		p := ptr(e.host(n))
		e.ok("HostRegister", e.HostRegister(e.th, p, uint64(n), 0))
		return p
	}},
}

// returns notes a call that does not come back before something else happens.
func (e *env) returns(what string, f func() hip.Error) {
	e.Helper()
	done := make(chan hip.Error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		e.ok(what, err)
	case <-time.After(30 * time.Second):
		e.Fatalf("%s waits", what)
	}
}

// waits notes a call that comes back before open is called. A call that is slow is not noticed.
func (e *env) waits(what string, open func(), f func() hip.Error) {
	e.Helper()
	done := make(chan hip.Error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		e.Fatalf("%s returned early: %v", what, err)
	case <-time.After(20 * time.Millisecond):
	}
	open()
	e.ok(what, <-done)
}

var waitingTests = []test{
	{"PageableIsSynchronous", func(e *env) {
		// A copy to memory that the runtime does not know is done when it returns, on whatever stream.
		s := e.stream(nonBlocking)
		for _, n := range []int{256, 4096, 65536, 1 << 20, 4 << 20} {
			p := e.malloc(uint64(n))
			h := e.host(n)
			for i := range 10 {
				e.ok("MemsetAsync", e.MemsetAsync(e.th, p, int32(i+1), uint64(n), s))
				e.ok("MemcpyAsync", e.MemcpyAsync(e.th, ptr(h), p, uint64(n), hip.MemcpyDeviceToHost, s))
				if !bytes.Equal(h, bytes.Repeat([]byte{byte(i + 1)}, n)) {
					e.Fatalf("%d bytes, round %d: not there when MemcpyAsync returned", n, i)
				}
				e.ok("MemsetAsync", e.MemsetAsync(e.th, p, int32(i+100), uint64(n), s))
				e.ok("Memcpy2DAsync", e.Memcpy2DAsync(e.th, ptr(h), 64, p, 128, 64, uint64(n/128), hip.MemcpyDeviceToHost, s))
				if h[0] != byte(i+100) || h[n/2-1] != byte(i+100) {
					e.Fatalf("%d bytes, round %d: not there when Memcpy2DAsync returned", n, i)
				}
			}
		}
	}},
	{"PinnedIsAsynchronous", func(e *env) {
		const n = 1 << 16
		for _, k := range hostKinds {
			s := e.stream(nonBlocking)
			h, p := k.make(e, n), e.upload(pattern(n, 5))
			b := hostBytes(h, n)
			clear(b)
			g := e.gate(s)
			e.returns("MemcpyAsync to "+k.name, func() hip.Error { return e.MemcpyAsync(e.th, h, p, n, hip.MemcpyDeviceToHost, s) })
			if b[1] != 0 {
				e.Errorf("%s: copied before the stream came to it", k.name)
			}
			g.open()
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.equal(k.name, b, pattern(n, 5))
		}
	}},
	{"HostSeesCopies", func(e *env) {
		// What a blocking copy put into host memory is there for the host at once, whether a kernel has used the memory or not.
		const n = 4096
		f := e.kernel("vector_add", "vector_add")
		for _, k := range hostKinds {
			h := k.make(e, n)
			d, err := e.HostGetDevicePointer(e.th, h, 0)
			if k.name == "MallocManaged" {
				d, err = h, hip.Success
			}
			e.ok("HostGetDevicePointer", err)
			dev, ordinary := e.upload(pattern(n, 9)), e.host(n)
			for i, kind := range []hip.MemcpyKind{hip.MemcpyHostToDevice, hip.MemcpyDefault, hip.MemcpyHostToHost} {
				copy(ordinary, pattern(n, byte(i)))
				e.ok("Memcpy", e.Memcpy(e.th, h, ptr(ordinary), n, kind))
				e.equal(fmt.Sprintf("%s, kind %d", k.name, kind), hostBytes(h, n), pattern(n, byte(i)))
			}
			e.ok("Memcpy", e.Memcpy(e.th, h, dev, n, hip.MemcpyDeviceToHost))
			e.equal(k.name+" from the device", hostBytes(h, n), pattern(n, 9))
			// By its address on the device, which may be another.
			copy(ordinary, pattern(n, 10))
			e.ok("Memcpy", e.Memcpy(e.th, d, ptr(ordinary), n, hip.MemcpyHostToDevice))
			e.equal(k.name+" by its device address", hostBytes(h, n), pattern(n, 10))
			e.ok("Memset", e.Memset(e.th, d, 0, n))
			e.equal(k.name+" cleared", hostBytes(h, n), make([]byte, n))
			e.ok("Memset", e.Memset(e.th, h+4, 1, n-4))
			if b := hostBytes(h, n); b[3] != 0 || b[4] != 1 || b[n-1] != 1 {
				e.Errorf("%s set from its fifth byte: %v", k.name, b[:8])
			}
			// And a kernel sees it.
			one := e.upload(f32s([]float32{1, 2, 3, 4}))
			e.ok("Memcpy", e.Memcpy(e.th, h, one, 16, hip.MemcpyDefault))
			e.launch(f, 1, 64, 0, d, one, d, int32(4))
			e.ok("Memcpy", e.Memcpy(e.th, ptr(ordinary), h, 16, hip.MemcpyDefault))
			e.equal(k.name+" after a kernel", ordinary[:16], f32s([]float32{2, 4, 6, 8}))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, dev, d, 16, hip.MemcpyHostToDevice, 0))
			e.equal(k.name+" to the device", e.download(dev, 16), f32s([]float32{2, 4, 6, 8}))
		}
	}},
	{"NotWaitedFor", func(e *env) {
		// What stays on the device is not waited for, even by functions without "Async".
		p, q := e.malloc(8192), e.malloc(8192)
		n, _ := e.GetDeviceCount()
		g := e.gate(0)
		e.returns("Memset", func() hip.Error { return e.Memset(e.th, p, 1, 8192) })
		e.returns("MemsetD32", func() hip.Error { return e.MemsetD32(e.th, p, 0x01010101, 2048) })
		e.returns("Memset2D", func() hip.Error { return e.Memset2D(e.th, p, 64, 1, 64, 128) })
		e.returns("Memcpy", func() hip.Error { return e.Memcpy(e.th, q, p, 8192, hip.MemcpyDeviceToDevice) })
		e.returns("MemcpyPeer", func() hip.Error { return e.MemcpyPeer(e.th, q+4096, 0, p, 0, 4096) })
		if n > 1 {
			far := hip.Thread{Device: n - 1, ID: 1}
			r, err := e.Malloc(far, 8192)
			e.ok("Malloc", err)
			e.returns("MemcpyPeer to another device", func() hip.Error { return e.MemcpyPeer(e.th, r, n-1, q, 0, 8192) })
			defer func() {
				h := e.host(8192)
				e.ok("Memcpy from there", e.Memcpy(far, ptr(h), r, 8192, hip.MemcpyDeviceToHost))
				e.equal("on the other device", h, bytes.Repeat([]byte{1}, 8192))
			}()
		}
		e.is("StreamQuery", e.StreamQuery(e.th, 0), hip.ErrorNotReady)
		g.open()
		e.equal("on the device", e.download(q, 8192), bytes.Repeat([]byte{1}, 8192))
	}},
	{"AllocatedMeanwhile", func(e *env) { // memory is there whatever streams have to do
		const n = 3 << 20
		for _, s := range []hip.Stream{0, e.stream(0), e.stream(nonBlocking)} {
			idle := e.stream(nonBlocking)
			p, err := e.Malloc(e.th, n)
			e.ok("Malloc", err)
			e.ok("FreeAsync", e.FreeAsync(e.th, p, idle))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, idle))
			g := e.gate(s)
			alloc := func(what string, f func() (hip.Ptr, hip.Error), free func(hip.Ptr) hip.Error) {
				e.Helper()
				e.returns(what, func() hip.Error {
					q, err := f()
					if err == hip.Success {
						e.Cleanup(func() { free(q) })
					}
					return err
				})
			}
			hostFree := func(q hip.Ptr) hip.Error { return e.HostFree(e.th, q) }
			free := func(q hip.Ptr) hip.Error { return e.Free(e.th, q) }
			for range 3 {
				alloc("Malloc", func() (hip.Ptr, hip.Error) { return e.Malloc(e.th, n) }, free)
				alloc("HostMalloc", func() (hip.Ptr, hip.Error) { return e.HostMalloc(e.th, n, 0) }, hostFree)
				alloc("HostGetDevicePointer", func() (hip.Ptr, hip.Error) {
					q, err := e.HostMalloc(e.th, n, 0)
					if err == hip.Success {
						_, err = e.HostGetDevicePointer(e.th, q, 0)
					}
					return q, err
				}, hostFree)
				alloc("MallocManaged", func() (hip.Ptr, hip.Error) { return e.MallocManaged(e.th, n, hip.MemAttachGlobal) }, free)
			}
			e.is("StreamQuery", e.StreamQuery(e.th, s), hip.ErrorNotReady)
			g.open()
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		}
	}},
	{"HostMemoryIsSetLater", func(e *env) {
		// Setting host memory that no kernel has used yet does not wait for what the stream does before.
		const n = 4096
		for _, k := range hostKinds {
			for _, s := range []hip.Stream{0, e.stream(0)} {
				h := k.make(e, n)
				copy(hostBytes(h, n), pattern(n, 3))
				g := e.gate(s)
				e.returns("MemsetAsync of "+k.name, func() hip.Error { return e.MemsetAsync(e.th, h+16, 9, n-16, s) })
				e.is("StreamQuery after MemsetAsync of "+k.name, e.StreamQuery(e.th, s), hip.ErrorNotReady)
				g.open()
				e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
				e.equal(k.name, hostBytes(h, n), append(pattern(n, 3)[:16:16], bytes.Repeat([]byte{9}, n-16)...))
			}
		}
	}},
	{"HostMemoryIsSetBehindACopy", func(e *env) {
		// What a copy brings is in the memory that is set behind it, where no kernel had used that memory yet.
		const n = 1 << 16
		p := e.upload(pattern(n, 5))
		for _, k := range hostKinds {
			h := k.make(e, n)
			clear(hostBytes(h, n))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, h, p, n, hip.MemcpyDeviceToHost, 0))
			e.ok("MemsetAsync", e.MemsetAsync(e.th, h, 9, 16, 0))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, 0))
			e.equal(k.name, hostBytes(h, n), append(bytes.Repeat([]byte{9}, 16), pattern(n, 5)[16:]...))
		}
	}},
	{"WaitedFor", func(e *env) {
		p := e.malloc(8192)
		h := e.host(8192)
		pinned, err := e.HostMalloc(e.th, 8192, 0)
		e.ok("HostMalloc", err)
		other, err := e.HostMalloc(e.th, 8192, 0)
		e.ok("HostMalloc", err)
		d, err := e.HostGetDevicePointer(e.th, other, 0) // a kernel may use it
		e.ok("HostGetDevicePointer", err)
		e.ok("Memset", e.Memset(e.th, d, 0, 8192))
		box := hip.DrvMEMCPY3D{
			SrcMemoryType: hip.MemoryTypeHost, SrcHost: pinned, SrcPitch: 64, SrcHeight: 8,
			DstMemoryType: hip.MemoryTypeHost, DstHost: other, DstPitch: 64, DstHeight: 8,
			WidthInBytes: 32, Height: 8, Depth: 4,
		}
		for _, c := range []struct {
			what string
			call func() hip.Error
		}{
			{"Memcpy to the device", func() hip.Error { return e.Memcpy(e.th, p, ptr(h), 8192, hip.MemcpyHostToDevice) }},
			{"Memcpy of pinned memory to the device", func() hip.Error { return e.Memcpy(e.th, p, pinned, 8192, hip.MemcpyHostToDevice) }},
			{"Memcpy from the device", func() hip.Error { return e.Memcpy(e.th, ptr(h), p, 8192, hip.MemcpyDeviceToHost) }},
			{"Memcpy from the device to pinned memory", func() hip.Error { return e.Memcpy(e.th, pinned, p, 8192, hip.MemcpyDeviceToHost) }},
			{"MemcpyAsync from the device to other memory", func() hip.Error { return e.MemcpyAsync(e.th, ptr(h), p, 8192, hip.MemcpyDeviceToHost, 0) }},
			{"Memcpy on the host", func() hip.Error { return e.Memcpy(e.th, ptr(h), ptr(h)+4096, 4096, hip.MemcpyHostToHost) }},
			{"MemcpyAsync from pinned memory to pinned memory", func() hip.Error {
				return e.MemcpyAsync(e.th, other, pinned, 8192, hip.MemcpyHostToHost, 0)
			}},
			{"MemcpyAsync from other memory to pinned memory", func() hip.Error { return e.MemcpyAsync(e.th, other, ptr(h), 8192, hip.MemcpyDefault, 0) }},
			{"Memcpy2DAsync from pinned memory to pinned memory", func() hip.Error {
				return e.Memcpy2DAsync(e.th, pinned, 64, other, 128, 32, 64, hip.MemcpyHostToHost, 0)
			}},
			{"DrvMemcpy3DAsync on the host", func() hip.Error { return e.DrvMemcpy3DAsync(e.th, &box, 0) }},
			{"Memset of pinned memory", func() hip.Error { return e.Memset(e.th, pinned, 1, 8192) }},
			{"Memset within an allocation", func() hip.Error { return e.Memset(e.th, p+16, 1, 4096) }},
		} {
			g := e.gate(0)
			e.waits(c.what, g.open, c.call)
			e.is("StreamQuery after "+c.what, e.StreamQuery(e.th, 0), hip.Success)
		}
	}},
	{"FreedBehindASynchronization", func(e *env) {
		// What one thread frees while another waits for the stream is in use until the stream has come to it.
		const n = 1 << 20
		s := e.stream(nonBlocking)
		g := e.gate(s)
		done := make(chan hip.Error, 1)
		go func() { done <- e.StreamSynchronize(hip.Thread{ID: 7}, s) }()
		time.Sleep(20 * time.Millisecond) // it waits now, or the test is of no use
		p, err := e.MallocAsync(e.th, n, s)
		e.ok("MallocAsync", err)
		pinned, err := e.HostMalloc(e.th, n, 0)
		e.ok("HostMalloc", err)
		began, end := make(chan struct{}), make(chan struct{})
		e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, s, func() {
			close(began)
			<-end
		}))
		e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 7, n, s))
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, pinned, p, n, hip.MemcpyDeviceToHost, s))
		e.ok("FreeAsync", e.FreeAsync(e.th, p, s))
		g.open()
		select {
		case err := <-done:
			e.ok("StreamSynchronize of the other thread", err)
		case <-time.After(100 * time.Millisecond): // where it waits for all that there is
		}
		<-began
		close(end)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("the memory before it was freed", hostBytes(pinned, n), bytes.Repeat([]byte{7}, n))
	}},
	{"OneStreamManyAllocations", func(e *env) {
		// Threads allocate, use and free memory on one stream, each synchronizing it in between.
		s := e.stream(nonBlocking)
		f := e.kernel("vector_add", "vector_add")
		const n = 16 << 10
		var wg sync.WaitGroup
		errs := make(chan error, 8)
		for k := range 8 {
			h := e.host(4 * n)
			in := e.host(4 * n)
			copy(in, bytes.Repeat(f32s([]float32{float32(k + 1)}), n))
			wg.Go(func() { errs <- e.allocateOn(s, f, uint32(k+10), in, h, n) })
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				e.Error(err)
			}
		}
	}},
}

// allocateOn adds vectors in stream-ordered memory, several times.
func (e *env) allocateOn(s hip.Stream, f hip.Function, id uint32, in, out []byte, n int) error {
	th := hip.Thread{ID: id}
	size := uint64(4 * n)
	for round := range 8 {
		var dev [3]hip.Ptr
		for i := range dev {
			var err hip.Error
			if dev[i], err = e.MallocAsync(th, size, s); err != hip.Success {
				return fmt.Errorf("hipMallocAsync: %w", err)
			}
		}
		for _, p := range dev[:2] {
			if err := e.MemcpyAsync(th, p, ptr(in), size, hip.MemcpyHostToDevice, s); err != hip.Success {
				return fmt.Errorf("hipMemcpyAsync: %w", err)
			}
		}
		if err := e.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: uint32(n+255) / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1},
			Stream: s, Args: pack(dev[0], dev[1], dev[2], int32(n))}); err != hip.Success {
			return fmt.Errorf("hipLaunchKernel: %w", err)
		}
		if err := e.MemcpyAsync(th, ptr(out), dev[2], size, hip.MemcpyDeviceToHost, s); err != hip.Success {
			return fmt.Errorf("hipMemcpyAsync: %w", err)
		}
		for _, p := range dev {
			if err := e.FreeAsync(th, p, s); err != hip.Success {
				return fmt.Errorf("hipFreeAsync: %w", err)
			}
		}
		if err := e.StreamSynchronize(th, s); err != hip.Success {
			return fmt.Errorf("hipStreamSynchronize: %w", err)
		}
		if want := bytes.Repeat(f32s([]float32{2 * float32(id-9)}), n); !bytes.Equal(out, want) {
			return fmt.Errorf("wrong sum of thread %d, round %d", id, round)
		}
	}
	return nil
}
