package vmem

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access says what may be done with mapped pages.
type Access uint8

const (
	None Access = iota
	Read
	ReadWrite
)

func (a Access) prot() uintptr {
	switch a {
	case Read:
		return unix.PROT_READ
	case ReadWrite:
		return unix.PROT_READ | unix.PROT_WRITE
	}
	return unix.PROT_NONE
}

// Reserve takes size bytes of addresses, without memory, out of the share for
// reservations: those at hint, if they are free, or else others. align is a
// power of 2 or 0. Pages are mapped to it with Map. Error: ErrNoMemory.
func (s *Space) Reserve(hint, size, align uint64, a Alloc) (*Alloc, error) {
	if size == 0 || size%PageSize != 0 || size > s.virtualEnd-s.virtual || align&(align-1) != 0 || align > s.size {
		return nil, ErrNoMemory
	}
	align = max(align, PageSize)
	if size >= LargeAlign {
		align = max(align, LargeAlign)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrNoMemory
	}
	addr, ok := hint, false
	if s.Contains(hint, size) && hint >= s.virtual && hint <= s.virtualEnd-size && hint&(align-1) == 0 {
		f := s.free.floor(hint)
		ok = f != nil && f.end() >= hint+size
	}
	if !ok {
		if addr, ok = s.free.fit(s.virtual, s.virtualEnd, size, align); !ok {
			return nil, ErrNoMemory
		}
	}
	a.Kind, a.Base, a.Size, a.span = Virtual, addr, size, size
	s.enter(&a)
	return &a, nil
}

// Map makes [addr, addr+size) of a reservation the pages of a file from off on,
// without access yet. The caller has checked the range, and that the file is
// long enough and stays so. Error: ErrNoMemory.
func (s *Space) Map(addr, size uint64, fd int, off uint64) error {
	if err := mapFile(addr, size, unix.PROT_NONE, fd, off); err != nil {
		return fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	return nil
}

// Unmap ends what Map did.
func (s *Space) Unmap(addr, size uint64) { s.pages.shut(addr, size) }

// Protect sets what may be done with mapped pages. Error: ErrNoMemory.
func (s *Space) Protect(addr, size uint64, a Access) error {
	if err := mprotect(addr, size, a.prot()); err != nil {
		return fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	return nil
}

// AllocShared is Alloc with the pages of a file, from its beginning.
func (s *Space) AllocShared(size uint64, a Alloc, fd int) (*Alloc, error) {
	n, err := s.Alloc(size, a)
	if err != nil {
		return nil, err
	}
	if err := s.Share(n, fd); err != nil {
		s.Free(n)
		return nil, err
	}
	return n, nil
}

// Share makes the pages of an allocation those of a file, with what the file
// contains. Nothing may write to the allocation meanwhile. Error: ErrNoMemory.
func (s *Space) Share(a *Alloc, fd int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.allocs.floor(a.Base); s.closed || n == nil || n.alloc != a {
		return ErrNoMemory
	}
	if err := mapFile(a.Base, a.Pages(), unix.PROT_READ|unix.PROT_WRITE, fd, 0); err != nil {
		return fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	a.shared = true
	return nil
}

// detach puts empty pages where those of a file were.
func (p *pages) detach(addr, size uint64) {
	_, _ = mmap(addr, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_FIXED) // of an own mapping: it splits none
}

func mapFile(addr, size uint64, prot uintptr, fd int, off uint64) error {
	if _, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(addr), uintptr(size), prot, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE, uintptr(fd), uintptr(off)); e != 0 {
		return e
	}
	return nil
}

// FileName is what memory files are called.
const FileName = "rocwire-memory"

// NewFile makes a memory file of size bytes, whole pages, that can neither
// shrink nor grow: who maps it never meets its end.
func NewFile(size uint64) (fd int, err error) {
	if size == 0 || size%PageSize != 0 || size > 1<<47 {
		return -1, ErrNoMemory
	}
	fd, err = unix.MemfdCreate(FileName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	return fd, nil
}

// CheckFile says whether a descriptor from another process is a memory file that
// can be mapped for size bytes. Error: ErrRange.
func CheckFile(fd int, size uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%w: %v", ErrRange, err)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 || st.Size < 0 || uint64(st.Size) < size || size == 0 {
		return fmt.Errorf("%w: not a memory file of %d bytes", ErrRange, size)
	}
	return nil
}

// FileSize is the size of a memory file of whole pages; false if it is none.
func FileSize(fd int) (uint64, bool) {
	var st unix.Stat_t
	if fd < 0 || unix.Fstat(fd, &st) != nil || st.Size <= 0 || st.Size%PageSize != 0 || CheckFile(fd, uint64(st.Size)) != nil {
		return 0, false
	}
	return uint64(st.Size), true
}

// Fill copies memory to a file that was just made, page by page: pages of zeros
// stay holes.
func Fill(fd int, addr, size uint64) error {
	m, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	defer func() { _ = unix.Munmap(m) }()
	src := Raw(addr, size)
	for i := 0; i < len(src); i += PageSize {
		if p := src[i : i+PageSize]; !zero(p) {
			copy(m[i:], p)
		}
	}
	return nil
}

// zero reports whether a page is empty.
func zero(p []byte) bool {
	for _, w := range unsafe.Slice((*uint64)(unsafe.Pointer(&p[0])), len(p)/8) {
		if w != 0 {
			return false
		}
	}
	return true
}
