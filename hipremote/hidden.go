package hipremote

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// hiddenSpans are the device addresses of regions of which the worker has no copy, for looking whether bytes mention any of them.
type hiddenSpans struct {
	list     []hiddenSpan // by address
	low, top uint32       // upper halves of the lowest address and of the highest
	changes  uint64       // of hostMemory, before the list was made
}

type hiddenSpan struct {
	base, end uint64
	region    *hostRegion
}

// hiddenSpans is what is hidden now. Programs that have such regions copy a lot, so it is kept until something changes.
func (h *hostMemory) hiddenSpans() *hiddenSpans {
	if s := h.spans.Load(); s != nil && s.changes == h.changes.Load() {
		return s
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &hiddenSpans{changes: h.changes.Load()}
	for _, r := range h.regions {
		if r.dev != 0 && !r.exposed.Load() {
			s.list = append(s.list, hiddenSpan{uint64(r.dev), uint64(r.dev) + r.size, r})
		}
	}
	slices.SortFunc(s.list, func(a, b hiddenSpan) int { return cmp.Compare(a.base, b.base) })
	if n := len(s.list); n > 0 {
		s.low, s.top = uint32(s.list[0].base>>32), uint32((s.list[n-1].end-1)>>32)
	}
	h.spans.Store(s)
	return s
}

// mentioned are the regions of which data holds, at a multiple of four bytes, an address: one look, whatever their number. Most bytes
// are no address at all, which the upper half of a number tells.
func (s *hiddenSpans) mentioned(data []byte) (found []*hostRegion) {
	if len(s.list) == 0 {
		return nil
	}
	prefix, mask := s.prefix()
	for i := 0; ; i += prefixPiece {
		i += prefixed(data[i:], prefix, mask)
		if len(data)-i < prefixPiece {
			return s.in(found, data, i, len(data))
		}
		found = s.in(found, data, i, i+prefixPiece)
	}
}

// prefix is what the upper halves of all addresses have in common: the bits of the mask.
func (s *hiddenSpans) prefix() (prefix, mask uint32) {
	mask = ^uint32(0) << bits.Len32(s.low^s.top)
	return s.low & mask, mask
}

// in adds the regions of the addresses whose upper halves lie between two offsets.
func (s *hiddenSpans) in(found []*hostRegion, data []byte, from, to int) []*hostRegion {
	for i := max(from, 4); i+4 <= to; i += 4 {
		if binary.LittleEndian.Uint32(data[i:])-s.low <= s.top-s.low {
			found = s.at(found, binary.LittleEndian.Uint64(data[i-4:]))
		}
	}
	return found
}

// at adds the region that an address is of.
func (s *hiddenSpans) at(found []*hostRegion, p uint64) []*hostRegion {
	i, exact := slices.BinarySearchFunc(s.list, p, func(x hiddenSpan, p uint64) int { return cmp.Compare(x.base, p) })
	if !exact {
		i--
	}
	if i < 0 || p >= s.list[i].end || slices.Contains(found, s.list[i].region) {
		return found
	}
	return append(found, s.list[i].region)
}

// reveal exposes regions whose addresses are among bytes that go to the device.
func (c *Client) reveal(l *link, data []byte) hip.Error {
	if c.host.hidden.Load() == 0 || len(data) > scanned {
		return hip.Success
	}
	return c.revealIn(l, data)
}

func (c *Client) revealIn(l *link, data []byte) hip.Error {
	used := c.host.hiddenSpans().mentioned(data)
	if len(used) == 0 {
		return hip.Success
	}
	for _, r := range used {
		if code := c.expose(l, r); code != hip.Success {
			return code
		}
	}
	for _, x := range c.host.hiddenSpans().list { // what a kernel reaches through pointers in the memory that it uses
		if x.region.size <= company {
			if code := c.expose(l, x.region); code != hip.Success {
				return code
			}
		}
	}
	return hip.Success
}
