//go:build linux && amd64

package exec

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// codeArena holds machine code. The same memory is mapped twice, to be written
// and to be executed, so that no page is ever both.
type codeArena struct {
	write, exec []byte
	used        int
}

const arenaSize = 64 << 20 // of address space; memory is taken when it is written

var errArena = errors.New("exec: no room for more code")

// add copies code into the arena and says where it can be executed.
func (a *codeArena) add(code []byte) (uintptr, error) {
	if a.exec == nil {
		if err := a.make(); err != nil {
			return 0, err
		}
	}
	if len(code) > len(a.write)-a.used {
		return 0, errArena
	}
	at := a.used
	copy(a.write[at:], code)
	a.used += (len(code) + 63) &^ 63
	return uintptr(unsafe.Pointer(&a.exec[at])), nil
}

func (a *codeArena) make() error {
	fd, err := unix.MemfdCreate("rocwire-code", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, arenaSize); err != nil {
		return err
	}
	w, err := unix.Mmap(fd, 0, arenaSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	x, err := unix.Mmap(fd, 0, arenaSize, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Munmap(w) // nobody has it
		return err
	}
	a.write, a.exec = w, x
	return nil
}

// release gives the memory back; nothing executes in it any more.
func (a codeArena) release() {
	for _, m := range [][]byte{a.write, a.exec} {
		_ = unix.Munmap(m) // it is mapped
	}
}
