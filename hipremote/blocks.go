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
	stream     hip.Stream  // of a block that hipFreeAsync has freed
}

func (b *block) end() uint64 { return b.base + b.want }

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

// find is the block that addr lies in, nil for none.
func (bs blocks) find(addr uint64) *block {
	i, ok := bs.index(addr)
	if !ok {
		i--
	}
	if i >= 0 && addr-bs[i].base < max(bs[i].want, 1) {
		return bs[i]
	}
	return nil
}
