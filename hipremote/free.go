package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// timed records how long an operation of several messages took.
func (c *Client) timed(op uint16, f func() (hip.Ptr, hip.Error)) (hip.Ptr, hip.Error) {
	ct := c.begin()
	p, code := f()
	c.end(&ct, op, code)
	return p, code
}

// Free is hipFree, of memory of hipHostMalloc too as in AMD's library. It waits until the device has nothing to do; if the client knows that already, the message is posted.
func (c *Client) Free(t hip.Thread, p hip.Ptr) hip.Error {
	ct := c.begin()
	code := c.free(&ct, t, p)
	c.end(&ct, hip.OpFree, code)
	return code
}

func (c *Client) free(ct *callTime, t hip.Thread, p hip.Ptr) hip.Error {
	l, code := c.ready()
	if code != hip.Success || p == 0 {
		return code
	}
	if b := c.mem.find(p); b != nil && c.behindFuncs(hip.StreamNull) { // they may look for it
		if code := c.DeviceSynchronize(hip.Thread{Device: b.device, ID: t.ID}); code != hip.Success {
			return code
		}
	}
	c.mem.mu.Lock()
	b := c.mem.blocks.find(uint64(p))
	if b == nil || b.module != 0 || b.base != uint64(p) || b.host != nil && b.host.registered || b.opened > 0 {
		c.mem.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	if b.host == nil {
		c.mem.remove(b) // nobody else can free it now
	}
	shared := b.shared // who hears of this from the program must not get it any more
	c.mem.mu.Unlock()
	if b.host != nil {
		return c.freeHost(l, t, b)
	}
	if code := c.async.take(b.device); code != hip.Success {
		c.mem.mu.Lock()
		c.mem.blocks.insert(b)
		c.mem.mu.Unlock()
		return code
	}
	if b.pooled {
		c.mem.mu.Lock()
		c.mem.pools[b.device].gone(b)
		c.mem.mu.Unlock()
	}
	return c.freeBlock(ct, l, b, shared && b.arena == nil || c.work.busy())
}

// freeBlock gives a block's memory back and, when nothing can use it any more, its addresses.
func (c *Client) freeBlock(ct *callTime, l *link, b *block, wait bool) hip.Error {
	if b.arena != nil {
		return c.freeInArena(ct, l, b, wait)
	}
	b.far()
	req := hiprpc.StreamOp{Device: b.device, Ptr: hip.Ptr(b.base)}.Append(make([]byte, 0, 32))
	code := hip.Success
	if wait {
		m := wire.GetMsg()
		m.Req = append(m.Req[:0], req...)
		at := c.before(b.device)
		err := ct.call(l, hip.OpFree, m)
		code = hip.Error(m.Code)
		x := ended{device: b.device, at: at, work: idleUpTo(m.Rep, at)}
		wire.PutMsg(m)
		if err != nil {
			return c.broken(l, err)
		}
		if !code.Valid() {
			code = hip.ErrorUnknown
		}
		if code == hip.Success {
			code = c.deviceIdle(ct, l, x)
		}
	} else if err := ct.post(l, hip.OpFree, req, nil); err != nil {
		return c.broken(l, err)
	}
	if b.size != 0 && code == hip.Success { // what was placed on credit is credit again
		c.mem.put(b.base, b.size)
		if c.mem.unit == 0 {
			c.giveCredit(ct, l, b.device, b.size)
		}
	}
	return code
}

// MallocAsync is hipMallocAsync, from the own pool of the stream's device. Memory that the stream has freed before is used again at once; other
// memory is there at once, which is earlier than the stream needs it.
func (c *Client) MallocAsync(t hip.Thread, size uint64, st hip.Stream) (hip.Ptr, hip.Error) {
	ct := c.begin()
	p, code := c.mallocAsync(&ct, t, size, st, -1)
	c.end(&ct, hip.OpMallocAsync, code)
	return p, code
}

// mallocAsync allocates from the own pool of a device, -1 for the stream's.
func (c *Client) mallocAsync(ct *callTime, t hip.Thread, size uint64, st hip.Stream, from int32) (hip.Ptr, hip.Error) {
	l, code := c.ready()
	if code != hip.Success {
		return 0, code
	}
	device, code := c.orderStream(t, st)
	if code != hip.Success || size == 0 {
		return 0, code
	}
	if from >= 0 {
		device = from
	}
	if c.mem.span.Load() == nil || uint32(device) >= maxDevices {
		var e wire.Enc
		e.I32(t.Device)
		e.U64(size)
		e.U64(uint64(st))
		p, code := c.callU64(ct, l, hip.OpMallocAsync, e.B)
		if code == hip.Success {
			c.mem.mu.Lock()
			c.mem.blocks.insert(&block{base: p, want: size, device: device})
			c.mem.mu.Unlock()
		}
		return hip.Ptr(p), code
	}
	if code := c.async.sticky(device); code != hip.Success {
		return 0, code
	}
	if size > 1<<46 {
		return 0, hip.ErrorOutOfMemory
	}
	m := &c.mem
	m.mu.Lock()
	b := m.pools[device].again(size, orderOf(t, st))
	if b != nil {
		b.id = 0 // still shared, if it was: others may have it open
		m.blocks.insert(b)
	}
	m.mu.Unlock()
	if b == nil {
		if b, code = c.placeBlock(ct, l, device, size); code != hip.Success {
			return 0, code
		}
		m.mu.Lock()
		m.pools[device].made(b)
		m.blocks.insert(b)
		m.mu.Unlock()
	}
	return hip.Ptr(b.base), hip.Success
}

// FreeAsync is hipFreeAsync. The memory is kept for the stream, and goes back to the device when the stream, or the device, is next known to be done
// with it.
func (c *Client) FreeAsync(t hip.Thread, p hip.Ptr, st hip.Stream) hip.Error {
	ct := c.begin()
	code := c.freeAsync(&ct, t, p, st, c.inTurns.Load() > 0 && c.behindFuncs(st))
	c.end(&ct, hip.OpFreeAsync, code)
	return code
}

// freeAsync frees in the stream's turn: where functions of InTurn, which look for the memory, may be before it, it does so behind them.
func (c *Client) freeAsync(ct *callTime, t hip.Thread, p hip.Ptr, st hip.Stream, behind bool) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	if p == 0 {
		return hip.ErrorInvalidValue
	}
	if _, code = c.orderStream(t, st); code != hip.Success {
		return code
	}
	m := &c.mem
	m.mu.Lock()
	b := m.blocks.find(uint64(p))
	if b == nil || b.module != 0 || b.base != uint64(p) || b.host != nil || b.opened > 0 {
		m.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	if behind {
		m.mu.Unlock()
		device := b.device
		return c.inTurn(ct, t, st, func() hip.Error {
			code := c.freeAsync(nil, t, p, st, false)
			if code == hip.ErrorInvalidHandle { // the stream is gone by now, after all that it had
				code = c.freeAsync(nil, hip.Thread{Device: device, ID: t.ID}, p, hip.StreamNull, false)
			}
			return code
		})
	}
	m.remove(b)
	if b.size != 0 {
		b.stream, b.freed = orderOf(t, st), m.freedLast.Add(1)
		m.pools[b.device].hold(b)
		m.mu.Unlock()
		return hip.Success
	}
	m.mu.Unlock()
	return c.send(ct, l, hip.OpFreeAsync, hiprpc.StreamOp{Device: t.Device, Ptr: p, Stream: st}.Append(nil), nil)
}

// settle is told that what hipFreeAsync had freed before a moment is done with: on one stream, or on a whole device that has come to an end. What
// another thread has freed since may still be in use.
func (c *Client) settle(device int32, st hip.Stream, all bool, at moment) {
	if c.mem.freedLast.Load() == 0 {
		return
	}
	order := orderOf(hip.Thread{Device: device}, st)
	m := &c.mem
	m.mu.Lock()
	var out []*block
	for d := range m.pools {
		if o := &m.pools[d]; len(o.held)+len(o.idle) > 0 {
			out = append(out, o.settle(at, func(b *block) bool {
				return !all && b.stream == order || all && (b.stream == streamOf{device: device} || b.stream.stream != 0 && c.streamOn(b.stream.stream, device))
			})...)
		}
	}
	m.mu.Unlock()
	c.release(out)
}

// streamOn says whether a stream is a device's.
func (c *Client) streamOn(st hip.Stream, device int32) bool {
	return c.handles.Device(hip.HandleStream, uint64(st), -1) == device
}

// reclaim waits for the device and gives back what is kept of its pool; false if there is nothing.
func (c *Client) reclaim(device int32) bool {
	m := &c.mem
	m.mu.RLock()
	n := len(m.pools[device].held) + len(m.pools[device].idle)
	m.mu.RUnlock()
	if n == 0 || c.DeviceSynchronize(hip.Thread{Device: device}) != hip.Success {
		return false
	}
	c.trim(device, 0)
	return true
}

// lastOf is told that a stream is about to be destroyed: its number may come again, so what was freed on it must be done with.
func (c *Client) lastOf(t hip.Thread, st hip.Stream) {
	m := &c.mem
	m.mu.RLock()
	any := false
	for d := range m.pools {
		for _, b := range m.pools[d].held {
			any = any || b.stream.stream == st
		}
	}
	m.mu.RUnlock()
	if any {
		_ = c.StreamSynchronize(t, st) // a failure is the destruction's, too
	}
	m.mu.Lock()
	for d := range m.pools {
		for _, b := range m.pools[d].idle {
			if b.stream.stream == st {
				b.stream = streamOf{device: -1} // nobody's
			}
		}
	}
	m.mu.Unlock()
}

// MemPtrGetInfo is hipMemPtrGetInfo.
func (c *Client) MemPtrGetInfo(t hip.Thread, p hip.Ptr) (uint64, hip.Error) {
	_, size, code := c.MemGetAddressRange(t, p)
	if code == hip.ErrorNotFound {
		code = hip.ErrorInvalidValue
	}
	return size, code
}

// MemGetAddressRange is hipMemGetAddressRange.
func (c *Client) MemGetAddressRange(t hip.Thread, p hip.Ptr) (base hip.Ptr, size uint64, code hip.Error) {
	if b := c.mem.find(p); b != nil {
		return hip.Ptr(b.base), b.want, hip.Success
	}
	if c.placed(p) || p == 0 {
		return 0, 0, hip.ErrorNotFound
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = hiprpc.Place{Device: t.Device, Addr: p}.Append(m.Req[:0])
	if code = c.call(hip.OpMemGetAddressRange, m); code != hip.Success {
		return 0, 0, code
	}
	d := wire.NewDec(m.Rep)
	base, size = hip.Ptr(d.U64()), d.U64()
	if !d.Done() {
		return 0, 0, c.violation(hip.OpMemGetAddressRange)
	}
	return base, size, hip.Success
}

// placed says whether an address is one that only this client hands out: what it does not know there does not exist.
func (c *Client) placed(p hip.Ptr) bool {
	r := c.mem.span.Load()
	return r != nil && uint64(p)-r.base < r.size/2
}
