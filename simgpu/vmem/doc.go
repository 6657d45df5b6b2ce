// Package vmem is the device address space of the simulated GPU: one large
// reservation of this process's addresses, a table of what is allocated in it,
// and the protection of its pages.
//
// A device address is a real address. Nothing outside an allocation is mapped,
// so a kernel that leaves its buffers faults as it would on a real card, down
// to the page. Pages are zero when an allocation begins and are given back to
// the system when it ends. Pages may be those of a file (a memfd), so that
// several ranges, and several processes, have the same memory.
//
// # Trust
//
// Addresses and sizes come from programs, on a worker from the network: each is
// checked against the reservation and the table before it is used, without
// arithmetic that can wrap.
package vmem

import "errors"

// PageSize is the unit of placement and protection in bytes.
const PageSize = 4096

// LargeAlign is the alignment of allocations of at least that size, so that
// they can use huge pages.
const LargeAlign = 2 << 20

// Sentinels for errors.Is.
var (
	ErrNoMemory = errors.New("vmem: no room in the address range, or no memory for its page tables")
	ErrTaken    = errors.New("vmem: address range is taken")
	ErrRange    = errors.New("vmem: not inside the reserved range, or not aligned")
	ErrReserve  = errors.New("vmem: range cannot be reserved")
)

// Kind says what an allocation is.
type Kind uint8

const (
	Device  Kind = iota + 1 // card memory
	Host                    // pinned host memory that kernels see
	Managed                 // memory that both sides use
	Code                    // code and data of a loaded module: card memory
	Image                   // an array: card memory without an address of the program's
	Runtime                 // the simulator's own: kernel arguments, queue descriptors
	Virtual                 // reserved addresses, to which card memory is mapped piece by piece
)

func (k Kind) String() string {
	switch k {
	case Device:
		return "device memory"
	case Host:
		return "host memory"
	case Managed:
		return "managed memory"
	case Code:
		return "module"
	case Image:
		return "array"
	case Runtime:
		return "runtime memory"
	case Virtual:
		return "reserved addresses"
	}
	return "unallocated"
}

// Alloc is one allocation. What can be seen of it is not changed after it is made.
type Alloc struct {
	Base  uint64 // address of the first byte, a multiple of PageSize
	Size  uint64 // bytes, as asked for
	Kind  Kind
	Card  int32  // card whose memory it is, or that asked for it
	Flags uint32 // of the call that made it
	Note  any    // the owner's

	span   uint64 // bytes of address space: Size in whole pages and a guard page
	shared bool   // its pages are a file's, see Share; the space's mu
}

// End is the address after the last byte.
func (a *Alloc) End() uint64 { return a.Base + a.Size }

// Pages is Size in whole pages, in bytes: what it takes of a card's memory.
func (a *Alloc) Pages() uint64 { return RoundUp(a.Size) }

// RoundUp is n in whole pages, in bytes; it saturates at the largest multiple.
func RoundUp(n uint64) uint64 {
	if n > ^uint64(0)-(PageSize-1) {
		return ^uint64(0) &^ (PageSize - 1)
	}
	return (n + PageSize - 1) &^ (PageSize - 1)
}
