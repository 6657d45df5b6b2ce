package pagewatch

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unseenWriters says whether something may write to pages of this process that it has pinned: what the kernel accounts as pinned (io_uring, RDMA), and
// descriptors through which a read can be under way that goes past the page tables. Where that cannot be seen, it may be.
func unseenWriters() bool {
	return pinnedMemory() || pinningDescriptors() || asynchronousReads()
}

func pinnedMemory() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true
	}
	_, rest, ok := bytes.Cut(b, []byte("VmPin:"))
	if !ok {
		return true
	}
	f := bytes.Fields(rest)
	return len(f) == 0 || string(f[0]) != "0"
}

func pinningDescriptors() bool {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		target, err := os.Readlink("/proc/self/fd/" + name)
		if err != nil {
			continue // closed meanwhile
		}
		fd, err := strconv.Atoi(name)
		if err != nil || pins(fd, target) {
			return true
		}
	}
	return false
}

// harmless are devices that copy what they give.
var harmless = map[string]bool{
	"/dev/null": true, "/dev/zero": true, "/dev/full": true, "/dev/random": true, "/dev/urandom": true, "/dev/tty": true, "/dev/ptmx": true, "/dev/console": true,
}

// pins says whether a system call on a descriptor may pin pages and have them written to after it has returned, or before it returns but long after it pinned
// them.
func pins(fd int, target string) bool {
	switch {
	case strings.HasPrefix(target, "anon_inode:"):
		return strings.Contains(target, "io_uring") || strings.Contains(target, "infiniband") || strings.Contains(target, "kvm") || strings.Contains(target, "vfio")
	case strings.HasPrefix(target, "socket:"):
		family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		return err == nil && family == unix.AF_XDP
	case strings.HasPrefix(target, "/dev/shm/"), strings.HasPrefix(target, "/dev/pts/"), strings.HasPrefix(target, "/dev/hugepages/"):
	case strings.HasPrefix(target, "/dev/"):
		if !harmless[target] {
			return true
		}
	case !strings.HasPrefix(target, "/"):
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_DIRECT != 0
}

// asynchronousReads says whether there are contexts of Linux's asynchronous reads, of which one may be under way on a file that is closed by now.
func asynchronousReads() (found bool) {
	ok := mappings(func(m mapping) bool {
		found = m.path == "/[aio]"
		return !found
	})
	return found || !ok
}
