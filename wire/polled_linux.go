package wire

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// polled is a server's way to wait for its socket by the Go scheduler's poller.
//
// A server's reading goroutine is bound to no thread. When it waits in a system call, the runtime's monitor wakes up to take its processor away, and
// again when it returns: several switches for each request, which is most of what a machine with many sessions does. With the poller there is one,
// but more system calls, so one client that calls again at once is served faster by a thread that waits in its read. A client's own reading is always that
// of a thread: the caller's, whom the kernel wakes best.
//
// What the poller knows of wakes it for every packet, also where nobody waits by it. So what it knows of is an epoll descriptor, in which the socket is armed for
// one event at a time.
type polled struct {
	fd    int // of the socket
	file  *os.File
	raw   syscall.RawConn
	step  func(fd uintptr) bool // look, made once: it escapes
	added bool
	armed bool
	err   error
}

// newPolled makes one for the socket fd.
func newPolled(fd int) (*polled, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(ep, true); err != nil { // or the runtime does not take it
		_ = unix.Close(ep)
		return nil, os.NewSyscallError("fcntl", err)
	}
	p := &polled{fd: fd, file: os.NewFile(uintptr(ep), "connection")}
	p.step = p.look
	if p.raw, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

// wait waits until there is something to read, or the connection has ended.
func (p *polled) wait() error {
	p.err = nil
	if err := p.raw.Read(p.step); err != nil {
		return err
	}
	return p.err
}

// look arms the socket if it is not, and false: it is to be called again when the poller knows of something.
func (p *polled) look(ep uintptr) bool {
	if p.armed {
		var e unix.EpollEvent
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, ep, uintptr(unsafe.Pointer(&e)), 1, 0, 0, 0)
		if errno == unix.EINTR || errno == 0 && n == 0 {
			return false
		}
		p.armed = false
		if errno != 0 {
			p.err = errno
		}
		return true
	}
	op := unix.EPOLL_CTL_MOD
	if !p.added {
		op, p.added = unix.EPOLL_CTL_ADD, true
	}
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(p.fd)}
	if _, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, ep, uintptr(op), uintptr(p.fd), uintptr(unsafe.Pointer(&e)), 0, 0); errno != 0 {
		p.err = errno
		return true
	}
	p.armed = true
	return false
}

func (p *polled) close() { _ = p.file.Close() }
