package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// MemAddressReserve is hipMemAddressReserve. The addresses lie in the worker's part of the agreed range, so that they mean nothing else here.
func (c *Client) MemAddressReserve(t hip.Thread, size, alignment uint64, addr hip.Ptr, flags uint64) (hip.Ptr, hip.Error) {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.MemAddressReserveRequest{Thread: t, Size: size, Alignment: alignment, Addr: addr, Flags: flags}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpMemAddressReserve, m); code != hip.Success {
		return 0, code
	}
	var rep hiprpc.MemAddressReserveReply
	if !rep.Decode(m.Rep) {
		return 0, c.violation(hip.OpMemAddressReserve)
	}
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	c.mem.reserved.insert(&block{base: uint64(rep.Ptr), want: size, device: t.Device})
	return rep.Ptr, hip.Success
}

// MemAddressFree is hipMemAddressFree.
func (c *Client) MemAddressFree(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.MemAddressFreeRequest{Thread: t, DevPtr: p, Size: size}
	m.Req = q.Append(m.Req[:0])
	code := c.call(hip.OpMemAddressFree, m)
	if code == hip.Success {
		c.mem.mu.Lock()
		if b := c.mem.reserved.find(uint64(p)); b != nil {
			c.mem.reserved.remove(b)
		}
		c.mem.mu.Unlock()
	}
	return code
}

// isReserved says whether an address is one of hipMemAddressReserve's: whether there is memory, and who may use it, the worker knows.
func (m *memory) isReserved(p hip.Ptr) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.reserved) > 0 && m.reserved.find(uint64(p)) != nil
}
