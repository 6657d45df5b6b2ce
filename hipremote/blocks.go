package hipremote

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// block is one allocation of this session, at the addresses programs know it by.
type block struct {
	base, size uint64 // size as placed
	want       uint64 // bytes asked for
	device     int32
	host       *hostRegion // nil: device memory
	arena      *arena      // that it is a part of
	module     hip.Module  // whose variable it is, outside of any agreed range; 0: an allocation
	mirror     bool        // registered memory under its address on the device, which is another than here
	pooled     bool        // of the device's own pool
	stream     streamOf    // of a block that hipFreeAsync has freed
	freed      uint64      // and the how many-th it was
	flags      uint32      // of hipExtMallocWithFlags
	syncs      bool        // copies of it wait: HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
	id         uint32      // tells it from all others that there ever were; 0: nobody has asked
	opened     int         // times, of another session's memory
	shared     bool        // with other sessions
	near       nearness    // its memory in this process
}

func (b *block) end() uint64 { return b.base + b.want }

// holds says whether n bytes at addr, at least one, lie in the block.
func (b *block) holds(addr, n uint64) bool {
	at := addr - b.base
	return at < b.want && n <= b.want-at
}

// blocks are the allocations, ordered by address. Not safe for concurrent use.
type blocks []*block

func (bs blocks) index(base uint64) (int, bool) {
	return slices.BinarySearchFunc(bs, base, func(b *block, x uint64) int { return cmp.Compare(b.base, x) })
}

func (bs *blocks) insert(b *block) {
	i, _ := bs.index(b.base)
	*bs = slices.Insert(*bs, i, b)
}

func (bs *blocks) remove(b *block) {
	if i, ok := bs.index(b.base); ok && (*bs)[i] == b {
		*bs = slices.Delete(*bs, i, i+1)
	}
}

// overlaps says whether a block has any of the n bytes at addr.
func (bs blocks) overlaps(addr, n uint64) bool { return bs.overlapping(addr, n) != nil }

// overlapping is the first block that has any of the n bytes at addr, nil for none.
func (bs blocks) overlapping(addr, n uint64) *block {
	if b := bs.find(addr); b != nil {
		return b
	}
	if i, _ := bs.index(addr); i < len(bs) && bs[i].base-addr < n {
		return bs[i]
	}
	return nil
}

// find is the block that addr lies in, nil for none.
func (bs blocks) find(addr uint64) *block {
	lo, hi := 0, len(bs) // the blocks before lo begin at or below addr, those from hi on above
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); bs[mid].base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo > 0 {
		if b := bs[lo-1]; addr-b.base < max(b.want, 1) {
			return b
		}
	}
	return nil
}
