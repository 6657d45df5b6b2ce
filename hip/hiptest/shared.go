package hiptest

import (
	"bytes"
	"time"

	"github.com/rocwire/rocwire/hip"
)

func (e *env) pool(device int32, handles hip.MemAllocationHandleType) hip.MemPool {
	e.Helper()
	p, err := e.MemPoolCreate(e.th, &hip.MemPoolProps{
		AllocType: hip.MemAllocationTypePinned, HandleTypes: handles,
		Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device},
	})
	e.ok("MemPoolCreate", err)
	return p
}

func (e *env) figure(p hip.MemPool, a hip.MemPoolAttr, want uint64) {
	e.Helper()
	if v, err := e.MemPoolGetAttribute(e.th, p, a); err != hip.Success || v != want {
		e.Errorf("attribute %d of the pool: %d, %v; want %d", a, v, err, want)
	}
}

func (e *env) fromPool(n uint64, p hip.MemPool, s hip.Stream) hip.Ptr {
	e.Helper()
	q, err := e.MallocFromPoolAsync(e.th, n, p, s)
	e.ok("MallocFromPoolAsync", err)
	return q
}

var poolTests = []test{
	{"Settings", func(e *env) {
		own, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		for _, p := range []hip.MemPool{own, e.pool(0, 0)} {
			for a := hip.MemPoolAttr(hip.MemPoolReuseFollowEventDependencies); a <= hip.MemPoolReuseAllowInternalDependencies; a++ {
				e.figure(p, a, 1)
				e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, a, 0))
				e.figure(p, a, 0)
				e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, a, 1))
			}
			e.figure(p, hip.MemPoolAttrReleaseThreshold, 0)
			e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrReleaseThreshold, 1<<40))
			e.figure(p, hip.MemPoolAttrReleaseThreshold, 1<<40)
			e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrReleaseThreshold, 0))
			for _, a := range []hip.MemPoolAttr{hip.MemPoolAttrReservedMemCurrent, hip.MemPoolAttrUsedMemCurrent} {
				e.is("a figure is set", e.MemPoolSetAttribute(e.th, p, a, 0), hip.ErrorInvalidValue)
			}
			e.is("a highest value is set", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrUsedMemHigh, 5), hip.ErrorInvalidValue)
			_, err := e.MemPoolGetAttribute(e.th, p, 77)
			e.is("no attribute", err, hip.ErrorInvalidValue)
		}
		e.is("the device's own is destroyed", e.MemPoolDestroy(e.th, own), hip.ErrorInvalidValue)
		_, err = e.MemPoolCreate(e.th, &hip.MemPoolProps{})
		e.is("a pool of nothing", err, hip.ErrorInvalidValue)
	}},
	{"KeepAndReuse", func(e *env) {
		own, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		const n = 1 << 20
		for _, p := range []hip.MemPool{own, e.pool(0, 0)} {
			s := e.stream(0)
			a, b := e.fromPool(n, p, s), e.fromPool(4096, p, s)
			e.figure(p, hip.MemPoolAttrUsedMemCurrent, n+4096)
			e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
			e.figure(p, hip.MemPoolAttrUsedMemCurrent, 4096)
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, n+4096)
			if c := e.fromPool(n, p, s); c != a {
				e.Errorf("the stream gets %v and not %v, which it has freed", c, a)
			}
			e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
			e.is("freed again", e.FreeAsync(e.th, a, s), hip.ErrorInvalidValue)
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 4096) // beyond the threshold, nothing is kept
			e.figure(p, hip.MemPoolAttrReservedMemHigh, n+4096)
			e.figure(p, hip.MemPoolAttrUsedMemHigh, n+4096)
			e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrReleaseThreshold, ^uint64(0)))
			e.ok("FreeAsync", e.FreeAsync(e.th, b, s))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 4096)
			e.ok("MemPoolTrimTo", e.MemPoolTrimTo(p, 0))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 0)
			e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrReleaseThreshold, 0))
		}
	}},
	{"EventGivesBack", func(e *env) { // waiting for an event is waiting, too
		own, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		for _, p := range []hip.MemPool{own, e.pool(0, 0)} {
			s := e.stream(0)
			a := e.fromPool(1<<20, p, s)
			e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
			ev := e.event(0)
			e.ok("EventRecord", e.EventRecord(e.th, ev, s))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 1<<20)
			e.ok("EventSynchronize", e.EventSynchronize(e.th, ev))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 0)
		}
	}},
	{"EventGivesNoMoreBack", func(e *env) { // than what it was recorded behind, when it was recorded last
		own, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		for _, p := range []hip.MemPool{own, e.pool(0, 0)} {
			s, o := e.stream(nonBlocking), e.stream(nonBlocking)
			early, twice, launched := e.event(0), e.event(0), e.event(0)
			a, b := e.fromPool(1<<20, p, s), e.fromPool(1<<20, p, s)
			e.ok("FreeAsync", e.FreeAsync(e.th, b, s)) // so that an event is noted that is recorded now
			e.ok("EventRecord", e.EventRecord(e.th, early, s))
			g := e.gate(s)
			e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
			for _, ev := range []hip.Event{twice, launched} {
				e.ok("EventRecord", e.EventRecord(e.th, ev, s))
			}
			e.ok("EventRecord", e.EventRecord(e.th, twice, o))
			out := e.malloc(4 * 64)
			e.ok("LaunchKernel", e.LaunchKernel(e.th, &hip.Launch{Function: e.kernel("spin", "spin"), Grid: hip.Dim3{X: 1, Y: 1, Z: 1},
				Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: o, Args: pack(out, uint64(10), uint32(64)), Stop: launched}))
			for _, ev := range []hip.Event{early, twice, launched} {
				e.ok("EventSynchronize", e.EventSynchronize(e.th, ev))
				e.figure(p, hip.MemPoolAttrReservedMemCurrent, 1<<20)
			}
			g.open()
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.figure(p, hip.MemPoolAttrReservedMemCurrent, 0)
		}
	}},
	{"NotWhileInUse", func(e *env) { // what one stream may still use, another does not get
		p := e.pool(0, 0)
		s, o := e.stream(nonBlocking), e.stream(nonBlocking)
		flag := e.upload(u32s(0))
		a := e.fromPool(1<<20, p, s)
		e.launch(e.kernel("spin", "spin_until"), 1, 64, s, flag, a)
		e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
		b := e.fromPool(1<<20, p, o)
		if b == a {
			e.Error("memory that a kernel writes is given to another stream")
		}
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, flag, 77, 1, o))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if c := e.fromPool(1<<20, p, o); c != a && c != b {
			e.Logf("memory that nobody uses any more is at %v, another stream got %v", a, c)
		}
	}},
	{"FollowsEvents", func(e *env) {
		p := e.pool(0, 0)
		e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolReuseAllowOpportunistic, 0))
		s, o := e.stream(nonBlocking), e.stream(nonBlocking)
		flag := e.upload(u32s(0))
		early, late := e.event(0), e.event(0)
		a := e.fromPool(1<<20, p, s)
		e.ok("EventRecord", e.EventRecord(e.th, early, s))
		e.launch(e.kernel("spin", "spin_until"), 1, 64, s, flag, a)
		e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
		e.ok("StreamWaitEvent", e.StreamWaitEvent(e.th, o, early, 0))
		if b := e.fromPool(1<<20, p, o); b == a {
			e.Error("an event from before the free lets another stream have the memory")
		}
		e.ok("EventRecord", e.EventRecord(e.th, late, s))
		e.ok("StreamWaitEvent", e.StreamWaitEvent(e.th, o, late, 0))
		if b := e.fromPool(1<<20, p, o); b != a {
			e.Logf("the stream that waits for the free got %v and not %v", b, a)
		}
		e.write(flag, u32s(77))
		e.sync()
	}},
	{"MoreThanThereIs", func(e *env) { // one after the other, each freed before the next
		own, err := e.DeviceGetDefaultMemPool(0)
		e.ok("DeviceGetDefaultMemPool", err)
		free, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		for _, p := range []hip.MemPool{own, e.pool(0, 0)} {
			s := e.stream(nonBlocking)
			for range 12 {
				a := e.fromPool(free/4&^(1<<20-1), p, s)
				e.launch(e.kernel("spin", "spin"), 1, 64, s, a, uint64(50000), uint32(64))
				e.ok("FreeAsync", e.FreeAsync(e.th, a, s))
			}
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		}
	}},
	{"LivesWithoutItsPool", func(e *env) {
		p := e.pool(0, 0)
		a := e.fromPool(4096, p, 0)
		e.ok("MemPoolDestroy", e.MemPoolDestroy(e.th, p))
		_, err := e.MallocFromPoolAsync(e.th, 4096, p, 0)
		e.is("from a pool that is gone", err, hip.ErrorInvalidValue)
		e.write(a, u32s(1, 2, 3))
		e.equal("memory of a pool that is gone", e.download(a, 12), u32s(1, 2, 3))
		e.ok("FreeAsync", e.FreeAsync(e.th, a, 0))
		e.sync()
	}},
	{"Limit", func(e *env) {
		p, err := e.MemPoolCreate(e.th, &hip.MemPoolProps{
			AllocType: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}, MaxSize: 1 << 20,
		})
		e.ok("MemPoolCreate", err)
		e.fromPool(1<<19, p, 0)
		_, err = e.MallocFromPoolAsync(e.th, 1<<20, p, 0)
		e.is("beyond the limit", err, hip.ErrorOutOfMemory)
	}},
	{"LimitCountsTheMost", func(e *env) {
		p, err := e.MemPoolCreate(e.th, &hip.MemPoolProps{
			AllocType: hip.MemAllocationTypePinned, HandleTypes: 0x5ca1ab1e, // AMD's library judges them when a handle is asked for
			Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}, MaxSize: 1 << 20,
		})
		e.ok("MemPoolCreate", err)
		e.ok("FreeAsync", e.FreeAsync(e.th, e.fromPool(1<<20, p, 0), 0))
		e.sync()
		e.ok("MemPoolTrimTo", e.MemPoolTrimTo(p, 0))
		_, err = e.MallocFromPoolAsync(e.th, 1<<20, p, 0)
		e.is("after all was given back", err, hip.ErrorOutOfMemory)
		e.ok("MemPoolSetAttribute", e.MemPoolSetAttribute(e.th, p, hip.MemPoolAttrReservedMemHigh, 0))
		e.ok("FreeAsync", e.FreeAsync(e.th, e.fromPool(1<<20, p, 0), 0))
		_, err = e.MemPoolExportToShareableHandle(e.th, p, hip.MemAllocationHandleType(0x5ca1ab1e), 0)
		e.is("a handle of a type that is none", err, hip.ErrorInvalidValue)
	}},
}

