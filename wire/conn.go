package wire

import (
	"errors"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errAgain says that a socket took nothing at once.
var errAgain = errors.New("wire: try again")

// rawLimit is the longest send, in bytes, that is done without telling the Go scheduler: it cannot block, keeps the processor for some ten
// microseconds at most, and saves the way through entersyscall.
const rawLimit = 64 << 10

// conn is a connected stream socket in blocking mode. One goroutine at a time may read and one may write; shutdown may be called
// at any time. The descriptor bypasses the netpoller: a goroutine that waits for a reply is woken by the kernel, not by another thread.
type conn struct {
	fd      int
	mu      sync.Mutex // orders shutdown and close
	closed  bool
	msg     unix.Msghdr // of the writer
	iov     [2]unix.Iovec
	in, out atomic.Uint64 // bytes
}

// newConn takes over fd.
func newConn(fd int) (*conn, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, err
	}
	if family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		return nil, err
	} else if family == unix.AF_INET || family == unix.AF_INET6 {
		// Options that only make things better: a socket without them still works.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 6)
		if sa, err := unix.Getpeername(fd); err == nil && isLoopback(sa) {
			// Within one machine there is no path to be fair on, and the pacing of other algorithms (bbr) only costs time.
			_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		}
	} else {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 2<<20)
	}
	return &conn{fd: fd}, nil
}

func isLoopback(sa unix.Sockaddr) bool {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return a.Addr[0] == 127
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr).Unmap().IsLoopback()
	}
	return false
}

// read waits for bytes, for ever; io.EOF at the end. There is no SO_RCVTIMEO, whose timer would cost each call a few hundred
// nanoseconds: the keeper looks after the time and ends a wait by shutdown.
func (c *conn) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, e := syscall.Syscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
		switch {
		case e == 0 && n == 0:
			return 0, io.EOF
		case e == 0:
			c.in.Add(uint64(n))
			return int(n), nil
		case e != unix.EINTR:
			return 0, e
		}
	}
}

// tryWrite sends what the socket takes at once of a and b, in this order; errAgain if that is nothing.
func (c *conn) tryWrite(a, b []byte) (int, error) {
	if len(a) == 0 {
		a, b = b, nil
	}
	if len(a) == 0 {
		return 0, nil
	}
	for {
		n, e := c.send(a, b)
		switch e {
		case 0:
			c.out.Add(uint64(n))
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errAgain
		default:
			return 0, e
		}
	}
}

func (c *conn) send(a, b []byte) (n uintptr, e syscall.Errno) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	switch {
	case len(b) == 0 && len(a) <= rawLimit:
		n, _, e = syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)), flags, 0, 0)
		return n, e
	case len(b) == 0:
		n, _, e = syscall.Syscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)), flags, 0, 0)
		return n, e
	}
	c.iov[0].Base, c.iov[1].Base = &a[0], &b[0]
	c.iov[0].SetLen(len(a))
	c.iov[1].SetLen(len(b))
	c.msg.Iov = &c.iov[0]
	c.msg.SetIovlen(2)
	n, _, e = syscall.Syscall(unix.SYS_SENDMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&c.msg)), flags)
	c.iov[0].Base, c.iov[1].Base = nil, nil
	return n, e
}

// wait waits until one of events (POLLIN, POLLOUT) or an error is there, at most d; 0 after that.
func (c *conn) wait(events int16, d time.Duration) int16 {
	fds := [1]unix.PollFd{{Fd: int32(c.fd), Events: events}}
	ppoll(fds[:], d)
	return fds[0].Revents
}

// ppoll is poll with a timeout that is not rounded to milliseconds; a signal ends it early. Negative: no timeout.
func ppoll(fds []unix.PollFd, d time.Duration) {
	var ts *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		ts = &t
	}
	// An error here is EINTR or ENOMEM; either way there are no events and the caller comes again.
	_, _ = unix.Ppoll(fds, ts, nil)
}

// unread reports whether bytes have arrived that nobody has read.
func (c *conn) unread() bool {
	n, err := unix.IoctlGetInt(c.fd, unix.TIOCINQ)
	return err == nil && n > 0
}

// shutdown ends the connection in both directions: whoever reads or writes returns. Bytes that have arrived can still be read.
func (c *conn) shutdown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // ENOTCONN: the peer was first
	}
}

// close gives the descriptor back. Nobody may be reading or writing.
func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		_ = unix.Close(c.fd)
	}
}
