package hipremote

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// Device memory of a worker on this machine can be mapped into this process, which then copies between that and host memory by itself and tells the worker
// afterwards. It does so when nothing it has posted is under way, or a synchronizing call has seen to that; other copies go through the connection, in
// their turn. The map is asked for once for a block, when as many bytes have been copied as it has, for to make it costs as much; it ends with the block.

// nearTo is the size in bytes of copies to the device from which this is quicker than the connection, where they are posted. One from the device has to be waited
// for there, whatever its size.
const nearTo = 16 << 10

// nearness is what a block knows of its map.
type nearness struct {
	copied atomic.Uint64 // bytes, before there was one
	mapped atomic.Pointer[nearMap]
}

// nearMap is a block's memory in this process, where its address has nothing to do with the block's.
type nearMap struct {
	mu  sync.RWMutex // held for reading by who copies
	mem []byte       // nil: given up
}

func (x *nearMap) drop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mem != nil {
		unmapNear(x.mem)
		x.mem = nil
	}
}

// far gives up the map of a block, whose memory the worker is about to free.
func (b *block) far() {
	if x := b.near.mapped.Swap(nil); x != nil {
		x.drop()
	}
}

// worthIt counts n bytes that are about to be copied, and says whether a map is worth it.
func (b *block) worthIt(n uint64) bool { return b.near.copied.Add(n)-n >= b.size }

// nearCopy copies between n bytes or more of host memory, whose rows are pitch apart, and device memory that is mapped here. Not done: it cannot, and nothing has
// happened.
func (c *Client) nearCopy(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy, host, pitch uint64, wait bool) (done bool, code hip.Error) {
	n, _ := m.Bytes()
	if !l.near || m.Dir == hiprpc.ToDevice && n < nearTo && !c.cfg.Near {
		return false, hip.Success
	}
	there, apart := m.Dst, m.Dpitch
	if m.Dir == hiprpc.FromDevice {
		there, apart = m.Src, m.Spitch
	}
	b := c.mem.find(there)
	if b == nil || b.host != nil || b.module != 0 || b.arena != nil || b.size == 0 || !b.holds(uint64(there), apart*(m.Height-1)+m.Width) {
		return false, hip.Success
	}
	x := b.near.mapped.Load()
	if x == nil && !b.worthIt(n) && !c.cfg.Near {
		return false, hip.Success
	}
	if !c.quiet() {
		if !wait {
			return false, hip.Success
		}
		if code := c.StreamSynchronize(t, m.Stream); code != hip.Success {
			return true, code
		}
		// Other devices' memory, and what the null stream has before a stream's, the connection's copies wait for, too.
		if (m.Stream > hip.StreamLegacy || !c.onlyDevice()) && !c.quiet() {
			return false, hip.Success
		}
	}
	if x == nil {
		if x, code = c.bringNear(ct, l, b); x == nil {
			return code != hip.Success, code
		}
	}
	if m.Dir == hiprpc.ToDevice {
		for row := range m.Height {
			if code := c.reveal(l, hostBytes(host+row*pitch, m.Width)); code != hip.Success {
				return true, code
			}
		}
	}
	begin := mono.Now()
	if !x.copy(m, uint64(there)-b.base, apart, host, pitch) {
		return false, hip.Success
	}
	said := hiprpc.Copy{Device: m.Device, Dir: hiprpc.NearTo, Stream: m.Stream, Dst: m.Dst, Src: m.Src, Width: n, Height: 1, DstDevice: -1, SrcDevice: -1}
	if m.Dir == hiprpc.FromDevice {
		said.Dir = hiprpc.NearFrom
	}
	// A strided copy is told as one of as many bytes from its begin, which the block holds.
	said.Spitch = uint64(mono.Since(begin))
	var buf [128]byte
	if err := ct.post(l, op, said.Append(buf[:0]), nil); err != nil {
		return true, c.broken(l, err)
	}
	return true, hip.Success
}

// copy moves the bytes of m, whose device side begins at an offset; false if there is nothing any more.
func (x *nearMap) copy(m *hiprpc.Copy, at, apart, host, pitch uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.mem == nil {
		return false
	}
	for row := range m.Height {
		here, there := hostBytes(host+row*pitch, m.Width), x.mem[at+row*apart:][:m.Width]
		if m.Dir == hiprpc.ToDevice {
			copy(there, here)
		} else {
			copy(here, there)
		}
	}
	return true
}

// bringNear gets the memory of a block; nil if it cannot be had, and a failure only if the connection has ended. After a refusal as much is copied again
// before the next try.
func (c *Client) bringNear(ct *callTime, l *link, b *block) (*nearMap, hip.Error) {
	c.nearing.Lock() // one at a time: what is passed has one order
	defer c.nearing.Unlock()
	if x := b.near.mapped.Load(); x != nil {
		return x, hip.Success
	}
	b.near.copied.Store(0)
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = hiprpc.Place{Device: b.device, Addr: hip.Ptr(b.base)}.Append(m.Req[:0])
	if err := ct.call(l, hiprpc.OpNear, m); err != nil {
		return nil, c.broken(l, err)
	}
	if m.Code != 0 {
		return nil, hip.Success
	}
	var got hiprpc.Near
	if !got.Decode(m.Rep) || uint64(got.Base) != b.base || got.Size != b.size {
		return nil, c.violation(hiprpc.OpNear)
	}
	fd, err := l.Passed(b.base)
	if err != nil {
		c.cfg.debugf("device memory cannot be mapped here: %v", err)
		return nil, hip.Success
	}
	mem, err := mapNear(fd, b.size)
	if err != nil {
		c.cfg.debugf("device memory cannot be mapped here: %v", err)
		return nil, hip.Success
	}
	x := &nearMap{mem: mem}
	c.mem.mu.Lock() // against who frees it now
	defer c.mem.mu.Unlock()
	if c.mem.blocks.find(b.base) != b {
		x.drop()
		return nil, hip.Success
	}
	b.near.mapped.Store(x)
	return x, hip.Success
}

// quiet says that nothing this client has posted can be under way, on any device.
func (c *Client) quiet() bool {
	if !c.work.busy() {
		return true
	}
	n, code := c.GetDeviceCount()
	if code != hip.Success {
		return false
	}
	for d := range min(n, maxDevices) {
		if w := &c.work.tasks[d]; w.busy() || w.copying() {
			return false
		}
	}
	return n <= maxDevices
}

// allFar gives up every map: the connection ends.
func (m *memory) allFar() {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, b := range m.blocks {
		b.far()
	}
	for d := range m.pools {
		for _, b := range slices.Concat(m.pools[d].held, m.pools[d].idle) {
			b.far()
		}
	}
}
