package hiptest

import (
	"github.com/rocwire/rocwire/hip"
)

var memoryTests = []test{
	{"AllocateAndFree", func(e *env) {
		type span struct{ base, end hip.Ptr }
		var all []span
		for _, n := range []uint64{1, 3, 64, 4095, 4096, 4097, 1 << 20, 3<<20 + 5} {
			p := e.malloc(n)
			if p%256 != 0 {
				e.Errorf("Malloc(%d) = %v is not aligned", n, p)
			}
			for _, o := range all {
				if p < o.end && o.base < p+hip.Ptr(n) {
					e.Errorf("Malloc(%d) = %v overlaps [%v, %v)", n, p, o.base, o.end)
				}
			}
			all = append(all, span{p, p + hip.Ptr(n)})
			base, size, err := e.MemGetAddressRange(e.th, p+hip.Ptr(n-1))
			e.ok("MemGetAddressRange", err)
			if base != p || size != n {
				e.Errorf("Malloc(%d) = %v, its address range is %d bytes at %v", n, p, size, base)
			}
			if size, err := e.MemPtrGetInfo(e.th, p); err != hip.Success || size != n {
				e.Errorf("MemPtrGetInfo: %d, %v", size, err)
			}
		}
		for _, o := range all {
			e.ok("Free", e.Free(e.th, o.base))
		}
		for _, o := range all {
			e.is("Free again", e.Free(e.th, o.base), hip.ErrorInvalidValue)
		}
	}},
	{"Nothing", func(e *env) {
		p, err := e.Malloc(e.th, 0)
		if err != hip.Success || p != 0 {
			e.Errorf("Malloc(0) = %v, %v", p, err)
		}
		e.is("Free(0)", e.Free(e.th, 0), hip.Success)
	}},
	{"BadPointers", func(e *env) {
		p := e.malloc(1 << 20)
		for _, bad := range []hip.Ptr{invalid, p + 1, p + 4096, p + 1<<20, ^hip.Ptr(0)} {
			e.is("Free", e.Free(e.th, bad), hip.ErrorInvalidValue)
		}
		if _, _, err := e.MemGetAddressRange(e.th, invalid); err != hip.ErrorNotFound {
			e.Errorf("MemGetAddressRange of nothing: %v", err)
		}
		_, err := e.MemPtrGetInfo(e.th, 0)
		e.is("MemPtrGetInfo(0)", err, hip.ErrorInvalidValue)
		e.ok("Free", e.Free(e.th, p))
	}},
	{"OutOfMemory", func(e *env) {
		free, total, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if free == 0 || free > total {
			e.Fatalf("%d bytes free of %d", free, total)
		}
		for _, n := range []uint64{total + 1, total * 2, 1 << 60, ^uint64(0)} {
			p, err := e.Malloc(e.th, n)
			e.is("Malloc of more than there is", err, hip.ErrorOutOfMemory)
			if err != hip.Success && p != 0 {
				e.Errorf("Malloc failed and gave %v", p)
			}
		}
		// Take nearly all, then there is no room for another quarter, then there is.
		big := e.malloc(free / 8 * 7)
		_, err = e.Malloc(e.th, free/4)
		e.is("Malloc of a quarter when an eighth is left", err, hip.ErrorOutOfMemory)
		e.ok("Free", e.Free(e.th, big))
		e.ok("Free", e.Free(e.th, e.malloc(free/4)))
	}},
	{"Accounting", func(e *env) {
		before, total, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		p := e.malloc(64 << 20)
		during, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if used := before - during; used < 64<<20 || used > 80<<20 {
			e.Errorf("64 MiB take %d bytes", used)
		}
		e.ok("Free", e.Free(e.th, p))
		after, total2, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if after != before || total2 != total {
			e.Errorf("free %d of %d before, %d of %d after", before, total, after, total2)
		}
	}},
	{"PointerAttributes", func(e *env) {
		p := e.malloc(1 << 16)
		a, err := e.PointerGetAttributes(e.th, p+100)
		e.ok("PointerGetAttributes", err)
		if a.Type != hip.MemoryTypeDevice || a.Device != 0 || a.DevicePointer != p+100 || a.IsManaged != 0 {
			e.Errorf("device memory: %+v", a)
		}
		if _, err := e.PointerGetAttributes(e.th, 0); err != hip.ErrorInvalidValue {
			e.Errorf("null pointer: %v", err)
		}
		h := e.host(100)
		if a, err = e.PointerGetAttributes(e.th, ptr(h)); err != hip.Success || a.Type != hip.MemoryTypeUnregistered || a.Device != hip.InvalidDeviceID {
			e.Errorf("host memory: %+v, %v", a, err)
		}
		e.ok("Free", e.Free(e.th, p))
		if a, err = e.PointerGetAttributes(e.th, p+100); err != hip.Success || a.Type != hip.MemoryTypeUnregistered {
			e.Errorf("freed memory: %+v, %v", a, err)
		}
	}},
	{"StreamOrdered", func(e *env) {
		s := e.stream(1)
		before, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		p, err := e.MallocAsync(e.th, 1<<20, s)
		e.ok("MallocAsync", err)
		e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 0x5a, 1<<20, s))
		h := e.host(1 << 20)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, ptr(h), p, 1<<20, hip.MemcpyDeviceToHost, s))
		e.ok("FreeAsync", e.FreeAsync(e.th, p, s))
		e.is("FreeAsync again", e.FreeAsync(e.th, p, s), hip.ErrorInvalidValue)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		for i, v := range h {
			if v != 0x5a {
				e.Fatalf("byte %d is %#x", i, v)
			}
		}
		e.is("FreeAsync of what is freed", e.FreeAsync(e.th, p, s), hip.ErrorInvalidValue)
		pool, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		e.ok("MemPoolTrimTo", e.MemPoolTrimTo(pool, 0))
		if after, _, _ := e.MemGetInfo(e.th); after != before {
			e.Errorf("free %d before, %d after", before, after)
		}
		p, err = e.MallocAsync(e.th, 4096, 0)
		e.ok("MallocAsync", err)
		e.ok("Free of MallocAsync's", e.Free(e.th, p))
		_, total, _ := e.MemGetInfo(e.th)
		_, err = e.MallocAsync(e.th, total+1, s)
		e.is("MallocAsync of more than there is", err, hip.ErrorOutOfMemory)
	}},
	{"Many", func(e *env) {
		var all []hip.Ptr
		for i := range 3000 {
			all = append(all, e.malloc(uint64(1+i%9000)))
		}
		seen := map[hip.Ptr]bool{}
		for i, p := range all {
			if seen[p] {
				e.Fatalf("%v was given out twice", p)
			}
			seen[p] = true
			if i%500 == 0 {
				e.write(p, pattern(1+i%9000, byte(i)))
				e.equal("contents", e.download(p, 1+i%9000), pattern(1+i%9000, byte(i)))
			}
		}
		for _, p := range all {
			e.ok("Free", e.Free(e.th, p))
		}
	}},
}

