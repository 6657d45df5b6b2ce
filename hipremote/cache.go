package hipremote

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// cache holds replies that never change: properties and attributes of devices.
type cache struct {
	m sync.Map // cacheKey → []byte
}

type cacheKey struct {
	op  uint16
	req string
}

// cachedCall is call for such replies.
func (c *Client) cachedCall(op uint16, m *wire.Msg) hip.Error {
	key := cacheKey{op, string(m.Req)}
	if v, ok := c.cache.m.Load(key); ok {
		if _, code := c.ready(); code != hip.Success {
			return code
		}
		m.Rep = append(m.Rep[:0], v.([]byte)...)
		return hip.Success
	}
	code := c.call(op, m)
	if code == hip.Success {
		c.cache.m.Store(key, append([]byte(nil), m.Rep...))
	}
	return code
}

// decodeStruct reads a struct of the C interface as it lies in memory: both sides use the layout of x86-64, which is the wire's byte order.
func decodeStruct[T any](d *wire.Dec, v *T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)), d.Raw(int(unsafe.Sizeof(*v))))
}
