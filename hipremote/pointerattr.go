package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// PointerGetAttribute is hipPointerGetAttribute. What this side has made it knows; other device addresses are the worker's.
func (c *Client) PointerGetAttribute(t hip.Thread, attribute hip.PointerAttribute, p hip.Ptr) (uint64, hip.Error) {
	ct := c.begin()
	v, code := c.pointerAttribute(&ct, t, attribute, p)
	c.end(&ct, hip.OpPointerGetAttribute, code)
	return v, code
}

func (c *Client) pointerAttribute(ct *callTime, t hip.Thread, attribute hip.PointerAttribute, p hip.Ptr) (uint64, hip.Error) {
	l, code := c.ready()
	if code != hip.Success {
		return 0, code
	}
	if p == 0 {
		return 0, hip.ErrorInvalidValue
	}
	if code := hip.PointerAttributeKnown(attribute); code != hip.Success {
		return 0, code
	}
	b := c.mem.find(p)
	switch {
	case b == nil && (c.mem.inRange(p) || c.mem.isReserved(p)) && !c.placed(p), b != nil && b.host == nil && !c.ours(b) && attribute == hip.DrvPointerAttributeSyncMemops:
		q := hiprpc.PointerGetAttributeRequest{Thread: t, Attribute: attribute, Ptr: p}
		return c.callU64(ct, l, hip.OpPointerGetAttribute, q.Append(nil))
	case b == nil && attribute == hip.DrvPointerAttributeAccessFlags:
		return 0, hip.Success
	case b == nil:
		return 0, hip.ErrorInvalidValue
	}
	return c.attributeOf(b, attribute, p)
}

// attributeOf is an attribute of a block, at an address in it.
func (c *Client) attributeOf(b *block, attribute hip.PointerAttribute, p hip.Ptr) (uint64, hip.Error) {
	r := b.host
	host := func(yes, no uint64) uint64 {
		if r != nil {
			return yes
		}
		return no
	}
	offset := uint64(p) - b.base
	switch attribute {
	case hip.DrvPointerAttributeMemoryType:
		return host(uint64(hip.MemoryTypeHost), uint64(hip.MemoryTypeDevice)), hip.Success
	case hip.DrvPointerAttributeDevicePointer:
		switch {
		case r == nil:
			return uint64(p), hip.Success
		case r.dev == 0:
			return 0, hip.ErrorInvalidValue
		}
		return uint64(r.dev) + offset, hip.Success
	case hip.DrvPointerAttributeHostPointer:
		if r == nil {
			return 0, hip.ErrorInvalidValue
		}
		return r.host + offset, hip.Success
	case hip.DrvPointerAttributeBufferId:
		c.mem.mu.Lock()
		defer c.mem.mu.Unlock()
		id := &b.id
		if r != nil {
			id = &r.id // registered memory has two blocks
		}
		if *id == 0 {
			c.mem.lastID++
			*id = c.mem.lastID
		}
		return uint64(*id), hip.Success
	case hip.DrvPointerAttributeDeviceOrdinal:
		return uint64(uint32(b.device)), hip.Success
	case hip.DrvPointerAttributeRangeStartAddr:
		if r != nil {
			return r.host, hip.Success
		}
		return b.base, hip.Success
	case hip.DrvPointerAttributeRangeSize:
		return b.want, hip.Success
	case hip.DrvPointerAttributeMapped:
		return 1, hip.Success
	case hip.DrvPointerAttributeAccessFlags:
		if r != nil {
			return uint64(r.said()), hip.Success
		}
		return uint64(b.flags), hip.Success
	}
	yes := r != nil && r.managed // DrvPointerAttributeIsManaged
	switch {
	case attribute != hip.DrvPointerAttributeSyncMemops:
	case r != nil:
		yes = r.syncs.Load()
	default:
		c.mem.mu.RLock()
		yes = b.syncs
		c.mem.mu.RUnlock()
	}
	if yes {
		return 1, hip.Success
	}
	return 0, hip.Success
}