var hostMemoryTests = []test{
	{"SeenByKernels", func(e *env) {
		for _, managed := range []bool{false, true} {
			var h hip.Ptr
			var err hip.Error
			if managed {
				h, err = e.MallocManaged(e.th, 4*1000, 1)
			} else {
				h, err = e.HostMalloc(e.th, 4*1000, 0)
			}
			e.ok("allocation", err)
			b := hostBytes(h, 4*1000)
			for i := range b {
				b[i] = 0
			}
			copy(b, u32s(1, 2, 3))
			d, err := e.HostGetDevicePointer(e.th, h, 0)
			e.ok("HostGetDevicePointer", err)
			out := e.malloc(4 * 1000)
			// y = 2x + y with x in host memory, then the other way round.
			ones := make([]float32, 1000)
			for i := range ones {
				ones[i] = float32(i)
			}
			copy(b, f32s(ones))
			e.ok("Memset", e.Memset(e.th, out, 0, 4*1000))
			e.launch(e.kernel("saxpy", "saxpy"), 4, 256, 0, uint32(1000), float32(2), d, out)
			e.launch(e.kernel("saxpy", "saxpy"), 4, 256, 0, uint32(1000), float32(3), out, d)
			e.sync()
			want := make([]float32, 1000)
			for i := range want {
				want[i] = 7 * float32(i)
			}
			e.equal("host memory that a kernel wrote", b, f32s(want))
			if managed {
				e.ok("Free", e.Free(e.th, h))
			} else {
				e.ok("HostFree", e.HostFree(e.th, h))
			}
		}
	}},
	{"NotCardMemory", func(e *env) {
		before, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		h, err := e.HostMalloc(e.th, 32<<20, 0)
		e.ok("HostMalloc", err)
		after, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if before != after {
			e.Errorf("32 MiB of host memory take %d bytes of the card", int64(before)-int64(after))
		}
		e.ok("HostFree", e.HostFree(e.th, h))
		e.is("HostFree again", e.HostFree(e.th, h), hip.ErrorInvalidValue)
	}},
	{"FreedAsDeviceMemory", func(e *env) { // AMD's hipFree takes it
		h, err := e.HostMalloc(e.th, 1<<16, 0)
		e.ok("HostMalloc", err)
		e.ok("Memset", e.Memset(e.th, h, 1, 1<<16))
		e.ok("Free", e.Free(e.th, h))
		e.is("Free again", e.Free(e.th, h), hip.ErrorInvalidValue)
		e.is("HostFree after it", e.HostFree(e.th, h), hip.ErrorInvalidValue)
	}},
	{"Attributes", func(e *env) {
		h, err := e.HostMalloc(e.th, 1<<16, 2)
		e.ok("HostMalloc", err)
		a, err := e.PointerGetAttributes(e.th, h)
		e.ok("PointerGetAttributes", err)
		if a.Type != hip.MemoryTypeHost || a.HostPointer != h || a.IsManaged != 0 {
			e.Errorf("host memory: %+v", a)
		}
		flags, err := e.HostGetFlags(e.th, h)
		if e.ok("HostGetFlags", err); flags != 2 {
			e.Errorf("flags %#x", flags)
		}
		e.ok("HostFree", e.HostFree(e.th, h))
		m, err := e.MallocManaged(e.th, 1<<16, 1)
		e.ok("MallocManaged", err)
		a, err = e.PointerGetAttributes(e.th, m)
		e.ok("PointerGetAttributes", err)
		if a.IsManaged != 1 {
			e.Errorf("managed memory: %+v", a)
		}
		e.ok("Free", e.Free(e.th, m))
	}},
	{"Errors", func(e *env) {
		p, err := e.HostMalloc(e.th, 0, 0)
		if err != hip.Success || p != 0 {
			e.Errorf("HostMalloc(0) = %v, %v", p, err)
		}
		e.is("HostFree(0)", e.HostFree(e.th, 0), hip.Success)
		e.is("HostFree of nothing", e.HostFree(e.th, invalid), hip.ErrorInvalidValue)
		_, err = e.HostMalloc(e.th, 4096, 0xc0000000)
		e.is("coherent and not coherent", err, hip.ErrorInvalidValue)
		_, err = e.MallocManaged(e.th, 4096, 99)
		e.is("MallocManaged with unknown flags", err, hip.ErrorInvalidValue)
		_, err = e.HostGetDevicePointer(e.th, invalid, 0)
		e.is("HostGetDevicePointer of nothing", err, hip.ErrorInvalidValue)
		_, err = e.HostMalloc(e.th, 1<<60, 0)
		e.is("HostMalloc of more than there is", err, hip.ErrorOutOfMemory)
		e.is("HostUnregister of what is not", e.HostUnregister(e.th, ptr(e.host(4096))), hip.ErrorHostMemoryNotRegistered)
		e.is("HostRegister(0)", e.HostRegister(e.th, 0, 4096, 0), hip.ErrorInvalidValue)
		e.is("HostRegister of more than is there", e.HostRegister(e.th, ptr(e.host(4096)), 1<<45, 0), hip.ErrorInvalidValue)
	}},
	{"CopiesAreAsynchronous", func(e *env) {
		s := e.stream(1)
		h, err := e.HostMalloc(e.th, 1<<16, 0)
		e.ok("HostMalloc", err)
		b := hostBytes(h, 1<<16)
		copy(b, pattern(1<<16, 1))
		d := e.malloc(1 << 16)
		g := e.gate(s)
		// Returns although the stream is held up.
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, d, h, 1<<16, hip.MemcpyHostToDevice, s))
		e.is("StreamQuery", e.StreamQuery(e.th, s), hip.ErrorNotReady)
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("device memory", e.download(d, 1<<16), pattern(1<<16, 1))
		e.ok("Memset", e.Memset(e.th, d, 9, 1<<16))
		e.sync() // nobody waits for a memset
		g = e.gate(s)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, h, d, 1<<16, hip.MemcpyDeviceToHost, s))
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		for i := range b {
			if b[i] != 9 {
				e.Fatalf("byte %d is %d", i, b[i])
			}
		}
		e.ok("HostFree", e.HostFree(e.th, h))
	}},
}
