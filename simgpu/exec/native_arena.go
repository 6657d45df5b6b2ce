//go:build linux && amd64

package exec

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// codeArena holds machine code: a memory file that is mapped to be executed and
// written through its descriptor, so that no page is ever mapped to be written
// and executed, nor at two addresses.
type codeArena struct {
	size int
	codeFile
	free []extent // by address, no two of them adjacent
}

// codeFile is what is to be given back.
type codeFile struct {
	exec []byte
	fd   int
}

// extent is a part of the arena.
type extent struct{ at, size int }

func (e extent) end() int { return e.at + e.size }

// codeAlign is a cache line.
const codeAlign = 64

var errArenaFull = errors.New("there is no room for more machine code")

// open makes the arena.
func (a *codeArena) open() error {
	fd, err := unix.MemfdCreate("rocwire-code", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3, where all such files were like that
		fd, err = unix.MemfdCreate("rocwire-code", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return fmt.Errorf("memfd_create for code that can be executed: %w (vm.memfd_noexec=2 and filters of system calls forbid it)", err)
	}
	if err := unix.Ftruncate(fd, int64(a.size)); err != nil {
		_ = unix.Close(fd) // nothing is in it
		return fmt.Errorf("ftruncate to %d bytes of code: %w", a.size, err)
	}
	x, err := unix.Mmap(fd, 0, a.size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("mmap of %d bytes of code: %w", a.size, err)
	}
	a.codeFile = codeFile{x, fd}
	a.free = []extent{{0, a.size}}
	return nil
}

// add copies code into the arena and says where it lies and can be executed.
func (a *codeArena) add(code []byte) (at extent, base uintptr, err error) {
	size := (len(code) + codeAlign - 1) &^ (codeAlign - 1)
	i := slices.IndexFunc(a.free, func(e extent) bool { return e.size >= size })
	if i < 0 {
		return extent{}, 0, errArenaFull
	}
	at = extent{a.free[i].at, size}
	// Writing takes the memory. Unlike a store it fails where there is none.
	for n := 0; n < len(code); {
		m, err := unix.Pwrite(a.fd, code[n:], int64(at.at+n))
		if err != nil {
			return extent{}, 0, fmt.Errorf("memory for machine code: %w", err)
		}
		n += m
	}
	if a.free[i] = (extent{at.end(), a.free[i].size - size}); a.free[i].size == 0 {
		a.free = slices.Delete(a.free, i, i+1)
	}
	return at, uintptr(unsafe.Pointer(&a.exec[at.at])), nil
}

// drop makes room of what add gave. Nobody executes it.
func (a *codeArena) drop(e extent) {
	i, _ := slices.BinarySearchFunc(a.free, e, func(x, y extent) int { return x.at - y.at })
	a.free = slices.Insert(a.free, i, e)
	for _, j := range []int{i, i - 1} { // with what follows, with what is before
		if j >= 0 && j+1 < len(a.free) && a.free[j].end() == a.free[j+1].at {
			a.free[j].size += a.free[j+1].size
			a.free = slices.Delete(a.free, j+1, j+2)
		}
	}
}

// release gives the memory back; nothing executes in it any more.
func (f codeFile) release() {
	_ = unix.Munmap(f.exec) // it is mapped
	_ = unix.Close(f.fd)
}