func (e *env) prop(device int32, handles hip.MemAllocationHandleType) *hip.MemAllocationProp {
	return &hip.MemAllocationProp{
		Type: hip.MemAllocationTypePinned, RequestedHandleType: handles,
		Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device},
	}
}

// mapped maps an allocation at addresses of its own, for the first device.
func (e *env) mapped(h hip.GenericAllocation, size uint64) hip.Ptr {
	e.Helper()
	p, err := e.MemAddressReserve(e.th, size, 0, 0, 0)
	e.ok("MemAddressReserve", err)
	e.ok("MemMap", e.MemMap(e.th, p, size, 0, h, 0))
	e.access(p, size, 0, hip.MemAccessFlagsProtReadWrite)
	return p
}

func (e *env) access(p hip.Ptr, size uint64, device int32, f hip.MemAccessFlags) {
	e.Helper()
	e.ok("MemSetAccess", e.MemSetAccess(e.th, p, size, []hip.MemAccessDesc{{Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device}, Flags: f}}))
}

// whoCan is access to a device's memory for itself and the others that can have it; all says that these are all there are.
func (e *env) whoCan(device int32) (access []hip.MemAccessDesc, all bool) {
	e.Helper()
	n, err := e.GetDeviceCount()
	e.ok("GetDeviceCount", err)
	for d := range n {
		if can, err := e.DeviceCanAccessPeer(d, device); d == device || err == hip.Success && can != 0 {
			access = append(access, hip.MemAccessDesc{Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: d}, Flags: hip.MemAccessFlagsProtReadWrite})
		}
	}
	return access, len(access) == int(n)
}

