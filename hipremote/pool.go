package hipremote

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// ownPool is a device's own memory pool where the client places memory itself: what hipMallocAsync gave out, and what hipFreeAsync has freed and
// may be given out again. Its sizes are what was asked for when a block was made. All under memory's mu.
type ownPool struct {
	held      []*block // freed, in that order: their streams may still use them
	idle      []*block // freed, and nothing uses them any more; by size
	used      level    // bytes given out
	reserved  level    // and those that are kept
	kept      uint64   // bytes of held and idle
	threshold uint64   // of kept, beyond which memory goes back when something is waited for
	refuses   uint8    // ways of reuse that are switched off, a bit for each attribute
}

// level is a number of bytes and the most it has been.
type level struct{ now, high uint64 }

func (l *level) add(n uint64) { l.now += n; l.high = max(l.high, l.now) }

func bySize(b *block, n uint64) int { return cmp.Compare(b.want, n) }

// made notes a new block that was given out.
func (o *ownPool) made(b *block) {
	b.pooled = true
	o.used.add(b.want)
	o.reserved.add(b.want)
}

// again takes a freed block for size bytes on a stream: the smallest that is large enough, but for one of another stream only one that is
// hardly larger; nil for none.
func (o *ownPool) again(size uint64, st streamOf) *block {
	var best *block
	for _, b := range o.held {
		if b.pooled && b.stream == st && b.want >= size && (best == nil || b.want < best.want) {
			best = b
		}
	}
	i, _ := slices.BinarySearchFunc(o.idle, size, bySize)
	for ; i < len(o.idle) && (best == nil || o.idle[i].want < best.want); i++ {
		if b := o.idle[i]; b.stream == st || b.want/9 <= size/8 {
			best = b
			break
		}
	}
	if best == nil {
		return nil
	}
	if j := slices.Index(o.held, best); j >= 0 {
		o.held = slices.Delete(o.held, j, j+1)
	} else {
		o.idle = slices.Delete(o.idle, i, i+1)
	}
	o.kept -= best.want
	o.used.add(best.want)
	return best
}

// hold keeps a block that was freed on a stream.
func (o *ownPool) hold(b *block) {
	o.held = append(o.held, b)
	if b.pooled {
		o.used.now -= b.want
		o.kept += b.want
	}
}

// settle notes that what was freed before a moment, of those that which chooses, is done with, and returns the blocks that go back to the device.
func (o *ownPool) settle(at moment, which func(*block) bool) (out []*block) {
	o.held = slices.DeleteFunc(o.held, func(b *block) bool {
		if b.freed > at.freed || !which(b) {
			return false
		}
		if b.pooled {
			i, _ := slices.BinarySearchFunc(o.idle, b.want, bySize)
			o.idle = slices.Insert(o.idle, i, b)
		} else {
			out = append(out, b)
		}
		return true
	})
	return append(out, o.shrink(o.threshold)...)
}

// shrink takes out idle blocks until no more than keep bytes are kept.
func (o *ownPool) shrink(keep uint64) (out []*block) {
	n := 0
	for n < len(o.idle) && o.kept > keep {
		o.kept -= o.idle[n].want
		o.reserved.now -= o.idle[n].want
		n++
	}
	out = slices.Clone(o.idle[:n])
	o.idle = slices.Delete(o.idle, 0, n)
	return out
}

// gone notes that a block that was in use is freed for good.
func (o *ownPool) gone(b *block) {
	o.used.now -= b.want
	o.reserved.now -= b.want
}

// attribute is one of the pool's settings or figures.
func (o *ownPool) attribute(a hip.MemPoolAttr) (uint64, hip.Error) {
	switch a {
	case hip.MemPoolReuseFollowEventDependencies, hip.MemPoolReuseAllowOpportunistic, hip.MemPoolReuseAllowInternalDependencies:
		if o.refuses>>a&1 != 0 {
			return 0, hip.Success
		}
		return 1, hip.Success
	case hip.MemPoolAttrReleaseThreshold:
		return o.threshold, hip.Success
	case hip.MemPoolAttrReservedMemCurrent:
		return o.reserved.now, hip.Success
	case hip.MemPoolAttrReservedMemHigh:
		return o.reserved.high, hip.Success
	case hip.MemPoolAttrUsedMemCurrent:
		return o.used.now, hip.Success
	case hip.MemPoolAttrUsedMemHigh:
		return o.used.high, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// set changes a setting; of a figure, only the highest value can be forgotten.
func (o *ownPool) set(a hip.MemPoolAttr, v uint64) hip.Error {
	switch {
	case a == hip.MemPoolReuseFollowEventDependencies || a == hip.MemPoolReuseAllowOpportunistic || a == hip.MemPoolReuseAllowInternalDependencies:
		// The client reuses memory on its own stream and memory that it knows to be idle: none of these is needed for that, and it is not less if
		// they are switched off.
		if o.refuses &^= 1 << a; v == 0 {
			o.refuses |= 1 << a
		}
	case a == hip.MemPoolAttrReleaseThreshold:
		o.threshold = v
	case a == hip.MemPoolAttrReservedMemHigh && v == 0:
		o.reserved.high = 0
	case a == hip.MemPoolAttrUsedMemHigh && v == 0:
		o.used.high = 0
	default:
		return hip.ErrorInvalidValue
	}
	return hip.Success
}
