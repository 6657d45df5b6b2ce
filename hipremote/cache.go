package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
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

// know takes what the worker has said without being asked.
func (c *cache) know(list []hiprpc.Answer) {
	for _, a := range list {
		c.m.Store(cacheKey{a.Op, string(a.Req)}, a.Rep)
	}
}

// cachedCall is call for such replies.
func (c *Client) cachedCall(op uint16, m *wire.Msg) hip.Error {
	if _, code := c.ready(); code != hip.Success { // the Welcome brings some
		return code
	}
	key := cacheKey{op, string(m.Req)}
	if v, ok := c.cache.m.Load(key); ok {
		m.Rep = append(m.Rep[:0], v.([]byte)...)
		return hip.Success
	}
	code := c.call(op, m)
	if code == hip.Success {
		c.cache.m.Store(key, append([]byte(nil), m.Rep...))
	}
	return code
}
