package hipremote

import (
	"os"

	"golang.org/x/sys/unix"
)

// pageSize is Apple's processors' page, four of an x86-64 Mac's: what is a multiple of it is one of both.
const pageSize = 16 << 10

// noReplace is nothing: an address is a hint, and what comes of it is compared. MAP_FIXED would replace what is there.
const noReplace = 0

// preferHuge does nothing: large pages cannot be asked for.
func preferHuge(addr, size uint64) {}

// mapped says whether this process has memory at all of the size bytes at base. The range must not wrap around. msync fails where a range has a hole,
// which mincore does not tell here; MS_ASYNC has no other effect on memory that is no file's.
func mapped(base, size uint64) bool {
	first := base &^ (pageSize - 1)
	for at, end := first, base+size; at < end; {
		n := min(end-at, 1<<40)
		if unix.Msync(hostBytes(at, n), unix.MS_ASYNC) != nil {
			return false
		}
		at += n
	}
	return true
}

// forkGuard knows the process that made the connection. A page that a fork empties is not to be had here.
type forkGuard struct{ pid int }

func newForkGuard() forkGuard { return forkGuard{os.Getpid()} }

// forked says that this process is a fork of the one that made the guard.
func (g forkGuard) forked() bool { return os.Getpid() != g.pid }
