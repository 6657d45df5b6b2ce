package hipremote

import (
	"os"
	"syscall"
	"unsafe"
)

// mapped says whether this process has memory at all of the size bytes at base. The kernel is asked, nothing is touched. The range must not
// wrap around.
func mapped(base, size uint64) bool {
	page := uint64(os.Getpagesize())
	end := base + size
	var resident [4096]byte // one for each page of a question; what it says does not matter
	for a := base &^ (page - 1); a < end; {
		n := min(end-a, uint64(len(resident))*page)
		_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(a), uintptr(n), uintptr(unsafe.Pointer(&resident)))
		switch errno {
		case 0:
			a += n
		case syscall.EAGAIN, syscall.EINTR:
		default:
			return false
		}
	}
	return true
}
