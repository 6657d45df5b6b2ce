package wire

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// polled is a server's way to wait for its socket, by the Go scheduler's poller, while requests are far apart.
//
// A server's reading goroutine is bound to no thread. When it waits in a system call, the runtime's monitor wakes up to take its processor away, and
// again when it returns: several switches for each request, which is most of what a machine with many sessions does. With the poller there is one,
// but more system calls, so one client that calls again at once is served faster by a thread that waits in its read. What the poller knows of
// wakes it for every packet, so it knows of the socket, by a descriptor of its own, only while it is used. A client's own reading is always that
// of a thread: the caller's, whom the kernel wakes best.
type polled struct {
	file *os.File
	raw  syscall.RawConn
	step func(fd uintptr) bool // try, made once: it escapes

	// Of the read in progress.
	p   []byte
	n   int
	err error
}

// newPolled has the poller look after the socket fd.
func newPolled(fd int) (*polled, error) {
	fd, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or the runtime does not take it
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	r := &polled{file: os.NewFile(uintptr(fd), "connection")}
	r.step = r.try
	if r.raw, err = r.file.SyscallConn(); err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		_ = r.file.Close()
		return nil, err
	}
	return r, nil
}

func (r *polled) read(p []byte) (int, error) {
	r.p = p
	err := r.raw.Read(r.step)
	r.p = nil
	if err != nil {
		return 0, err
	}
	return r.n, r.err
}

// try takes what has come; false if that is nothing. It does not block, so a short one need not tell the scheduler.
func (r *polled) try(fd uintptr) bool {
	call := syscall.RawSyscall6
	if len(r.p) > rawLimit {
		call = syscall.Syscall6
	}
	for {
		n, _, e := call(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&r.p[0])), uintptr(len(r.p)), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case e == unix.EINTR:
			continue
		case e == unix.EAGAIN:
			return false
		case e != 0:
			r.n, r.err = 0, e
		case n == 0:
			r.n, r.err = 0, io.EOF
		default:
			r.n, r.err = int(n), nil
		}
		return true
	}
}
