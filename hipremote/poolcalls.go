package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// The devices' own pools are the client's where it places memory; all others are the worker's.

// streamOf is a stream as the order of memory knows it: null streams are told apart by their devices.
type streamOf struct {
	stream hip.Stream
	device int32 // of a null stream
}

func orderOf(t hip.Thread, st hip.Stream) streamOf {
	if st <= hip.StreamLegacy {
		return streamOf{device: t.Device}
	}
	return streamOf{stream: st}
}

// orderStream checks a stream in whose order memory is to be allocated or freed, and tells its device.
func (c *Client) orderStream(t hip.Thread, st hip.Stream) (int32, hip.Error) {
	if st <= hip.StreamLegacy {
		return t.Device, hip.Success
	}
	if c.handles.stream(st) != hip.Success {
		return 0, hip.ErrorInvalidHandle
	}
	return c.handles.Device(hip.HandleStream, uint64(st), t.Device), hip.Success
}

// ownPool is the device whose own pool h is, if the client keeps that.
func (c *Client) ownPool(h hip.MemPool) (int32, bool) {
	if _, code := c.ready(); code != hip.Success || c.mem.span.Load() == nil {
		return 0, false
	}
	n, code := c.GetDeviceCount()
	if code != hip.Success {
		return 0, false
	}
	for d := range min(n, maxDevices) {
		if p, code := c.DeviceGetDefaultMemPool(d); code == hip.Success && p == h {
			return d, true
		}
	}
	return 0, false
}

// MemPoolGetAttribute is hipMemPoolGetAttribute.
func (c *Client) MemPoolGetAttribute(t hip.Thread, pool hip.MemPool, attr hip.MemPoolAttr) (uint64, hip.Error) {
	if d, ok := c.ownPool(pool); ok {
		c.mem.mu.RLock()
		defer c.mem.mu.RUnlock()
		return c.mem.pools[d].attribute(attr)
	}
	return c.memPoolGetAttribute(t, pool, attr)
}

// MemPoolSetAttribute is hipMemPoolSetAttribute.
func (c *Client) MemPoolSetAttribute(t hip.Thread, pool hip.MemPool, attr hip.MemPoolAttr, value uint64) hip.Error {
	if d, ok := c.ownPool(pool); ok {
		c.mem.mu.Lock()
		defer c.mem.mu.Unlock()
		return c.mem.pools[d].set(attr, value)
	}
	return c.memPoolSetAttribute(t, pool, attr, value)
}

// MemPoolTrimTo is hipMemPoolTrimTo.
func (c *Client) MemPoolTrimTo(pool hip.MemPool, keep uint64) hip.Error {
	if d, ok := c.ownPool(pool); ok {
		c.trim(d, keep)
		return hip.Success
	}
	return c.memPoolTrimTo(pool, keep)
}

// trim gives idle memory of a device's own pool back to it.
func (c *Client) trim(device int32, keep uint64) {
	c.mem.mu.Lock()
	out := c.mem.pools[device].shrink(keep)
	c.mem.mu.Unlock()
	c.release(out)
}

// release gives blocks back that nothing uses any more.
func (c *Client) release(out []*block) {
	l := c.link.Load()
	for _, b := range out {
		_ = c.freeBlock(nil, l, b, false) // a lost connection has freed it
	}
}

// MallocFromPoolAsync is hipMallocFromPoolAsync.
func (c *Client) MallocFromPoolAsync(t hip.Thread, size uint64, pool hip.MemPool, st hip.Stream) (hip.Ptr, hip.Error) {
	if d, ok := c.ownPool(pool); ok {
		ct := c.begin()
		p, code := c.mallocAsync(&ct, t, size, st, d)
		c.end(&ct, hip.OpMallocFromPoolAsync, code)
		return p, code
	}
	p, code := c.mallocFromPoolAsync(t, size, pool, st)
	if code == hip.Success && p != 0 && size != 0 {
		code = c.placedThere(pool, p, size)
	}
	return p, code
}

// MemPoolCreate is hipMemPoolCreate.
func (c *Client) MemPoolCreate(t hip.Thread, props *hip.MemPoolProps) (hip.MemPool, hip.Error) {
	if props == nil {
		return 0, hip.ErrorInvalidValue
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.MemPoolCreateRequest{Thread: t, PoolProps: *props}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpMemPoolCreate, m); code != hip.Success {
		return 0, code
	}
	var rep hiprpc.MemPoolCreateReply
	if !rep.Decode(m.Rep) {
		return 0, c.violation(hip.OpMemPoolCreate)
	}
	c.handles.Add(hip.HandleMemPool, uint64(rep.MemPool), props.Location.Id) // and not the thread's device
	return rep.MemPool, hip.Success
}

// placedThere notes memory at an address of the worker's choice.
func (c *Client) placedThere(pool hip.MemPool, p hip.Ptr, size uint64) hip.Error {
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	if c.mem.blocks.overlaps(uint64(p), size) {
		return c.violation(hip.OpMallocFromPoolAsync)
	}
	c.mem.blocks.insert(&block{base: uint64(p), want: size, device: c.handles.Device(hip.HandleMemPool, uint64(pool), 0)})
	return hip.Success
}
