package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// connOf takes over a descriptor of a socket.
func connOf(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	return net.FileConn(f)
}

// rights reads from a Unix socket and keeps the first two descriptors that come along, which Read on the socket itself would drop.
type rights struct {
	*net.UnixConn
	fd, channel int // -1: none
}

func newRights(c *net.UnixConn) *rights { return &rights{UnixConn: c, fd: -1, channel: -1} }

func (r *rights) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := r.ReadMsgUnix(p, oob)
	if n == 0 && err == nil {
		err = io.EOF
	}
	messages, _ := unix.ParseSocketControlMessage(oob[:oobn])
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i])
		for _, fd := range fds {
			switch {
			case r.fd < 0:
				r.fd = fd
			case r.channel < 0:
				r.channel = fd
			default:
				_ = unix.Close(fd)
				continue
			}
			unix.CloseOnExec(fd)
		}
	}
	return n, err
}

func (r *rights) drop() {
	for _, fd := range [...]*int{&r.fd, &r.channel} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
			*fd = -1
		}
	}
}

// withRights gives what to read the answer to a Hello from: with descriptors, if the connection can carry them. done drops what has not been used.
func withRights(conn net.Conn) (r io.Reader, done func()) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return conn, func() {}
	}
	x := newRights(u)
	return x, x.drop
}

// attachTime is how long getting the descriptor may take: there is another way.
const attachTime = 2 * time.Second

// attach follows a server's offer of shared memory: with the descriptor that came along with it, out of r, or the one that is to be had where the offer says.
func attach(ctx context.Context, conn net.Conn, r io.Reader, o shareOffer) (transport, error) {
	if o.place == "" {
		came, ok := r.(*rights)
		if !ok {
			return nil, errors.New("no place to get the descriptor")
		}
		return came.share(conn)
	}
	ctx, cancel := context.WithTimeout(ctx, attachTime)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", o.place)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if t, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(t) // a Unix socket has deadlines
	}
	if _, err := c.Write(o.token[:]); err != nil {
		return nil, err
	}
	came := newRights(c.(*net.UnixConn))
	defer came.drop()
	if _, err := io.ReadFull(came, make([]byte, 1)); err != nil {
		return nil, err
	}
	return came.share(conn)
}

// canShare says that this system knows how.
const canShare = true

// share makes the transport, which takes the channel over. A server of before has none.
func (r *rights) share(conn net.Conn) (transport, error) {
	if r.fd < 0 {
		return nil, errors.New("no descriptor came")
	}
	b, err := mapShared(r.fd)
	if err != nil {
		return nil, err
	}
	channel := r.channel
	r.channel = -1
	return newShm(b, 1, rawConn(conn), channel), nil
}
