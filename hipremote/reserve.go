package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// learnMemAddressReserve notes the addresses. They lie in the worker's part of the agreed range, so that they mean nothing else here.
func (c *Client) learnMemAddressReserve(q *hiprpc.MemAddressReserveRequest, rep *hiprpc.MemAddressReserveReply) {
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	c.mem.reserved.insert(&block{base: uint64(rep.Ptr), want: q.Size, device: q.Thread.Device})
}

// MemAddressFree is hipMemAddressFree.
func (c *Client) MemAddressFree(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	code := c.memAddressFree(t, p, size)
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
