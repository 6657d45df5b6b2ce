package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/advice"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/pagewatch"
)

// hostRegion is host memory that kernels may use: of hipHostMalloc, hipMallocManaged or hipHostRegister.
type hostRegion struct {
	host       uint64  // where it is in this process
	dev        hip.Ptr // its device address; 0 if there is no agreed range
	size       uint64  // bytes
	device     int32
	flags      uint32
	managed    bool
	registered bool  // the program's own memory
	own        *byte // host, of registered memory: a Go program's collector must not give away what is still written to
	mapped     bool  // at host, to be unmapped: there is no agreed range
	claimed    bool  // dev is host, outside of the agreed range
	signal     bool  // of hipExtMallocWithFlags: hipFree ends it

	advice  advice.Memory // of memory that takes some
	syncs   atomic.Bool   // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
	id      uint32        // as a block's; memory.mu
	adopted bool          // memory and addresses are another client's

	exposed atomic.Bool // the worker holds a copy
	mu      sync.Mutex  // of what follows; one transfer at a time
	twin    []byte      // what the worker has, as far as both know
	watch   *pagewatch.Watch
	pulled  uint64 // work count up to which its device side has been fetched
}

// said is what HIP tells of the flags: those of managed memory nobody is told.
func (r *hostRegion) said() uint32 {
	if r.managed {
		return 0
	}
	return r.flags
}

// advised says that advice is taken: of managed memory, and of the program's own once it is registered. Pinned memory is the driver's.
func (r *hostRegion) advised() bool { return r != nil && (r.managed || r.registered) }

// hostMemory finds regions quickly: most programs have none, or none that a kernel uses.
type hostMemory struct {
	mu      sync.Mutex
	regions []*hostRegion
	hidden  atomic.Int32 // not exposed
	open    atomic.Int32 // exposed
	changes atomic.Uint64
	spans   atomic.Pointer[hiddenSpans] // as after some of the changes
}

// changed is called after a region has come, gone, been exposed or hidden.
func (h *hostMemory) changed() { h.changes.Add(1) }

func (h *hostMemory) add(r *hostRegion) {
	h.mu.Lock()
	h.regions = append(h.regions, r)
	h.hidden.Add(1)
	h.changed()
	h.mu.Unlock()
}

func (h *hostMemory) remove(r *hostRegion) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, x := range h.regions {
		if x == r {
			h.regions = append(h.regions[:i:i], h.regions[i+1:]...)
			if r.exposed.Load() {
				h.open.Add(-1)
			} else {
				h.hidden.Add(-1)
			}
			h.changed()
			return
		}
	}
}

// list is a copy of all regions.
func (h *hostMemory) list() []*hostRegion {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*hostRegion(nil), h.regions...)
}

// forget notes that the worker holds no copies on a device any more.
func (h *hostMemory) forget(device int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.regions {
		if r.device != device {
			continue
		}
		r.mu.Lock()
		if r.exposed.Swap(false) {
			r.blind()
			h.open.Add(-1)
			h.hidden.Add(1)
			h.changed()
		}
		r.mu.Unlock()
	}
}

// HostMalloc is hipHostMalloc. The memory has the same address here and on the device.
func (c *Client) HostMalloc(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	if flags&(hip.HostMallocCoherent|hip.HostMallocNonCoherent) == hip.HostMallocCoherent|hip.HostMallocNonCoherent {
		return 0, hip.ErrorInvalidValue
	}
	return c.timed(hip.OpHostMalloc, func() (hip.Ptr, hip.Error) {
		return c.mallocHost(t, size, &hostRegion{flags: flags})
	})
}

// MallocManaged is hipMallocManaged.
func (c *Client) MallocManaged(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	if size == 0 || flags != hip.MemAttachGlobal && flags != hip.MemAttachHost {
		return 0, hip.ErrorInvalidValue
	}
	return c.timed(hip.OpMallocManaged, func() (hip.Ptr, hip.Error) {
		return c.mallocHost(t, size, &hostRegion{flags: flags, managed: true})
	})
}

// mallocHost makes memory for a region of a kind.
func (c *Client) mallocHost(t hip.Thread, size uint64, r *hostRegion) (hip.Ptr, hip.Error) {
	l, code := c.ready()
	if code == hip.Success {
		code = c.async.sticky(t.Device)
	}
	if code != hip.Success || size == 0 {
		return 0, code
	}
	if size > 1<<46 {
		return 0, hip.ErrorOutOfMemory
	}
	r.size, r.device = size, t.Device
	rounded := roundUp(size)
	m := &c.mem
	if m.span.Load() != nil {
		base, ok := m.takeHost(rounded)
		if !ok {
			return 0, hip.ErrorOutOfMemory
		}
		if commit(base, rounded) != nil {
			m.putHost(base, rounded)
			return 0, hip.ErrorOutOfMemory
		}
		r.host, r.dev = base, hip.Ptr(base)
	} else {
		base, err := mapApart(rounded)
		if err != nil {
			return 0, hip.ErrorOutOfMemory
		}
		r.host, r.mapped = base, true
		if code := c.claim(l, r); code != hip.Success && (r.managed || code != hip.ErrorMapFailed) { // kernels must find managed memory at its own address
			unmap(base, rounded)
			if code == hip.ErrorMapFailed {
				code = hip.ErrorNotSupported
			}
			return 0, code
		}
	}
	b := &block{base: r.host, size: rounded, want: size, device: t.Device, host: r}
	m.mu.Lock()
	m.blocks.insert(b)
	m.mu.Unlock()
	c.host.add(r)
	if r.managed || c.cfg.Eager && r.dev != 0 {
		if code := c.expose(l, r); code != hip.Success {
			_ = c.freeHost(l, t, b)
			return 0, code
		}
	}
	return hip.Ptr(r.host), hip.Success
}

