package session

import (
	"bytes"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// cache is what the client has sent with a hash, to name it by that later. It is this session's alone: a hash of 64 bits proves nothing, so nobody gets what
// another has sent. Nor is it believed that the same hash means the same bytes: where a client has sent others, the hash means nothing any more.
type cache struct {
	kept map[uint64][]byte // nil: bytes that were not the same
	held uint64
}

// maxCached bounds what is kept, in bytes, and maxHashes of how many.
const (
	maxCached = 256 << 20
	maxHashes = 1 << 16
)

// see takes note of bytes that came with a hash.
func (k *cache) see(s *Session, hash uint64, b []byte) {
	old, known := k.kept[hash]
	switch n := uint64(len(b)); {
	case known && !bytes.Equal(old, b):
		s.Memory.Give(uint64(len(old)))
		k.held -= uint64(len(old))
		k.kept[hash] = nil
	case known, len(k.kept) >= maxHashes, n > maxCached-k.held, !s.Memory.Take(n):
	default:
		if k.kept == nil {
			k.kept = map[uint64][]byte{}
		}
		k.held += n
		k.kept[hash] = bytes.Clone(b)
	}
}

// memcpyCached copies to a device what comes along, or what came with the same hash before. What is not known is hipErrorNotFound, as those clients expect.
func (s *Session) memcpyCached(c *call, q *hipv1.MemcpyCachedRequest) hip.Error {
	w, code := s.turnOf(q.Stream, q.Stream != 0)
	if code != hip.Success {
		return code
	}
	if c.h.Flags&hipv1.FlagInlineData == 0 {
		b := s.cache.kept[q.Hash]
		switch {
		case b == nil || uint64(len(b)) != q.Size:
			return hip.ErrorNotFound
		case !s.mem.has(q.Dst, q.Size):
			return hip.ErrorInvalidValue
		}
		if code := s.hostCopy(w); code != hip.Success {
			return code
		}
		return s.transfer(hip.Ptr(q.Dst), b, hip.MemcpyHostToDevice, w)
	}
	switch {
	case uint64(c.in.N) != q.Size:
		return s.violates(c, "a copy of %d bytes comes with %d", q.Size, c.in.N)
	case q.Size == 0 || q.Size > bufferSize: // it is not kept
		return s.copyIn(c, q.Dst, q.Size, w)
	case !s.mem.has(q.Dst, q.Size):
		return hip.ErrorInvalidValue
	}
	b := s.buffer()[:q.Size]
	if !s.take(c, b) {
		return hip.ErrorInvalidValue
	}
	s.cache.see(s, q.Hash, b)
	if code := s.hostCopy(w); code != hip.Success {
		return code
	}
	return s.transfer(hip.Ptr(q.Dst), b, hip.MemcpyHostToDevice, w)
}
