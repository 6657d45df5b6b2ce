package hipremote

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// Device addresses have the same value here and on the worker. So that such an address can never also be host memory, the client keeps
// the range they come from reserved, without access. Nobody can know in advance which range is free in both processes: several are offered, in
// order of preference, and the worker takes the first one it can reserve too.
// These are every TiB of the upper part of the lower half of the address space but its end, where libraries and stacks are, and parts of a TiB where
// something is in each: host memory that the program may still read stays when a client is closed. In the lower part, 46 bits, Go's runtime places its
// heap by chance, here and in the session process.
//
// What a system has for this is in space_SYSTEM.go: reserveRange, trim, unmap; commit and decommit inside of a range; mapAt and mapAnywhere outside of
// one; mapped; forkGuard.
const (
	firstCandidate = 0x400000000000
	lastCandidate  = 0x700000000000
)

// smallRangeSize is a size below which a range is not worth its negotiation.
const smallRangeSize = 1 << 30

// addressRange is address space of this process without access, [base, base+size).
type addressRange struct {
	base, size uint64
}

func (r addressRange) span() hip.Span { return hip.Span{Base: r.base, Size: r.size} }

// partOf says whether r is a part of the range o, of whole pages.
func (r addressRange) partOf(o addressRange) bool {
	return r.size <= o.size && r.base >= o.base && r.base-o.base <= o.size-r.size && r.base%pageSize == 0 && r.size%(2*pageSize) == 0
}

// reserveCandidates reserves up to wantRanges ranges of the largest size that this process may have. Under a limit of the address space (`ulimit
// -v`) it settles for one smaller range, of a quarter of what is allowed, or for none: a session works without, and every hipMalloc then
// asks the worker.
func reserveCandidates() []addressRange {
	limit := addressSpaceLeft()
	size := uint64(rangeSize)
	want := wantRanges
	if limit != 0 {
		want = 1
		for size > limit/4 {
			size /= 2
		}
	}
	for ; size >= smallRangeSize; size /= 2 {
		var got []addressRange
		for base := uint64(firstCandidate); base < lastCandidate && len(got) < want; base += size {
			if reserveRange(base, size) == nil {
				got = append(got, addressRange{base, size})
			}
		}
		if len(got) > 0 {
			return got
		}
	}
	return nil
}

// apart is where host memory lies that has the same address in the worker's process: above the ranges of device addresses and below where
// libraries and stacks are. next moves through it.
var apart struct {
	sync.Mutex
	next uint64
}

const apartEnd = 0x7d0000000000

// mapApart is host memory outside any reserved range, where most likely the worker's process has nothing either.
func mapApart(size uint64) (uint64, error) {
	apart.Lock()
	defer apart.Unlock()
	for range 64 {
		if apart.next < lastCandidate || apart.next > apartEnd || size > apartEnd-apart.next {
			apart.next = lastCandidate
		}
		align := max(alignOf(size), granularity)
		base := (apart.next + align - 1) &^ (align - 1)
		apart.next = base + size + pageSize
		if mapAt(base, size) == nil {
			return base, nil
		}
	}
	return mapAnywhere(size)
}

// hostBytes is this process's memory [addr, addr+n) as a slice. The caller of the HIP function answers for it being readable.
func hostBytes(addr, n uint64) []byte {
	if n == 0 {
		return nil
	}
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}
