package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// Bytes of records that are received and sent at once, at most: each time wakes the other side, and other cores that help.
const (
	secureIn  = 2 << 20
	secureOut = 2 << 20
)

// secured is the transport over a socket under TLS: records are decrypted straight to where data belongs, and made in a buffer that is used again.
type secured struct {
	socket   *socket           // not embedded: what it can do in plain, this cannot
	in       *tlsrecord.Reader // of whoever reads
	inErr    error             // of the socket
	ready    atomic.Bool       // there is something to read that has left the socket
	owed     atomic.Bool       // the peer wants this side to update its key
	mu       sync.Mutex        // of all below
	out      *tlsrecord.Writer
	ended    bool // close notify has been sent
	inBytes  atomic.Uint64
	outBytes atomic.Uint64
}

// newTransportFD takes over fd, which is closed on an error too, and what protects it, nil for nothing.
func newTransportFD(fd int, security []byte) (transport, error) {
	s, err := newSocket(fd)
	if err != nil || security == nil {
		return s, err
	}
	st, err := tlsrecord.ParseState(security)
	if err != nil {
		s.close()
		return nil, err
	}
	return newRecords(s, st)
}

// newRecords is the transport over a socket, which is closed on an error, under TLS.
func newRecords(s *socket, st *tlsrecord.State) (transport, error) {
	if st.Kernel && len(st.Raw)+len(st.Message) == 0 {
		t, err := newKernelTLS(s, st)
		if err == nil {
			return t, nil
		}
		if errors.As(err, new(*kernelError)) {
			s.close()
			return nil, err
		}
	}
	return newSecured(s, st)
}

// transport goes on with the connection's socket.
func (c *SecureConn) transport() (transport, error) {
	if _, ok := c.Conn.(interface{ File() (*os.File, error) }); !ok {
		return newStream(c), nil
	}
	st, err := c.giveAway()
	if err != nil {
		return nil, errors.Join(err, c.Conn.Close())
	}
	t, err := newTransport(c.Conn)
	if err != nil {
		return nil, err
	}
	st.Kernel = KernelTLS()
	return newRecords(t.(*socket), st)
}

func newSecured(s *socket, st *tlsrecord.State) (*secured, error) {
	t := &secured{socket: s}
	var err error
	if t.in, err = st.Reader(secureIn); err != nil {
		s.close()
		return nil, err
	}
	if t.out, err = st.Writer(secureOut); err != nil {
		s.close()
		return nil, err
	}
	t.in.Owed = func() { t.owed.Store(true) }
	t.ready.Store(t.in.Ready())
	return t, nil
}

func (s *secured) read(p []byte) (int, error) {
	for len(p) > 0 {
		n, err := s.in.Read(p)
		if n > 0 || err != nil {
			return s.got(n, err)
		}
		if s.inErr != nil {
			return s.got(0, s.inErr)
		}
		k, err := s.socket.read(s.in.Space())
		s.arrived(k, err)
	}
	return 0, nil
}

// got is what read returns.
func (s *secured) got(n int, err error) (int, error) {
	s.ready.Store(s.in.Ready())
	s.inBytes.Add(uint64(n))
	if e := (*tlsrecord.Error)(nil); errors.As(err, &e) {
		s.alert(e.Alert)
	} else if errors.Is(err, tlsrecord.ErrCorrupted) {
		s.alert(tlsrecord.BadRecordMAC)
	}
	return n, recordError(err)
}

func (s *secured) arrived(n int, err error) {
	s.in.Filled(n)
	if errors.Is(err, io.EOF) {
		err = tlsrecord.ErrTruncated
	}
	s.inErr = err
}

func (s *secured) tryWrite(a, b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, net.ErrClosed
	}
	if s.owed.Load() && s.owed.Swap(false) {
		s.out.Owe()
	}
	if err := s.out.Fill(a, b); err != nil {
		return 0, err
	}
	s.out.Ahead(a, b)
	k, err := s.socket.tryWrite(s.out.Pending(), nil)
	s.out.Caught()
	s.out.Sent(k)
	n := s.out.Taken(len(a) + len(b))
	s.outBytes.Add(uint64(n))
	switch {
	case n > 0 || len(a)+len(b) == 0:
		return n, nil
	case err == nil:
		err = errAgain
	}
	return 0, err
}

// alert sends one behind all else, if the socket takes it, and nothing more.
func (s *secured) alert(code tlsrecord.AlertCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.out.Alert(code)
	for p := s.out.Pending(); len(p) > 0; p = s.out.Pending() {
		k, err := s.socket.tryWrite(p, nil)
		if err != nil { // the peer sees the end of the connection all the same
			return
		}
		s.out.Sent(k)
	}
}

// wait for something to read is for whoever reads: a part of a record is nothing to read yet.
func (s *secured) wait(want readiness, d time.Duration) readiness {
	if want&readable == 0 {
		return s.socket.wait(want, d)
	}
	for end := time.Now().Add(d); ; {
		if s.inErr != nil || s.in.Ahead() {
			return readable
		}
		got := s.socket.wait(want, d)
		if got&readable == 0 {
			return got
		}
		p := s.in.Space()
		n, _, e := syscall.Syscall6(unix.SYS_RECVFROM, uintptr(s.socket.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case e == unix.EAGAIN || e == unix.EINTR:
		case e != 0:
			s.inErr = e
		case n == 0:
			s.inErr = tlsrecord.ErrTruncated
		default:
			s.in.Filled(int(n))
			s.socket.in.Add(uint64(n))
		}
		s.ready.Store(s.in.Ready() || s.inErr != nil)
		if got&writable != 0 && !s.ready.Load() {
			return writable
		}
		if d >= 0 {
			d = max(time.Until(end), 0)
		}
	}
}

func (s *secured) rest(d time.Duration, watch bool) (woken, readable bool) {
	if watch && s.ready.Load() {
		return false, true
	}
	return s.socket.rest(d, watch)
}

func (s *secured) wake()          { s.socket.wake() }
func (s *secured) peer() net.Addr { return s.socket.peer() }
func (s *secured) close()         { s.socket.close() }

func (s *secured) unread() bool { return s.ready.Load() || s.socket.unread() }

func (s *secured) path() (float64, bool) { return s.socket.path() }

func (s *secured) traffic() (in, out uint64) { return s.inBytes.Load(), s.outBytes.Load() }

func (s *secured) shutdown() {
	s.alert(tlsrecord.CloseNotify)
	s.socket.shutdown()
}

// checked goes on with checksums.
func (s *socket) checked(st *tlsrecord.State) (transport, error) { return newSecured(s, st) }
