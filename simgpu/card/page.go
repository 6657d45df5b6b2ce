package card

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// page is where one session counts what it does, in both processes.
type page struct {
	file *os.File
	mem  []byte
}

func pageSize(cards int) int { return (cards*slotSize + 4095) &^ 4095 }

func createPage(cards int) (*page, error) {
	fd, err := unix.MemfdCreate("rocwire-session", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("card: memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "rocwire-session")
	if err := f.Truncate(int64(pageSize(cards))); err != nil {
		f.Close()
		return nil, fmt.Errorf("card: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, fmt.Errorf("card: seal: %w", err)
	}
	return mapPage(f, cards)
}

func openPage(fd uintptr, cards int) (*page, error) {
	f := os.NewFile(fd, "rocwire-session")
	if f == nil {
		return nil, fmt.Errorf("%w: bad descriptor of the page", ErrSegment)
	}
	st, err := f.Stat()
	if err != nil || st.Size() != int64(pageSize(cards)) {
		f.Close()
		return nil, fmt.Errorf("%w: size of the page", ErrSegment)
	}
	return mapPage(f, cards)
}

// mapping is held while a page is mapped or unmapped: the kernel does that one at a time in a process, and of many sessions that begin at once each would take
// a thread to wait for it, which stays.
var mapping sync.Mutex

func mapPage(f *os.File, cards int) (*page, error) {
	mapping.Lock()
	defer mapping.Unlock()
	mem, err := unix.Mmap(int(f.Fd()), 0, pageSize(cards), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("card: map: %w", err)
	}
	return &page{f, mem}, nil
}

func (p *page) slot(card int) *slot { return (*slot)(unsafe.Pointer(&p.mem[card*slotSize])) }

func (p *page) close() {
	if p.mem != nil {
		mapping.Lock()
		_ = unix.Munmap(p.mem)
		mapping.Unlock()
		p.mem = nil
		_ = p.file.Close()
	}
}
