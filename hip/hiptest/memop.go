package hiptest

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
)

var memOpTests = []test{
	{"Write", func(e *env) {
		s, p := e.stream(nonBlocking), e.upload(make([]byte, 32))
		e.ok("StreamWriteValue32", e.StreamWriteValue32(e.th, s, p+4, 0x11223344, 0))
		e.ok("StreamWriteValue64", e.StreamWriteValue64(e.th, s, p+8, 0x1122334455667788, 0))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		want := make([]byte, 32)
		binary.LittleEndian.PutUint32(want[4:], 0x11223344)
		binary.LittleEndian.PutUint64(want[8:], 0x1122334455667788)
		e.equal("what was written", e.download(p, 32), want)
	}},
	{"Wait", func(e *env) {
		// Each lets go of the next: 32 and 64 bits, all comparisons.
		p, a, b := e.upload(make([]byte, 64)), e.stream(nonBlocking), e.stream(nonBlocking)
		const all = ^uint64(0)
		e.ok("StreamWaitValue32", e.StreamWaitValue32(e.th, a, p, 7, hip.StreamWaitValueEq, 0xFF))
		e.ok("StreamWriteValue32", e.StreamWriteValue32(e.th, a, p+8, 5, 0))
		e.ok("StreamWaitValue64", e.StreamWaitValue64(e.th, a, p+16, 8, hip.StreamWaitValueAnd, all))
		e.ok("StreamWriteValue32", e.StreamWriteValue32(e.th, a, p+24, 1, 0))
		e.ok("StreamWaitValue32", e.StreamWaitValue32(e.th, b, p+8, 5, hip.StreamWaitValueGte, 0xF))
		e.is("StreamQuery of a stream that waits", e.StreamQuery(e.th, a), hip.ErrorNotReady)
		e.is("StreamQuery of a stream that waits", e.StreamQuery(e.th, b), hip.ErrorNotReady)
		c := e.stream(nonBlocking)
		e.ok("StreamWriteValue32", e.StreamWriteValue32(e.th, c, p, 0xE07, 0))
		e.ok("StreamSynchronize of one that was let go", e.StreamSynchronize(e.th, b))
		e.is("StreamQuery of a stream that waits again", e.StreamQuery(e.th, a), hip.ErrorNotReady)
		e.ok("StreamWriteValue64", e.StreamWriteValue64(e.th, c, p+16, 0xC, 0))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, a))
		if v := u32At(e.download(p+24, 4), 0); v != 1 {
			e.Errorf("the stream wrote %d", v)
		}
		e.ok("StreamWaitValue32", e.StreamWaitValue32(e.th, a, p, 0xFF, hip.StreamWaitValueNor, 0x1FF)) // bit 8 is in neither
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, a))
	}},
	{"WaitForKernel", func(e *env) {
		// A stream waits for what a kernel of another one writes.
		s, p, in := e.stream(nonBlocking), e.upload(u32s(0)), e.upload(u32s(0x3f800000))
		e.ok("StreamWaitValue32", e.StreamWaitValue32(e.th, s, p, 0x40000000, hip.StreamWaitValueEq, 0xFFFFFFFF))
		e.launch(e.kernel("saxpy", "saxpy"), 1, 64, e.stream(nonBlocking), uint32(1), float32(2), in, p)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.sync()
	}},
	{"Batch", func(e *env) {
		s, p := e.stream(nonBlocking), e.upload(make([]byte, 32))
		op := func(kind hip.StreamBatchMemOpType, at hip.Ptr, value, flags uint64) hip.StreamBatchMemOpParamsUnion {
			return hip.StreamBatchMemOpParamsUnion{uint64(kind), uint64(at), value, flags}
		}
		ops := []hip.StreamBatchMemOpParamsUnion{
			op(hip.StreamMemOpWriteValue32, p, 3, 0), op(hip.StreamMemOpWaitValue32, p, 3, hip.StreamWaitValueEq),
			op(hip.StreamMemOpWriteValue64, p+8, 1<<40, 0), op(hip.StreamMemOpWaitValue64, p+8, 1<<40, hip.StreamWaitValueGte),
			op(hip.StreamMemOpWriteValue32, p, 4, 0),
		}
		e.ok("StreamBatchMemOp", e.StreamBatchMemOp(e.th, s, ops, 0))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		b := e.download(p, 16)
		if u32At(b, 0) != 4 || binary.LittleEndian.Uint64(b[8:]) != 1<<40 {
			e.Errorf("% x", b)
		}
		e.is("StreamBatchMemOp of nothing", e.StreamBatchMemOp(e.th, s, nil, 0), hip.ErrorInvalidValue)
		e.is("StreamBatchMemOp with flags", e.StreamBatchMemOp(e.th, s, ops, 1), hip.ErrorInvalidValue)
		e.is("StreamBatchMemOp of too many", e.StreamBatchMemOp(e.th, s, make([]hip.StreamBatchMemOpParamsUnion, 257), 0), hip.ErrorInvalidValue)
		ops[4] = op(hip.StreamMemOpBarrier, p, 0, 0)
		e.is("StreamBatchMemOp with a barrier", e.StreamBatchMemOp(e.th, s, ops, 0), hip.ErrorInvalidValue)
	}},
	{"Errors", func(e *env) {
		p := e.malloc(16)
		e.is("StreamWriteValue32 at null", e.StreamWriteValue32(e.th, 0, 0, 1, 0), hip.ErrorInvalidValue)
		e.is("StreamWaitValue64 at null", e.StreamWaitValue64(e.th, 0, 0, 1, 0, 1), hip.ErrorInvalidValue)
		e.is("StreamWaitValue32 with no comparison", e.StreamWaitValue32(e.th, 0, p, 1, 4, 1), hip.ErrorInvalidValue)
		e.is("StreamWriteValue64 beyond the end", e.StreamWriteValue64(e.th, 0, p+12, 1, 0), hip.ErrorInvalidValue)
		e.is("StreamWriteValue32 of ordinary memory", e.StreamWriteValue32(e.th, 0, ptr(e.host(4096)), 1, 0), hip.ErrorInvalidValue)
		e.is("StreamWriteValue32 on no stream", e.StreamWriteValue32(e.th, invalid, p, 1, 0), hip.ErrorContextIsDestroyed)
		e.is("StreamWaitValue32 on no stream", e.StreamWaitValue32(e.th, invalid, p, 1, 0, 1), hip.ErrorContextIsDestroyed)
	}},
}

