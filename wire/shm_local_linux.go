package wire

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Local offers shared memory to clients on this machine. Those that have come through a Unix socket get its descriptor along with the offer. Others are told
// the name of an abstract socket and a token: who can connect there is in the same network namespace, and who knows the token has read the offer. Where
// either fails, as on a port that was forwarded from another machine, the connection goes on as it is.
type Local struct {
	l       *net.UnixListener
	name    string
	callers atomic.Int32
	mu      sync.Mutex
	waiting map[[shareToken]byte]offered
}

// offered is what a client gets: descriptors that are open as long as the offer lasts.
type offered struct{ memory, channel int }

func (o offered) rights() []byte { return unix.UnixRights(o.memory, o.channel) }

// Memory is what client and server of a connection share, as the server has it. Whoever has it closes it.
type Memory struct {
	FD      int // of the memory
	Channel int // the server's end of the pair of sockets by which descriptors are passed, -1 for none
}

// Close closes the descriptors.
func (m Memory) Close() {
	_ = unix.Close(m.FD)
	if m.Channel >= 0 {
		_ = unix.Close(m.Channel)
	}
}

// Limits of who comes for a descriptor.
const (
	maxCallers = 64
	callerTime = 2 * time.Second
)

// NewLocal makes the abstract socket.
func NewLocal() (*Local, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	s := &Local{name: "@rocwire-" + hex.EncodeToString(b[:]), waiting: map[[shareToken]byte]offered{}}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	s.l = l
	go s.serve()
	return s, nil
}

// Close takes the socket away. Connections that share memory go on.
func (s *Local) Close() error { return s.l.Close() }

// Offer offers shared memory to a client that wants it and is on this machine, after its Hello, and waits at most timeout for the answer. If it is taken, m is
// for NewServerShared; Welcome and everything after it go through the memory, and nothing more through conn. Otherwise the connection is as it was if err
// is ErrNotShared, and of no use for any other.
func (s *Local) Offer(conn net.Conn, hello *Hello, timeout time.Duration) (m Memory, err error) {
	m = Memory{-1, -1}
	if !slices.Contains(hello.Features, FeatureSharedMemory) {
		return m, errNotShared(errors.New("the client does not want it"))
	}
	if !oneMachine(conn) {
		return m, errNotShared(errors.New("the client is on another machine"))
	}
	fd, err := makeShared()
	if err != nil {
		return m, errNotShared(err)
	}
	own, theirs, err := makeChannel()
	if err != nil {
		_ = unix.Close(fd)
		return m, errNotShared(err)
	}
	taken, err := s.offer(conn, offered{fd, theirs}, timeout)
	_ = unix.Close(theirs)
	switch {
	case err != nil:
		err = fmt.Errorf("wire: offering shared memory: %w", err)
	case !taken:
		err = errNotShared(errors.New("the client cannot"))
	default:
		return Memory{fd, own}, nil
	}
	Memory{fd, own}.Close()
	return m, err
}

func (s *Local) offer(conn net.Conn, what offered, timeout time.Duration) (taken bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return false, err
	}
	var o shareOffer
	if u, ok := conn.(*net.UnixConn); ok {
		_, _, err = u.WriteMsgUnix(o.frame(), what.rights(), nil)
	} else {
		o.place = s.name
		_, _ = rand.Read(o.token[:]) // it never fails
		s.register(o.token, what)
		defer s.take(o.token)
		_, err = conn.Write(o.frame())
	}
	if err != nil {
		return false, err
	}
	h, p, err := readHandshake(conn, OpShare)
	if err != nil {
		return false, err
	}
	if taken, err = parseShareAnswer(h, p); err != nil {
		return false, err
	}
	return taken, conn.SetDeadline(time.Time{})
}

func (s *Local) register(token [shareToken]byte, what offered) {
	s.mu.Lock()
	s.waiting[token] = what
	s.mu.Unlock()
}

// take ends an offer; false if it has ended before.
func (s *Local) take(token [shareToken]byte) (what offered, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what, ok = s.waiting[token]
	delete(s.waiting, token)
	return what, ok
}

// serve gives descriptors to those who come for them, until Close.
func (s *Local) serve() {
	for {
		conn, err := s.l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many descriptors, or the caller is gone
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if s.callers.Add(1) > maxCallers {
			s.callers.Add(-1)
			_ = conn.Close()
			continue
		}
		go func() {
			defer s.callers.Add(-1)
			s.give(conn)
			_ = conn.Close()
		}()
	}
}

// give passes one descriptor on, once.
func (s *Local) give(conn *net.UnixConn) {
	var token [shareToken]byte
	if conn.SetDeadline(time.Now().Add(callerTime)) != nil {
		return
	}
	if _, err := io.ReadFull(conn, token[:]); err != nil {
		return
	}
	s.mu.Lock() // and while it is held the descriptors stay open: Offer takes the token back before it closes them
	defer s.mu.Unlock()
	what, ok := s.waiting[token]
	delete(s.waiting, token)
	if ok {
		_, _, _ = conn.WriteMsgUnix([]byte{1}, what.rights(), nil) // one message to a new socket: never waits
	}
}

// NewServerShared takes over a connection whose client has taken shared memory, by the descriptors of that and of the connection's socket, possibly in another
// process than Local's. All are closed on an error too.
func NewServerShared(m Memory, socket int, opt ServerOptions) (*ServerConn, error) {
	b, err := mapShared(m.FD)
	if err != nil {
		m.Close()
		_ = unix.Close(socket)
		return nil, err
	}
	base, err := connOf(socket)
	if err != nil {
		m.Close()
		return nil, errors.Join(err, unix.Munmap(b))
	}
	_ = unix.Close(m.FD)
	t := newShm(b, 0, base, m.Channel)
	return newServer(t, Peer{Addr: t.peer()}, opt), nil
}

// RefuseShared is Refuse for a client that has taken shared memory, which stays the caller's: it hears nothing on conn any more.
func RefuseShared(conn net.Conn, m Memory, code int32, reason string) error {
	p, err := appendWelcome(nil, &Welcome{Code: code, Error: reason[:min(len(reason), MaxReason)]})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	b, err := mapShared(m.FD)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	t := newShm(b, 0, rawConn(conn), -1)
	_, err = t.tryWrite(p, nil) // there is room for it
	t.close()
	return err
}