// PointerSetAttribute is hipPointerSetAttribute.
func (c *Client) PointerSetAttribute(t hip.Thread, value uint64, attribute hip.PointerAttribute, p hip.Ptr) hip.Error {
	ct := c.begin()
	code := c.setPointerAttribute(&ct, t, value, attribute, p)
	c.end(&ct, hip.OpPointerSetAttribute, code)
	return code
}

func (c *Client) setPointerAttribute(ct *callTime, t hip.Thread, value uint64, attribute hip.PointerAttribute, p hip.Ptr) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	if p == 0 || attribute != hip.DrvPointerAttributeSyncMemops || value > 1 {
		return hip.ErrorInvalidValue
	}
	b := c.mem.find(p)
	switch {
	case b == nil && (!c.mem.inRange(p) || c.placed(p)):
		return hip.ErrorInvalidDevicePointer
	case b != nil && b.host != nil:
		b.host.syncs.Store(value == 1)
		return hip.Success
	}
	if b == nil || !c.ours(b) {
		q := hiprpc.PointerSetAttributeRequest{Thread: t, Value: value, Attribute: attribute, Ptr: p}
		code = c.plainCall(ct, l, hip.OpPointerSetAttribute, q.Append(nil))
	}
	if code == hip.Success && b != nil {
		c.mem.mu.Lock()
		b.syncs = value == 1
		c.mem.mu.Unlock()
		c.mem.syncs.Store(true)
	}
	return code
}

// copiesWait says that copies between two addresses on the device wait.
func (c *Client) copiesWait(dst, src hip.Ptr) bool {
	if !c.mem.syncs.Load() {
		return false
	}
	c.mem.mu.RLock()
	defer c.mem.mu.RUnlock()
	d, s := c.mem.blocks.find(uint64(dst)), c.mem.blocks.find(uint64(src))
	return d != nil && s != nil && d.syncs && s.syncs
}

// ExtMallocWithFlags is hipExtMallocWithFlags. Signal memory is memory of this process, as everything is that its host threads may touch.
func (c *Client) ExtMallocWithFlags(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	switch flags {
	case hip.DeviceMallocDefault, hip.DeviceMallocFinegrained, hip.DeviceMallocUncached, hip.DeviceMallocContiguous:
	case hip.MallocSignalMemory:
		if size != 8 {
			return 0, hip.ErrorInvalidValue
		}
		return c.timed(hip.OpExtMallocWithFlags, func() (hip.Ptr, hip.Error) {
			return c.mallocHost(t, size, &hostRegion{flags: flags, signal: true})
		})
	default:
		return 0, hip.ErrorInvalidValue
	}
	ct := c.begin()
	p, code := c.mallocFlags(&ct, t, size, flags)
	c.end(&ct, hip.OpExtMallocWithFlags, code)
	return p, code
}

// mallocFlags allocates device memory whose kind the worker is told, where it is the worker that allocates.
func (c *Client) mallocFlags(ct *callTime, t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	l, code := c.ready()
	if code != hip.Success || size == 0 {
		return 0, code
	}
	if c.mem.span.Load() != nil {
		p, code := c.malloc(ct, t, size)
		if code == hip.Success {
			c.mem.mu.Lock()
			c.mem.blocks.find(uint64(p)).flags = flags
			c.mem.mu.Unlock()
		}
		return p, code
	}
	q := hiprpc.ExtMallocWithFlagsRequest{Thread: t, SizeBytes: size, Flags: flags}
	p, code := c.callU64(ct, l, hip.OpExtMallocWithFlags, q.Append(nil))
	if code != hip.Success {
		return 0, code
	}
	c.mem.mu.Lock()
	c.mem.blocks.insert(&block{base: p, want: size, device: t.Device, flags: flags})
	c.mem.mu.Unlock()
	return hip.Ptr(p), hip.Success
}
