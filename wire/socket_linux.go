package wire

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/mono"
)

// rawLimit is the longest send, in bytes, that is done without telling the Go scheduler: it cannot block, keeps the processor for some ten
// microseconds at most, and saves the way through entersyscall.
const rawLimit = 64 << 10

// socket is the transport over a connected stream socket. On a client it is in blocking mode and bypasses the netpoller: a goroutine that waits
// for a reply is woken by the kernel, not by another thread. On a server it waits in one of three ways: in a read while requests come fast, so that the kernel wakes the right
// thread at once; by the poller while they do not; and in between, if the process is there for nothing else (alone), in a read of which the scheduler is not told, see shortWait.
type socket struct {
	fd      int
	server  bool
	alone   bool       // ServerOptions.Alone
	far     bool       // of a server's reader: requests are far apart
	turn    turn       // of a server's reader
	polled  *polled    // of a server's reader; nil until it is needed
	event   int        // eventfd that ends a rest
	mu      sync.Mutex // orders shutdown, wake and close
	closed  bool
	limited bool          // SO_RCVTIMEO is set
	short   time.Duration // shortWait
	lately  int64         // of the reader: how long reads have waited, see waited
	msg     unix.Msghdr   // of the writer
	iov     [2]unix.Iovec
	in, out atomic.Uint64 // bytes
}

// newTransport takes conn over, which is closed on an error too.
func newTransport(conn net.Conn) (transport, error) {
	if c, ok := conn.(*SecureConn); ok {
		return c.transport()
	}
	sc, ok := conn.(interface{ File() (*os.File, error) })
	if !ok {
		return newStream(conn), nil
	}
	f, err := sc.File()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := conn.Close(); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return newSocket(fd)
}

// newSocket takes over fd, which is closed on an error too.
func newSocket(fd int) (*socket, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	if family == unix.AF_INET || family == unix.AF_INET6 {
		// Options that only make things better: a socket without them still works.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 6)
		if sa, err := unix.Getpeername(fd); err == nil {
			chooseCongestion(fd, isLoopback(sa))
		}
	} else {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 2<<20)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return &socket{fd: fd, event: event, short: shortWait}, nil
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

// read waits for ever: the keeper looks after the time and ends a wait by shutdown.
func (s *socket) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	start := mono.Now()
	defer s.waited(start)
	untold := (!s.server || s.alone) && len(p) <= rawLimit && s.limit(s.lately)
	if s.server {
		s.rests(start, untold)
	}
	for {
		n, e := s.receive(p, untold)
		switch {
		case e == 0 && n == 0:
			return 0, io.EOF
		case e == 0:
			s.in.Add(uint64(n))
			return n, nil
		case e == unix.EAGAIN:
			s.limit(0)
			if untold = false; s.server {
				s.poll()
			}
		case e != unix.EINTR:
			return 0, e
		default:
			untold = untold && mono.Now()-start < int64(s.short)
		}
	}
}

const (
	longWait  = int64(150 * time.Microsecond) // from here on it pays to wait in another way than in a read
	nearWait  = int64(60 * time.Microsecond)  // from here on down a server's thread waits in its read again
	waitBound = int64(time.Millisecond)       // what counts of a longer wait, so that a pause is soon forgotten
)

// rests, on a server, waits by the poller where that is better than in the read that follows.
func (s *socket) rests(now int64, untold bool) {
	switch {
	case s.lately >= longWait:
		s.far = true
	case s.lately < nearWait:
		s.far = false
	}
	if s.far && !untold || s.turn.over(now) {
		s.poll()
	}
}

// poll waits by the poller; if that cannot be had, not at all.
func (s *socket) poll() {
	if s.polled == nil {
		p, err := newPolled(s.fd)
		if err != nil {
			return
		}
		s.polled = p
	}
	_ = s.polled.wait() // an error is the read's to find
}

// waited notes that a read began at start (mono.Now) and is over.
func (s *socket) waited(start int64) {
	s.lately += (min(mono.Now()-start, waitBound) - s.lately) / 8
}

func (s *socket) tryWrite(a, b []byte) (int, error) {
	if len(a) == 0 {
		a, b = b, nil
	}
	if len(a) == 0 {
		return 0, nil
	}
	for {
		n, e := s.send(a, b)
		switch e {
		case 0:
			s.out.Add(uint64(n))
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errAgain
		default:
			return 0, e
		}
	}
}

func (s *socket) send(a, b []byte) (n uintptr, e syscall.Errno) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	switch {
	case len(b) == 0 && len(a) <= rawLimit:
		n, _, e = syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)), flags, 0, 0)
		return n, e
	case len(b) == 0:
		n, _, e = syscall.Syscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)), flags, 0, 0)
		return n, e
	}
	s.iov[0].Base, s.iov[1].Base = &a[0], &b[0]
	s.iov[0].SetLen(len(a))
	s.iov[1].SetLen(len(b))
	s.msg.Iov = &s.iov[0]
	s.msg.SetIovlen(2)
	n, _, e = syscall.Syscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.msg)), flags)
	s.iov[0].Base, s.iov[1].Base = nil, nil
	return n, e
}

func (s *socket) wait(want readiness, d time.Duration) readiness {
	fds := [1]unix.PollFd{{Fd: int32(s.fd)}}
	if want&readable != 0 {
		fds[0].Events |= unix.POLLIN
	}
	if want&writable != 0 {
		fds[0].Events |= unix.POLLOUT
	}
	ppoll(fds[:], d)
	got, ev := readiness(0), fds[0].Revents
	if ev&^(unix.POLLIN|unix.POLLOUT) != 0 {
		return want
	}
	if ev&unix.POLLIN != 0 {
		got |= readable
	}
	if ev&unix.POLLOUT != 0 {
		got |= writable
	}
	return got
}

func (s *socket) rest(d time.Duration, watch bool) (woken, readable bool) {
	fds := [2]unix.PollFd{{Fd: int32(s.event), Events: unix.POLLIN}, {Fd: int32(s.fd), Events: unix.POLLIN}}
	n := 1
	if watch {
		n = 2
	}
	ppoll(fds[:n], d)
	if woken = fds[0].Revents != 0; woken {
		var b [8]byte
		_, _ = unix.Read(s.event, b[:])
	}
	return woken, fds[1].Revents != 0
}

func (s *socket) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		one := [8]byte{1}
		_, _ = unix.Write(s.event, one[:]) // fails only if it is already full of wakes
	}
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

func (s *socket) unread() bool {
	n, err := unix.IoctlGetInt(s.fd, unix.TIOCINQ)
	return err == nil && n > 0
}

func (s *socket) traffic() (in, out uint64) { return s.in.Load(), s.out.Load() }

// queuedLeast is how many bytes must wait to be sent before the way is what holds them up.
const queuedLeast = 32 << 10

func (s *socket) path() (rate float64, queued bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, false
	}
	i, err := unix.GetsockoptTCPInfo(s.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, false
	}
	return float64(i.Delivery_rate), i.Notsent_bytes >= queuedLeast
}

func (s *socket) peer() net.Addr { return peerName(s.fd) }

// peerName is a socket's other side, nil if it is not known.
func peerName(fd int) net.Addr {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return nil
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: a.Name, Net: "unix"}
	}
	return nil
}

func (s *socket) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // ENOTCONN: the peer was first
	}
}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		if s.polled != nil {
			s.polled.close()
		}
		_ = unix.Close(s.fd)
		_ = unix.Close(s.event)
	}
}