// mapOf maps memory of a device at addresses of its own, for all that can access it.
func (e *env) mapOf(th hip.Thread, size uint64) (p hip.Ptr, unmap func() hip.Error) {
	e.Helper()
	prop := e.prop(th.Device, 0)
	unit, err := e.MemGetAllocationGranularity(th, prop, hip.MemAllocationGranularityMinimum)
	e.ok("MemGetAllocationGranularity", err)
	size = (size + unit - 1) / unit * unit
	h, err := e.MemCreate(th, size, prop, 0)
	e.ok("MemCreate", err)
	p, err = e.MemAddressReserve(th, size, 0, 0, 0)
	e.ok("MemAddressReserve", err)
	e.ok("MemMap", e.MemMap(th, p, size, 0, h, 0))
	e.ok("MemRelease", e.MemRelease(th, h)) // what is mapped keeps it
	access, _ := e.whoCan(th.Device)
	e.ok("MemSetAccess", e.MemSetAccess(th, p, size, access))
	return p, func() hip.Error { return max(e.MemUnmap(th, p, size), e.MemAddressFree(th, p, size)) }
}

// mappedOf is memory of mapOf until the test ends.
func (e *env) mappedOf(th hip.Thread, size uint64) hip.Ptr {
	e.Helper()
	p, unmap := e.mapOf(th, size)
	e.Cleanup(func() { e.ok("MemUnmap", unmap()) })
	return p
}