// HostFree is hipHostFree.
func (c *Client) HostFree(t hip.Thread, p hip.Ptr) hip.Error {
	_, code := c.timed(hip.OpHostFree, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code != hip.Success || p == 0 {
			return 0, code
		}
		b := c.mem.find(p)
		if b == nil || b.host == nil || b.host.registered || b.base != uint64(p) {
			return 0, hip.ErrorInvalidValue
		}
		return 0, c.freeHost(l, t, b)
	})
	return code
}

// freeHost gives a region back once nothing on the device can use it.
func (c *Client) freeHost(l *link, t hip.Thread, b *block) hip.Error {
	r := b.host
	if c.work.busy() { // a copy may still be on its way into it
		if code := c.idle(t); code != hip.Success && !hiprpc.Sticky(code) {
			return code
		}
	}
	m := &c.mem
	m.mu.Lock()
	if m.blocks.find(b.base) != b {
		m.mu.Unlock()
		return hip.ErrorInvalidValue // another thread was first
	}
	m.remove(b)
	if r.mirrored() {
		m.remove(m.blocks.find(uint64(r.dev))) // there as long as the region is
	}
	m.mu.Unlock()
	code := c.hide(l, r)
	c.host.remove(r)
	l.Reclaim(hostBytes(r.host, r.size)) // nobody waits for a copy whose connection has failed
	switch {
	case r.registered, r.adopted:
		r.own = nil
	case r.mapped:
		unmap(r.host, b.size)
	default:
		decommit(r.host, b.size)
	}
	if r.dev != 0 && !r.adopted && !r.claimed {
		m.putHost(uint64(r.dev), roundUp(r.size))
	}
	return code
}

// insertHost makes a region known under its addresses. Called with mu.
func (m *memory) insertHost(r *hostRegion) {
	m.blocks.insert(&block{base: r.host, size: roundUp(r.size), want: r.size, device: r.device, host: r})
	if r.mirrored() {
		m.blocks.insert(&block{base: uint64(r.dev), size: roundUp(r.size), want: r.size, device: r.device, host: r, mirror: true})
	}
}

// idle waits for every device: host memory is all devices'.
func (c *Client) idle(t hip.Thread) hip.Error {
	n, code := c.GetDeviceCount()
	for d := range n {
		if e := c.DeviceSynchronize(hip.Thread{Device: d, ID: t.ID}); code == hip.Success {
			code = e // a device that has failed does not keep the others from being waited for
		}
	}
	return code
}

// HostGetDevicePointer is hipHostGetDevicePointer. Who asks means to give the address to a kernel.
func (c *Client) HostGetDevicePointer(t hip.Thread, p hip.Ptr, flags uint32) (hip.Ptr, hip.Error) {
	return c.timed(hip.OpHostGetDevicePointer, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code != hip.Success {
			return 0, code
		}
		b := c.mem.find(p)
		if flags != 0 || b == nil || b.host == nil {
			return 0, hip.ErrorInvalidValue
		}
		if b.host.dev == 0 {
			return 0, hip.ErrorNotSupported
		}
		if code := c.expose(l, b.host); code != hip.Success {
			return 0, code
		}
		return b.host.dev + (p - hip.Ptr(b.base)), hip.Success
	})
}

// HostGetFlags is hipHostGetFlags.
func (c *Client) HostGetFlags(_ hip.Thread, p hip.Ptr) (uint32, hip.Error) {
	b := c.mem.find(p)
	if b == nil || b.host == nil || b.host.registered && !b.host.managed { // HIP has not allocated it
		return 0, hip.ErrorInvalidValue
	}
	return b.host.said(), hip.Success
}

// PointerGetAttributes is hipPointerGetAttributes.
func (c *Client) PointerGetAttributes(t hip.Thread, p hip.Ptr) (hip.PointerAttributes, hip.Error) {
	if _, code := c.ready(); code != hip.Success {
		return hip.PointerAttributes{}, code
	}
	none := hip.PointerAttributes{Type: hip.MemoryTypeUnregistered, Device: -2}
	if p == 0 {
		return none, hip.ErrorInvalidValue
	}
	b := c.mem.find(p)
	if b == nil {
		if !c.mem.inRange(p) && !c.mem.isReserved(p) || c.placed(p) {
			return none, hip.Success
		}
		if _, _, code := c.MemGetAddressRange(t, p); code != hip.Success { // a global, say
			return none, hip.Success
		}
		a := hip.PointerAttributes{Type: hip.MemoryTypeDevice, Device: t.Device, DevicePointer: p}
		if !c.onlyDevice() {
			if on := c.deviceAt(t, p); on >= 0 {
				a.Device = on
			}
		}
		return a, hip.Success
	}
	a := hip.PointerAttributes{Type: hip.MemoryTypeDevice, Device: b.device, DevicePointer: p, AllocationFlags: b.flags}
	if r := b.host; r != nil {
		a.Type, a.HostPointer, a.AllocationFlags = hip.MemoryTypeHost, p+hip.Ptr(r.host-b.base), r.said()
		if r.dev != 0 {
			a.DevicePointer = r.dev + (p - hip.Ptr(b.base))
		} else {
			a.DevicePointer = 0
		}
		if r.managed {
			a.Type, a.IsManaged = hip.MemoryTypeManaged, 1
		}
	}
	return a, hip.Success
}
