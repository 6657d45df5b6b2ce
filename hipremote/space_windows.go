package hipremote

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	pageSize    = 4096
	granularity = 64 << 10 // of a reservation's address
	rangeSize   = 1 << 40  // of one candidate: address space costs nothing until it is used
	wantRanges  = 2        // candidates offered at most: under Wine each costs 256 MiB and an eighth of a second
)

// reservations are what VirtualAlloc has reserved for this package. The system gives back a reservation as a whole or not at all, by the address where
// it begins; so what is known of each is the part of it that is in use, by where that begins.
var reservations struct {
	sync.Mutex
	used map[uint64]reservation
}

type reservation struct {
	base uint64 // of the whole
	size uint64 // of the part in use
}

func reserve(base, size uint64, how uint32, protect uint32) (uint64, error) {
	reservations.Lock()
	defer reservations.Unlock()
	p, err := windows.VirtualAlloc(uintptr(base), uintptr(size), how, protect)
	if err != nil {
		return 0, err
	}
	if reservations.used == nil {
		reservations.used = map[uint64]reservation{}
	}
	reservations.used[uint64(p)] = reservation{uint64(p), size}
	return uint64(p), nil
}

// reserveRange reserves [base, base+size) without access and without asking for memory. It fails where anything is already.
func reserveRange(base, size uint64) error {
	_, err := reserve(base, size, windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	return err
}

// trim notes that of the range r only its part p is used from now on. The rest stays reserved as long as p is.
func trim(r, p addressRange) {
	reservations.Lock()
	defer reservations.Unlock()
	delete(reservations.used, r.base)
	reservations.used[p.base] = reservation{r.base, p.size}
}

// unmap gives back what was reserved. Of a part of a reservation only the memory can be given back: its addresses stay reserved.
func unmap(base, size uint64) {
	reservations.Lock()
	defer reservations.Unlock()
	if r, ok := reservations.used[base]; ok && r.size == size {
		delete(reservations.used, base)
		_ = windows.VirtualFree(uintptr(r.base), 0, windows.MEM_RELEASE)
		return
	}
	decommit(base, size)
}

// addressSpaceLeft is 0: nothing limits address space.
func addressSpaceLeft() uint64 { return 0 }

// commit gives [addr, addr+size) of a reserved range zeroed memory with read and write access: host memory that has a device address.
func commit(addr, size uint64) error {
	_, err := windows.VirtualAlloc(uintptr(addr), uintptr(size), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// decommit takes the memory of [addr, addr+size) away again and leaves the addresses reserved.
func decommit(addr, size uint64) {
	_ = windows.VirtualFree(uintptr(addr), uintptr(size), windows.MEM_DECOMMIT)
}

// mapAt is host memory at an address where nothing is yet.
func mapAt(base, size uint64) error {
	_, err := reserve(base, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// mapAnywhere is host memory where the system puts it.
func mapAnywhere(size uint64) (uint64, error) {
	return reserve(0, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
}

// mapped says whether this process has memory that may be read at all of the size bytes at base. The range must not wrap around.
func mapped(base, size uint64) bool {
	for at, end := base, base+size; at < end; {
		var m windows.MemoryBasicInformation
		if windows.VirtualQuery(uintptr(at), &m, unsafe.Sizeof(m)) != nil || m.State != windows.MEM_COMMIT ||
			m.Protect&(windows.PAGE_NOACCESS|windows.PAGE_GUARD) != 0 {
			return false
		}
		next := uint64(m.BaseAddress) + uint64(m.RegionSize)
		if next <= at {
			return false
		}
		at = next
	}
	return true
}

// forkGuard guards nothing: processes do not fork.
type forkGuard struct{}

func newForkGuard() forkGuard { return forkGuard{} }

func (forkGuard) forked() bool { return false }
