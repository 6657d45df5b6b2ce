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
		if a.IsManaged != 1 || a.AllocationFlags != 0 {
			e.Errorf("managed memory: %+v", a)
		}
		flags, err = e.HostGetFlags(e.th, m)
		if e.ok("HostGetFlags of managed memory", err); flags != 0 {
			e.Errorf("managed memory has flags %#x", flags)
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
		for _, flags := range []uint32{0x10, 1 << 20, 1 << 28} { // what a newer HIP may have
			p, err := e.HostMalloc(e.th, 4096, flags)
			e.ok("HostMalloc with flags of another HIP", err)
			got, err := e.HostGetFlags(e.th, p)
			e.is("HostGetFlags", err, hip.Success)
			if got != flags {
				e.Errorf("flags %#x, want %#x", got, flags)
			}
			e.ok("HostFree", e.HostFree(e.th, p))
		}
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
	{"RegisteredInPlace", func(e *env) {
		// Memory of the program's own is for kernels where it is for the program, also if pages hold more than one piece of it.
		const n = 1000
		b := e.apart(4 * 4096)
		for i := range b {
			b[i] = 0x55
		}
		x, y := b[100:100+4*n], b[100+4*n:100+8*n]
		for round := range 2 {
			e.ok("HostRegister", e.HostRegister(e.th, ptr(x), 4*n, hip.HostRegisterDefault))
			e.ok("HostRegister", e.HostRegister(e.th, ptr(y), 4*n, hip.HostRegisterMapped))
			for _, h := range []hip.Ptr{ptr(x), ptr(y) + 40} {
				d, err := e.HostGetDevicePointer(e.th, h, 0)
				if e.ok("HostGetDevicePointer", err); d != h {
					e.Errorf("memory at %v is at %v for the device", h, d)
				}
				a, err := e.PointerGetAttributes(e.th, h)
				if e.ok("PointerGetAttributes", err); a.Type != hip.MemoryTypeHost || a.HostPointer != h || a.DevicePointer != h || a.IsManaged != 0 {
					e.Errorf("registered memory: %+v", a)
				}
			}
			_, err := e.HostGetFlags(e.th, ptr(y))
			e.is("HostGetFlags of registered memory", err, hip.ErrorInvalidValue) // HIP has not allocated it
			ones := make([]float32, n)
			for i := range ones {
				ones[i] = float32(i + round)
			}
			copy(x, f32s(ones))
			copy(y, f32s(ones))
			e.launch(e.kernel("saxpy", "saxpy"), 4, 256, 0, uint32(n), float32(2), ptr(x), ptr(y))
			e.sync()
			want := make([]float32, n)
			for i := range want {
				want[i] = 3 * float32(i+round)
			}
			e.equal("registered memory that a kernel wrote", y, f32s(want))
			e.equal("registered memory that a kernel read", x, f32s(ones))
			e.ok("HostUnregister", e.HostUnregister(e.th, ptr(x)))
			e.launch(e.kernel("saxpy", "saxpy"), 4, 256, 0, uint32(n), float32(1), ptr(y), ptr(y))
			e.ok("HostUnregister", e.HostUnregister(e.th, ptr(y)))
			for i := range want {
				want[i] *= 2
			}
			e.equal("memory that is registered no more", y, f32s(want))
			e.is("HostUnregister again", e.HostUnregister(e.th, ptr(y)), hip.ErrorHostMemoryNotRegistered)
		}
		if b[99] != 0x55 || b[100+8*n] != 0x55 {
			e.Error("what lies beside registered memory has changed")
		}
	}},
	{"RegisteredAgain", func(e *env) {
		// The program may free memory that it has registered without a word, and get the same addresses again.
		b := e.apart(1 << 16)
		f := e.kernel("saxpy", "saxpy")
		for _, r := range [][2]int{{0, 4096}, {0, 4096}, {64, 1024}, {2048, 8192}, {0, 1 << 16}} {
			x := b[r[0] : r[0]+r[1]]
			e.ok("HostRegister", e.HostRegister(e.th, ptr(x), uint64(len(x)), 0))
			d, err := e.HostGetDevicePointer(e.th, ptr(x), 0)
			e.ok("HostGetDevicePointer", err)
			copy(x, f32s([]float32{1, 2, 3, 4}))
			e.launch(f, 1, 64, 0, uint32(4), float32(1), d, d)
			e.sync()
			e.equal("after a kernel", x[:16], f32s([]float32{2, 4, 6, 8}))
			e.renew(b)
		}
		e.ok("HostUnregister", e.HostUnregister(e.th, ptr(b)))
		e.is("HostUnregister again", e.HostUnregister(e.th, ptr(b)), hip.ErrorHostMemoryNotRegistered)
	}},
	{"ManagedInPlace", func(e *env) {
		m, ok := e.Runtime.(hip.HostManager)
		if !ok {
			return // behind a worker it is the client who does this
		}
		const n = 1000
		b := e.apart(4 * n)
		copy(b, f32s([]float32{1, 2, 3, 4}))
		e.ok("ManageHost", m.ManageHost(e.th, ptr(b), 4*n))
		a, err := e.PointerGetAttributes(e.th, ptr(b)+8)
		if e.ok("PointerGetAttributes", err); a.Type != hip.MemoryTypeManaged || a.IsManaged != 1 || a.HostPointer != ptr(b)+8 || a.DevicePointer != ptr(b)+8 {
			e.Errorf("managed memory: %+v", a)
		}
		v, err := e.PointerGetAttribute(e.th, hip.DrvPointerAttributeIsManaged, ptr(b))
		if e.ok("PointerGetAttribute", err); v != 1 {
			e.Error("not managed by its attribute")
		}
		e.ok("MemAdvise", e.MemAdvise(e.th, ptr(b), 4*n, hip.MemAdviseSetReadMostly, 0))
		got, err := e.MemRangeGetAttribute(e.th, 4, hip.MemRangeAttributeReadMostly, ptr(b), 4*n)
		if e.ok("MemRangeGetAttribute", err); u32At(got, 0) != 1 {
			e.Errorf("read mostly: %v", got)
		}
		s := e.stream(nonBlocking)
		e.ok("MemPrefetchAsync", e.MemPrefetchAsync(e.th, ptr(b), 4*n, 0, s))
		e.ok("StreamAttachMemAsync", e.StreamAttachMemAsync(e.th, s, ptr(b), 0, hip.MemAttachSingle))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		// A kernel finds it without being told of it: its address lies in device memory.
		e.launch(e.kernel("saxpy", "saxpy"), 1, 64, 0, uint32(4), float32(1), ptr(b), ptr(b))
		e.sync()
		e.equal("after a kernel", b[:16], f32s([]float32{2, 4, 6, 8}))
		e.is("Free", e.Free(e.th, ptr(b)), hip.ErrorInvalidValue)
		e.is("HostFree", e.HostFree(e.th, ptr(b)), hip.ErrorInvalidValue)
		e.is("HostUnregister", e.HostUnregister(e.th, ptr(b)), hip.ErrorHostMemoryNotRegistered)
		e.ok("DeviceReset", e.DeviceReset(e.th))
		e.mods = map[string]hip.Module{}
		_ = m.UnmanageHost(e.th, ptr(b)) // a reset may end it
		e.ok("ManageHost", m.ManageHost(e.th, ptr(b), 4*n))
		e.launch(e.kernel("saxpy", "saxpy"), 1, 64, 0, uint32(4), float32(1), ptr(b), ptr(b))
		e.ok("UnmanageHost", m.UnmanageHost(e.th, ptr(b)))
		e.equal("after a reset and a kernel", b[:16], f32s([]float32{4, 8, 12, 16}))
		e.is("UnmanageHost again", m.UnmanageHost(e.th, ptr(b)), hip.ErrorHostMemoryNotRegistered)
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
