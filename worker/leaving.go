package worker

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// errLeft is the end of a client that did not wait for its session to begin.
var errLeft = errors.New("the client left before its session began")

// hungUp reports whether the other side of a socket has closed it.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// whileThere makes a context that ends, because of errLeft, when the client of a connection that nobody reads from closes it. stop ends the watch, and the
// context.
func whileThere(parent context.Context, conn net.Conn) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if s, ok := conn.(*wire.SecureConn); ok {
		conn = s.Conn
	}
	raw, err := raw(conn)
	if err != nil {
		return ctx, func() { cancel(nil) }
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		left := false
		_ = raw.Read(func(fd uintptr) bool { // called again whenever there is something to be seen
			left = hungUp(int(fd))
			return left
		})
		if left {
			cancel(errLeft)
		}
	}()
	return ctx, func() {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-watched
		_ = conn.SetReadDeadline(time.Time{})
		cancel(nil)
	}
}

func raw(conn net.Conn) (syscall.RawConn, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return c.SyscallConn()
}