var virtualTests = []test{
	{"SameMemoryTwice", func(e *env) {
		const n = 4 << 20
		h, err := e.MemCreate(e.th, n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		a, b := e.mapped(h, n), e.mapped(h, n)
		e.ok("MemRelease", e.MemRelease(e.th, h))
		e.write(a+8, u32s(5, 6, 7))
		e.equal("the other mapping", e.download(b+8, 12), u32s(5, 6, 7))
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, b, uint64(0), uint32(9))
		e.sync()
		e.equal("what a kernel wrote", e.download(a, 4), u32s(9))
		if q, err := e.MemRetainAllocationHandle(e.th, a+100); err != hip.Success || q != h {
			e.Errorf("MemRetainAllocationHandle: %v, %v; want %v", q, err, h)
		}
		if p, err := e.MemGetAllocationPropertiesFromHandle(e.th, h); err != hip.Success || p.Location.Id != 0 {
			e.Errorf("properties: %+v, %v", p, err)
		}
		for _, p := range []hip.Ptr{a, b} {
			e.is("a part is unmapped", e.MemUnmap(e.th, p, n/2), hip.ErrorInvalidValue)
			e.ok("MemUnmap", e.MemUnmap(e.th, p, n))
			e.is("unmapped again", e.MemUnmap(e.th, p, n), hip.ErrorInvalidValue)
			e.ok("MemAddressFree", e.MemAddressFree(e.th, p, n))
		}
		e.is("released and not mapped", e.MemRelease(e.th, h), hip.ErrorInvalidValue)
	}},
	{"Access", func(e *env) {
		const n = 2 << 20
		h, err := e.MemCreate(e.th, 2*n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		p := e.mapped(h, n)
		b := u32s(1, 2, 3)
		e.write(p, b)
		e.access(p, n, 0, hip.MemAccessFlagsProtRead)
		e.is("Memcpy to memory that may be read", e.Memcpy(e.th, p, ptr(b), 12, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
		e.equal("memory that may be read", e.download(p, 12), b)
		loc := hip.MemLocation{Type: hip.MemLocationTypeDevice}
		if f, err := e.MemGetAccess(e.th, &loc, p+n-1); err != hip.Success || f != uint64(hip.MemAccessFlagsProtRead) {
			e.Errorf("MemGetAccess: %d, %v", f, err)
		}
		e.access(p, n, 0, hip.MemAccessFlagsProtNone)
		e.is("Memcpy from memory that may not", e.Memcpy(e.th, ptr(b), p, 12, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, p, uint64(0), uint32(9))
		e.is("a kernel writes there", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
	}},
	{"CopyToWhatIsGone", func(e *env) {
		const n = 2 << 20
		h, err := e.MemCreate(e.th, n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		p := e.mapped(h, n)
		e.ok("MemRelease", e.MemRelease(e.th, h))
		b := e.host(n)
		e.ok("Memcpy", e.Memcpy(e.th, p, ptr(b), 16, hip.MemcpyHostToDevice))
		gone := func(what string) {
			for _, m := range []uint64{16, n} { // a small copy may be sent without waiting for an answer
				e.is("Memcpy to "+what, e.Memcpy(e.th, p, ptr(b), m, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
				e.is("Memcpy to the middle of "+what, e.Memcpy(e.th, p+n/2, ptr(b), m/2, hip.MemcpyDefault), hip.ErrorInvalidValue)
				e.is("Memcpy from "+what, e.Memcpy(e.th, ptr(b), p, m, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
			}
			e.sync() // nothing is left of it
		}
		e.ok("MemUnmap", e.MemUnmap(e.th, p, n))
		gone("addresses without memory")
		e.ok("MemAddressFree", e.MemAddressFree(e.th, p, n))
		gone("addresses that were freed")
		q, o := e.malloc(4096), e.malloc(4096)
		e.is("Memcpy within the device to what is gone", e.Memcpy(e.th, p, q, 16, hip.MemcpyDeviceToDevice), hip.ErrorInvalidValue)
		e.ok("Memset", e.Memset(e.th, q, 7, 4096))
		e.ok("Memcpy", e.Memcpy(e.th, o, q, 4096, hip.MemcpyDeviceToDevice))
		e.equal("an ordinary copy", e.download(o, 16), bytes.Repeat([]byte{7}, 16))
	}},
	{"AccessByDevice", func(e *env) {
		if n, _ := e.GetDeviceCount(); n < 2 {
			return // one device
		}
		const n = 2 << 20
		h, err := e.MemCreate(e.th, n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		p := e.mapped(h, n)
		e.write(p, u32s(4))
		if !e.peers() { // such a device cannot be given access
			e.is("MemSetAccess for a device that is no peer",
				e.MemSetAccess(e.th, p, n, []hip.MemAccessDesc{{Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: 1}, Flags: hip.MemAccessFlagsProtRead}}),
				hip.ErrorInvalidDevice)
			e.equal("what is there", e.download(p, 4), u32s(4))
			return
		}
		other := *e
		other.th, other.mods = hip.Thread{Device: 1, ID: 2}, map[string]hip.Module{}
		e.access(p, n, 1, hip.MemAccessFlagsProtRead)
		out := other.malloc(4096)
		other.launch(other.kernel("fault", "load_at"), 1, 64, 0, p, uint64(0), out)
		other.sync()
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, p, uint64(0), uint32(9))
		e.sync()
		e.equal("what the first device wrote", e.download(p, 4), u32s(9))
		other.launch(other.kernel("fault", "store_at"), 1, 64, 0, p, uint64(0), uint32(10))
		e.is("the device that may read writes", other.DeviceSynchronize(other.th), hip.ErrorIllegalAddress)
	}},
	{"OfAnotherDevice", func(e *env) { // whose memory it is counts, not who reserved the addresses
		if n, _ := e.GetDeviceCount(); n < 2 || !e.peers() {
			return
		}
		const n = 4 << 20
		there := hip.Thread{Device: 1, ID: 2}
		reserve := func(th hip.Thread, device int32) hip.Ptr {
			h, err := e.MemCreate(th, n, e.prop(device, 0), 0)
			e.ok("MemCreate", err)
			p, err := e.MemAddressReserve(th, n, 0, 0, 0)
			e.ok("MemAddressReserve", err)
			e.ok("MemMap", e.MemMap(th, p, n, 0, h, 0))
			e.access(p, n, 0, hip.MemAccessFlagsProtReadWrite)
			e.access(p, n, 1, hip.MemAccessFlagsProtReadWrite)
			return p
		}
		a, b, c := reserve(there, 0), reserve(e.th, 0), reserve(e.th, 1)
		both, err := e.MemAddressReserve(e.th, 3*n, 0, 0, 0)
		e.ok("MemAddressReserve", err)
		for i, device := range []int32{0, 0, 1} {
			h, err := e.MemCreate(e.th, n, e.prop(device, 0), 0)
			e.ok("MemCreate", err)
			e.ok("MemMap", e.MemMap(e.th, both+hip.Ptr(i*n), n, 0, h, 0))
		}
		e.access(both, 3*n, 0, hip.MemAccessFlagsProtReadWrite)
		e.access(both, 3*n, 1, hip.MemAccessFlagsProtReadWrite)
		for p, want := range map[hip.Ptr]int32{a: 0, b: 0, c: 1, both: 0, both + n: 0, both + 2*n: 1} {
			for _, th := range []hip.Thread{e.th, there} {
				if x, err := e.PointerGetAttributes(th, p+100); err != hip.Success || x.Type != hip.MemoryTypeDevice || x.Device != want {
					e.Errorf("PointerGetAttributes of device %d's: %+v, %v", want, x, err)
				}
				if x, err := e.PointerGetAttribute(th, hip.DrvPointerAttributeDeviceOrdinal, p+100); err != hip.Success || x != uint64(want) {
					e.Errorf("PointerGetAttribute of device %d's: %d, %v", want, x, err)
				}
			}
		}
		e.onAnotherDevicesStream(a, b, n)
		e.onAnotherDevicesStream(both, both+n, n) // beside another device's
		// A copy from one device to another is waited for: what the other's null stream is told next is not behind it.
		want := bytes.Repeat([]byte{7}, n)
		e.ok("Memset", e.Memset(there, c, 0, n))
		e.ok("DeviceSynchronize", e.DeviceSynchronize(there))
		held := make(chan struct{})
		e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, hip.StreamNull, func() { <-held }))
		e.ok("MemsetAsync", e.MemsetAsync(e.th, b, 7, n, hip.StreamNull))
		time.AfterFunc(50*time.Millisecond, func() { close(held) })
		e.ok("Memcpy", e.Memcpy(e.th, c, b, n, hip.MemcpyDeviceToDevice))
		h := e.host(n)
		e.ok("Memcpy", e.Memcpy(there, ptr(h), c, n, hip.MemcpyDeviceToHost))
		e.equal("from the first device to the second", h, want)
	}},
	{"Mistakes", func(e *env) {
		const n = 2 << 20
		_, err := e.MemAddressReserve(e.th, n-1, 0, 0, 0)
		e.is("odd size", err, hip.ErrorOutOfMemory)
		_, err = e.MemAddressReserve(e.th, n, 3, 0, 0)
		e.is("odd alignment", err, hip.ErrorOutOfMemory)
		_, err = e.MemCreate(e.th, 0, e.prop(0, 0), 0)
		e.is("no size", err, hip.ErrorInvalidValue)
		_, err = e.MemCreate(e.th, n, e.prop(99, 0), 0)
		e.is("no device", err, hip.ErrorInvalidValue)
		_, err = e.MemCreate(e.th, 1<<50, e.prop(0, 0), 0)
		e.is("too much", err, hip.ErrorOutOfMemory)
		p, err := e.MemAddressReserve(e.th, n, 1<<25, 0, 0)
		e.ok("MemAddressReserve", err)
		if p%(1<<25) != 0 {
			e.Errorf("%v is not aligned", p)
		}
		b := u32s(1)
		e.is("Memcpy to nothing", e.Memcpy(e.th, p, ptr(b), 4, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
		e.is("MemSetAccess to nothing", e.MemSetAccess(e.th, p, n, []hip.MemAccessDesc{{Location: hip.MemLocation{Type: 1}, Flags: 3}}), hip.ErrorInvalidValue)
		e.is("MemSetAccess for no device", e.MemSetAccess(e.th, p, n, []hip.MemAccessDesc{{Location: hip.MemLocation{Type: 1, Id: 99}, Flags: 3}}), hip.ErrorInvalidValue)
		h, err := e.MemCreate(e.th, n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		e.is("MemMap beyond the allocation", e.MemMap(e.th, p, 2*n, 0, h, 0), hip.ErrorInvalidValue)
		e.ok("MemMap", e.MemMap(e.th, p, n, 0, h, 0))
		e.is("MemMap over a mapping", e.MemMap(e.th, p, n, 0, h, 0), hip.ErrorInvalidValue)
		e.is("Free", e.Free(e.th, p), hip.ErrorInvalidValue)
		_, err = e.MemExportToShareableHandle(e.th, h, hip.MemHandleTypePosixFileDescriptor, 0)
		e.is("export of what was not made for that", err, hip.ErrorInvalidValue)
	}},
	{"Counts", func(e *env) {
		const n = 64 << 20
		before, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		h, err := e.MemCreate(e.th, n, e.prop(0, 0), 0)
		e.ok("MemCreate", err)
		if free, _, _ := e.MemGetInfo(e.th); free+n > before {
			e.Errorf("%d bytes are free of %d, with %d allocated", free, before, n)
		}
		e.ok("MemRelease", e.MemRelease(e.th, h))
		if free, _, _ := e.MemGetInfo(e.th); free != before {
			e.Errorf("%d bytes are free, before it were %d", free, before)
		}
	}},
}

var ipcTests = []test{
	{"Memory", func(e *env) {
		o := e.another()
		p := e.malloc(10_000)
		e.write(p, bytes.Repeat([]byte{3}, 10_000))
		h, err := e.IpcGetMemHandle(e.th, p+4096)
		e.ok("IpcGetMemHandle", err)
		_, err = e.IpcOpenMemHandle(e.th, &h, 1)
		e.is("opened by its owner", err, hip.ErrorInvalidContext)
		_, err = o.IpcOpenMemHandle(o.th, &h, 0)
		e.is("no flag", err, hip.ErrorInvalidValue)
		q, err := o.IpcOpenMemHandle(o.th, &h, 1)
		e.ok("IpcOpenMemHandle", err)
		again, err := o.IpcOpenMemHandle(o.th, &h, 1)
		e.ok("IpcOpenMemHandle again", err)
		if q != again {
			e.Errorf("opened twice, at %v and %v", q, again)
		}
		o.equal("the memory", o.download(q, 100), bytes.Repeat([]byte{3}, 100))
		o.write(q+4, u32s(1, 2))
		e.equal("what the other wrote", e.download(p+4100, 8), u32s(1, 2))
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, p+4096, uint64(0), uint32(9))
		e.sync()
		o.equal("what a kernel wrote", o.download(q, 4), u32s(9))
		e.is("freed by the other", o.Free(o.th, q), hip.ErrorInvalidValue)
		e.is("closed by its owner", e.IpcCloseMemHandle(e.th, p), hip.ErrorInvalidValue)
		e.ok("Free", e.Free(e.th, p)) // the other still has it
		o.equal("freed memory", o.download(q, 4), u32s(9))
		_, err = o.IpcOpenMemHandle(o.th, &hip.IpcMemHandle{}, 1)
		e.is("no handle", err, hip.ErrorInvalidValue)
		h.Reserved[3] ^= 1
		_, err = o.IpcOpenMemHandle(o.th, &h, 1)
		e.is("a guess", err, hip.ErrorInvalidDevicePointer)
		e.ok("IpcCloseMemHandle", o.IpcCloseMemHandle(o.th, q))
		o.equal("closed once", o.download(q, 4), u32s(9))
		e.ok("IpcCloseMemHandle", o.IpcCloseMemHandle(o.th, q))
		e.is("closed too often", o.IpcCloseMemHandle(o.th, q), hip.ErrorInvalidValue)
		_, err = e.IpcGetMemHandle(e.th, p)
		e.is("IpcGetMemHandle of freed memory", err, hip.ErrorInvalidValue)
	}},
	{"WhileWritten", func(e *env) { // making memory shareable loses nothing
		p := e.malloc(1 << 20)
		s := e.stream(nonBlocking)
		for i := range 200 {
			e.ok("MemsetD32Async", e.MemsetD32Async(e.th, p+hip.Ptr(4096*i), int32(i+1), 1, s))
		}
		_, err := e.IpcGetMemHandle(e.th, p)
		e.ok("IpcGetMemHandle", err)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		for i := range 200 {
			e.equal("a page", e.download(p+hip.Ptr(4096*i), 4), u32s(uint32(i+1)))
		}
	}},
	{"Event", func(e *env) {
		const flags = 0x2 | 0x4 // no timing, interprocess
		o := e.another()
		v := e.event(flags)
		h, err := e.IpcGetEventHandle(e.th, v)
		e.ok("IpcGetEventHandle", err)
		_, err = e.IpcGetEventHandle(e.th, e.event(0x2))
		e.is("an event of this process alone", err, hip.ErrorInvalidConfiguration)
		_, err = e.IpcOpenEventHandle(e.th, &h)
		e.is("opened by its owner", err, hip.ErrorInvalidContext)
		_, err = o.IpcOpenEventHandle(o.th, &hip.IpcEventHandle{})
		e.is("no handle", err, hip.ErrorInvalidValue)
		w, err := o.IpcOpenEventHandle(o.th, &h)
		e.ok("IpcOpenEventHandle", err)
		e.is("not recorded", o.EventQuery(o.th, w), hip.Success)
		s := e.stream(nonBlocking)
		flag, out := e.upload(u32s(0)), e.malloc(256)
		e.launch(e.kernel("spin", "spin_until"), 1, 64, s, flag, out)
		e.ok("EventRecord", e.EventRecord(e.th, v, s))
		e.is("EventQuery of the other, who was told", o.EventQuery(o.th, w), hip.ErrorNotReady)
		e.is("EventQuery", e.EventQuery(e.th, v), hip.ErrorNotReady)
		so := o.stream(nonBlocking)
		a := o.upload(u32s(0))
		o.ok("StreamWaitEvent", o.StreamWaitEvent(o.th, so, w, 0))
		o.ok("MemsetD32Async", o.MemsetD32Async(o.th, a, 5, 1, so))
		time.Sleep(20 * time.Millisecond)
		o.is("StreamQuery", o.StreamQuery(o.th, so), hip.ErrorNotReady)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, flag, 77, 1, e.stream(nonBlocking)))
		o.ok("EventSynchronize", o.EventSynchronize(o.th, w))
		e.is("EventQuery", e.EventQuery(e.th, v), hip.Success)
		o.ok("StreamSynchronize", o.StreamSynchronize(o.th, so))
		o.equal("behind the event", o.download(a, 4), u32s(5))
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
		o.ok("EventDestroy", o.EventDestroy(o.th, w))
	}},
	{"Physical", func(e *env) {
		const n = 2 << 20
		o := e.another()
		h, err := e.MemCreate(e.th, n, e.prop(0, hip.MemHandleTypePosixFileDescriptor), 0)
		e.ok("MemCreate", err)
		p := e.mapped(h, n)
		token, err := e.MemExportToShareableHandle(e.th, h, hip.MemHandleTypePosixFileDescriptor, 0)
		e.ok("MemExportToShareableHandle", err)
		g, err := o.MemImportFromShareableHandle(o.th, &token, hip.MemHandleTypePosixFileDescriptor)
		e.ok("MemImportFromShareableHandle", err)
		q := o.mapped(g, n)
		o.write(q, u32s(11))
		e.equal("what the other wrote", e.download(p, 4), u32s(11))
		for i := range len(hip.ShareToken{}) {
			guess := token
			guess.Reserved[i] ^= 1 << (i % 8)
			_, err = o.MemImportFromShareableHandle(o.th, &guess, hip.MemHandleTypePosixFileDescriptor)
			e.is("a guess", err, hip.ErrorInvalidValue)
		}
	}},
	{"Pool", func(e *env) {
		o := e.another()
		p := e.pool(0, hip.MemHandleTypePosixFileDescriptor)
		a := e.fromPool(5000, p, 0)
		e.write(a, u32s(1, 2))
		token, err := e.MemPoolExportToShareableHandle(e.th, p, hip.MemHandleTypePosixFileDescriptor, 0)
		e.ok("MemPoolExportToShareableHandle", err)
		data, err := e.MemPoolExportPointer(e.th, a)
		e.ok("MemPoolExportPointer", err)
		r, err := o.MemPoolImportFromShareableHandle(o.th, &token, hip.MemHandleTypePosixFileDescriptor, 0)
		e.ok("MemPoolImportFromShareableHandle", err)
		b, err := o.MemPoolImportPointer(o.th, r, &data)
		e.ok("MemPoolImportPointer", err)
		o.equal("the memory", o.download(b, 8), u32s(1, 2))
		o.ok("FreeAsync", o.FreeAsync(o.th, b, 0))
		o.sync()
		e.equal("freed by the other", e.download(a, 8), u32s(1, 2))
		_, err = e.MemPoolExportToShareableHandle(e.th, e.pool(0, 0), hip.MemHandleTypePosixFileDescriptor, 0)
		e.is("a pool that was not made for that", err, hip.ErrorInvalidValue)
	}},
}
