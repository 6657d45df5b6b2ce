package wire

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	streamBuffer   = 512 << 10              // bytes, in each direction
	streamChunk    = 128 << 10              // bytes that are written at once: only then is there room for others in their place
	streamLastWord = 500 * time.Millisecond // how long what was taken before a shutdown may take to be sent
)

// stream is the transport over any net.Conn: TLS, a pipe, a socket of a system that has no other transport. Such a connection can only be
// read and written by calls that block, and a TLS one is of no use after a write that was given up, so two goroutines do nothing else, with a
// buffer each.
type stream struct {
	conn     net.Conn
	mu       sync.Mutex
	in, out  ring
	inErr    error         // why no more is going to come
	outErr   error         // why no more can be sent
	ending   bool          // shutdown was called
	woken    bool          // wake was called
	changed  chan struct{} // closed, and made again, when any of the above has changed while somebody waits
	waiters  int
	sent     chan struct{} // closed when the sending goroutine has ended
	inBytes  atomic.Uint64
	outBytes atomic.Uint64
}

func newStream(conn net.Conn) *stream {
	s := &stream{conn: conn, changed: make(chan struct{}), sent: make(chan struct{}), in: newRing(), out: newRing()}
	go s.receive()
	go s.send()
	return s
}

// notify tells all who wait that something has changed, with mu.
func (s *stream) notify() {
	if s.waiters > 0 {
		close(s.changed)
		s.changed, s.waiters = make(chan struct{}), 0
	}
}

// await waits, with mu, until done says so, at most d, for ever if that is negative. mu is not held meanwhile.
func (s *stream) await(d time.Duration, done func() bool) {
	var over <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	for !done() {
		s.waiters++
		changed := s.changed
		s.mu.Unlock()
		timeout := false
		select {
		case <-changed:
		case <-over:
			timeout = true
		}
		s.mu.Lock()
		if timeout {
			return
		}
	}
}

// receive reads from the connection until that ends.
func (s *stream) receive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.inErr == nil {
		s.await(-1, func() bool { return s.inErr != nil || len(s.in.space()) > 0 })
		if s.inErr != nil {
			break
		}
		p := s.in.space()
		s.mu.Unlock()
		n, err := s.conn.Read(p)
		s.mu.Lock()
		s.in.added(n)
		s.inBytes.Add(uint64(n))
		if err != nil && s.inErr == nil {
			s.inErr = err
		}
		s.notify()
	}
}

// send writes to the connection until the end, and closes it.
func (s *stream) send() {
	defer close(s.sent)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.outErr == nil {
		s.await(-1, func() bool { return s.ending || len(s.out.data()) > 0 })
		p := s.out.data()
		p = p[:min(len(p), streamChunk)]
		if len(p) == 0 {
			s.outErr = net.ErrClosed
			break
		}
		s.mu.Unlock()
		n, err := s.conn.Write(p)
		s.mu.Lock()
		s.out.took(n)
		if err != nil {
			s.outErr = err
		}
		s.notify()
	}
	s.notify()
	s.mu.Unlock()
	_ = s.conn.Close() // why it ended is known by now
	s.mu.Lock()
}

func (s *stream) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.await(-1, s.hasInput)
	n := copy(p, s.in.data())
	if n == 0 {
		return 0, s.inErr
	}
	s.in.took(n)
	s.notify()
	return n, nil
}

func (s *stream) hasInput() bool { return len(s.in.data()) > 0 || s.inErr != nil }
func (s *stream) hasRoom() bool  { return len(s.out.space()) > 0 || s.outErr != nil || s.ending }

func (s *stream) tryWrite(a, b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outErr != nil {
		return 0, s.outErr
	}
	if s.ending {
		return 0, net.ErrClosed
	}
	n := s.out.put(a)
	if n == len(a) {
		n += s.out.put(b)
	}
	if n == 0 && len(a)+len(b) > 0 {
		return 0, errAgain
	}
	s.outBytes.Add(uint64(n))
	s.notify()
	return n, nil
}

func (s *stream) wait(want readiness, d time.Duration) (got readiness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.await(d, func() bool {
		if want&readable != 0 && s.hasInput() {
			got |= readable
		}
		if want&writable != 0 && s.hasRoom() {
			got |= writable
		}
		return got != 0
	})
	return got
}

func (s *stream) rest(d time.Duration, watch bool) (woken, readable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.await(d, func() bool { return s.woken || watch && s.hasInput() })
	woken, s.woken = s.woken, false
	return woken, watch && s.hasInput()
}

func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.woken = true
	s.notify()
}

func (s *stream) unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.in.data()) > 0
}

func (s *stream) traffic() (in, out uint64) { return s.inBytes.Load(), s.outBytes.Load() }

func (s *stream) path() (float64, bool) { return 0, false }

func (s *stream) peer() net.Addr { return s.conn.RemoteAddr() }

func (s *stream) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return
	}
	s.ending = true
	if s.inErr == nil {
		s.inErr = io.EOF
	}
	// A connection that knows no deadlines, with a peer that does not read, costs a goroutine until it does.
	_ = s.conn.SetWriteDeadline(time.Now().Add(streamLastWord))
	s.notify()
}

func (s *stream) close() {
	s.shutdown()
	select {
	case <-s.sent:
	case <-time.After(2 * streamLastWord): // a connection without deadlines
		_ = s.conn.Close()
	}
}