var pointerTests = []test{
	{"Attributes", func(e *env) {
		p := e.malloc(1000)
		for _, c := range []struct {
			a    hip.PointerAttribute
			want uint64
		}{
			{hip.DrvPointerAttributeMemoryType, uint64(hip.MemoryTypeDevice)}, {hip.DrvPointerAttributeDevicePointer, uint64(p) + 9},
			{hip.DrvPointerAttributeRangeStartAddr, uint64(p)}, {hip.DrvPointerAttributeRangeSize, 1000},
			{hip.DrvPointerAttributeDeviceOrdinal, 0}, {hip.DrvPointerAttributeIsManaged, 0}, {hip.DrvPointerAttributeMapped, 1},
			{hip.DrvPointerAttributeSyncMemops, 0}, {hip.DrvPointerAttributeAccessFlags, 0},
		} {
			if v, err := e.PointerGetAttribute(e.th, c.a, p+9); err != hip.Success || v != c.want {
				e.Errorf("attribute %d: %#x, %v; want %#x", c.a, v, err, c.want)
			}
		}
		e.ok("PointerSetAttribute", e.PointerSetAttribute(e.th, 1, hip.DrvPointerAttributeSyncMemops, p))
		if v, err := e.PointerGetAttribute(e.th, hip.DrvPointerAttributeSyncMemops, p); err != hip.Success || v != 1 {
			e.Errorf("after setting it: %d, %v", v, err)
		}
		e.is("PointerSetAttribute of another", e.PointerSetAttribute(e.th, 1, hip.DrvPointerAttributeMapped, p), hip.ErrorInvalidValue)
		_, err := e.PointerGetAttribute(e.th, hip.DrvPointerAttributeContext, p)
		e.is("PointerGetAttribute of a context", err, hip.ErrorNotSupported)
		_, err = e.PointerGetAttribute(e.th, 99, p)
		e.is("PointerGetAttribute of no attribute", err, hip.ErrorInvalidValue)
		first, err := e.PointerGetAttribute(e.th, hip.DrvPointerAttributeBufferId, p)
		e.ok("PointerGetAttribute", err)
		e.ok("Free", e.Free(e.th, p))
		_, err = e.PointerGetAttribute(e.th, hip.DrvPointerAttributeMapped, p)
		e.is("PointerGetAttribute of freed memory", err, hip.ErrorInvalidValue)
		second, err := e.PointerGetAttribute(e.th, hip.DrvPointerAttributeBufferId, e.malloc(1000))
		e.ok("PointerGetAttribute", err)
		if first == second {
			e.Errorf("two allocations are number %d", first)
		}
	}},
	{"CUMasks", func(e *env) {
		d, err := e.GetDevicePropertiesR0600(0)
		e.ok("GetDeviceProperties", err)
		words := uint32(d.MultiProcessorCount+31) / 32
		s, err := e.ExtStreamCreateWithCUMask(e.th, append([]uint32{0xe}, make([]uint32, words-1)...))
		e.ok("ExtStreamCreateWithCUMask", err)
		m, err := e.ExtStreamGetCUMask(e.th, s, words)
		if err != hip.Success || uint32(len(m)) != words || m[0] != 0xe {
			e.Errorf("mask %x, %v", m, err)
		}
		_, err = e.ExtStreamGetCUMask(e.th, s, words-1)
		e.is("ExtStreamGetCUMask with no room", err, hip.ErrorInvalidValue)
		in, out := e.upload(u32s(0x3f800000)), e.upload(u32s(0))
		e.launch(e.kernel("saxpy", "saxpy"), 1, 64, s, uint32(1), float32(2), in, out)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if v := u32At(e.download(out, 4), 0); v != 0x40000000 {
			e.Errorf("a kernel of the stream wrote %#x", v)
		}
		e.ok("StreamDestroy", e.StreamDestroy(e.th, s))
	}},
	{"Limits", func(e *env) {
		v, err := e.DeviceGetLimit(e.th, hip.LimitStackSize)
		e.ok("DeviceGetLimit", err)
		e.ok("DeviceSetLimit", e.DeviceSetLimit(e.th, hip.LimitStackSize, v+8))
		if now, err := e.DeviceGetLimit(e.th, hip.LimitStackSize); err != hip.Success || now != (v+8+15)/16*16 {
			e.Errorf("%d after %d, %v", now, v+8, err)
		}
		e.ok("DeviceSetLimit back", e.DeviceSetLimit(e.th, hip.LimitStackSize, v))
		e.is("DeviceSetLimit of a huge heap", e.DeviceSetLimit(e.th, hip.LimitMallocHeapSize, 1<<40), hip.ErrorInvalidValue)
		e.is("DeviceSetLimit of a huge stack", e.DeviceSetLimit(e.th, hip.LimitStackSize, 1<<40), hip.ErrorInvalidValue)
		e.is("DeviceSetLimit of printf", e.DeviceSetLimit(e.th, hip.LimitPrintfFifoSize, 1<<20), hip.ErrorUnsupportedLimit)
		e.is("DeviceSetLimit of nothing", e.DeviceSetLimit(e.th, 99, 1), hip.ErrorInvalidValue)
	}},
	{"Advice", func(e *env) {
		p, err := e.MallocManaged(e.th, 8192, hip.MemAttachGlobal)
		if err == hip.ErrorNotSupported {
			return // no managed memory
		}
		e.ok("MallocManaged", err)
		e.ok("MemAdvise", e.MemAdvise(e.th, p, 4096, hip.MemAdviseSetPreferredLocation, hip.CPUDeviceID))
		e.ok("MemPrefetchAsync", e.MemPrefetchAsync(e.th, p, 8192, 0, 0))
		e.sync()
		for _, c := range []struct {
			a        hip.MemRangeAttribute
			n        uint64
			expected int32
		}{
			{hip.MemRangeAttributePreferredLocation, 4096, -1}, {hip.MemRangeAttributePreferredLocation, 8192, -2},
			{hip.MemRangeAttributeLastPrefetchLocation, 8192, 0}, {hip.MemRangeAttributeReadMostly, 8192, 0},
		} {
			b, err := e.MemRangeGetAttribute(e.th, 4, c.a, p, c.n)
			if err != hip.Success || int32(u32At(b, 0)) != c.expected {
				e.Errorf("attribute %d of %d bytes: % x, %v; want %d", c.a, c.n, b, err, c.expected)
			}
		}
		e.ok("StreamAttachMemAsync", e.StreamAttachMemAsync(e.th, 0, p, 0, hip.MemAttachHost))
		e.is("MemAdvise beyond the end", e.MemAdvise(e.th, p, 8193, hip.MemAdviseSetReadMostly, 0), hip.ErrorInvalidValue)
		e.is("MemAdvise of device memory", e.MemAdvise(e.th, e.malloc(64), 64, hip.MemAdviseSetReadMostly, 0), hip.ErrorInvalidValue)
		own := e.apart(8192)
		e.is("MemAdvise of memory that is not registered", e.MemAdvise(e.th, ptr(own), 64, hip.MemAdviseSetReadMostly, 0), hip.ErrorInvalidValue)
		e.ok("HostRegister", e.HostRegister(e.th, ptr(own), 8192, 0))
		e.ok("MemAdvise of registered memory", e.MemAdvise(e.th, ptr(own), 8192, hip.MemAdviseSetReadMostly, 0))
		if b, err := e.MemRangeGetAttribute(e.th, 4, hip.MemRangeAttributeReadMostly, ptr(own), 8192); err != hip.Success || u32At(b, 0) != 1 {
			e.Errorf("registered memory is read mostly: % x, %v", b, err)
		}
		e.ok("HostUnregister", e.HostUnregister(e.th, ptr(own)))
		e.ok("Free", e.Free(e.th, p))
	}},
	{"SignalMemory", func(e *env) {
		p, err := e.ExtMallocWithFlags(e.th, 8, hip.MallocSignalMemory)
		e.ok("ExtMallocWithFlags", err)
		binary.LittleEndian.PutUint64(hostBytes(p, 8), 5)
		s := e.stream(nonBlocking)
		e.ok("StreamWriteValue64", e.StreamWriteValue64(e.th, s, p, 6, 0))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if v := binary.LittleEndian.Uint64(hostBytes(p, 8)); v != 6 {
			e.Errorf("the host sees %d", v)
		}
		e.ok("Free", e.Free(e.th, p))
		_, err = e.ExtMallocWithFlags(e.th, 16, hip.MallocSignalMemory)
		e.is("ExtMallocWithFlags of more signal memory than there is", err, hip.ErrorInvalidValue)
		_, err = e.ExtMallocWithFlags(e.th, 16, 99)
		e.is("ExtMallocWithFlags with unknown flags", err, hip.ErrorInvalidValue)
	}},
}
