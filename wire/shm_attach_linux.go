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

// rights reads from a Unix socket and keeps the first descriptor that comes along, which Read on the socket itself would drop.
type rights struct {
	*net.UnixConn
	fd int // -1: none
}

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
			if r.fd < 0 {
				r.fd = fd
				unix.CloseOnExec(fd)
			} else {
				_ = unix.Close(fd)
			}
		}
	}
	return n, err
}

func (r *rights) drop() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// withRights gives what to read the answer to a Hello from: with descriptors, if the connection can carry them. done drops what has not been used.
func withRights(conn net.Conn) (r io.Reader, done func()) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return conn, func() {}
	}
	x := &rights{UnixConn: u, fd: -1}
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
		return share(came.fd, conn)
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
	came := &rights{UnixConn: c.(*net.UnixConn), fd: -1}
	defer came.drop()
	if _, err := io.ReadFull(came, make([]byte, 1)); err != nil {
		return nil, err
	}
	return share(came.fd, conn)
}

// canShare says that this system knows how.
const canShare = true

func share(fd int, conn net.Conn) (transport, error) {
	if fd < 0 {
		return nil, errors.New("no descriptor came")
	}
	b, err := mapShared(fd)
	if err != nil {
		return nil, err
	}
	return newShm(b, 1, rawConn(conn)), nil
}
