package wire

import (
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/mono"
)

// shm is the transport through shared memory: two rings, and futexes to sleep on. The socket that the connection began on stays open and silent: its
// end is how a side learns that the other one is gone.
//
// Whoever waits looks for a while (see spinner), arms a bell in shared memory, looks once more and sleeps. A bell is never disarmed by who armed it: one
// that rings for nobody costs the peer a system call, one that does not ring a hang. The peer can write what it likes into shared memory, at any time: it
// loses or wakes nobody but this connection's waits by it.
type shm struct {
	in       ringIn
	out      ringOut
	memory   []byte
	client   bool
	lately   int64    // of the reader: how long waits for bytes were, as socket's
	turn     turn     // of a server's reader
	base     net.Conn // the socket
	channel  int      // for descriptors, see pass; -1: none
	name     net.Addr // of the peer
	reads    spinner
	writes   spinner
	sleeps   [3]sleep      // of waits for bytes, other waits, and rests
	putting  sync.Mutex    // of who puts something in, or trims
	far      atomic.Bool   // the ring that is written to has memory that small messages do not use
	trimmed  uint64        // outBytes when trim was last asked, with putting
	awake    atomic.Bool   // the peer did not sleep when something was sent last
	watching atomic.Bool   // the keeper wants to know of bytes
	over     atomic.Uint32 // not 0: the peer has gone, or shutdown was called
	called   atomic.Uint32 // calls to wake, and by read, for the keeper
	answered uint32        // of which the keeper knows
	mu       sync.Mutex    // orders unread, shutdown and close
	ended    bool          // shutdown was called
	closed   bool
	inBytes  atomic.Uint64
	outBytes atomic.Uint64
}

// newShm takes over memory, the socket and the channel, -1 for none. in is the number of the ring to read from.
func newShm(memory []byte, in int, base net.Conn, channel int) *shm {
	head, data := ringHeads(memory)
	s := &shm{client: in == 1, memory: memory, base: base, channel: channel, name: base.RemoteAddr(), reads: newSpinner(in == 1), writes: newSpinner(false)}
	s.in = ringIn{m: head[in], b: data[in]}
	s.out = ringOut{m: head[1-in], b: data[1-in]}
	go s.watch()
	return s
}

// watch waits for the socket's end. Whatever else comes there has no meaning.
func (s *shm) watch() {
	p := make([]byte, 64)
	for {
		if _, err := s.base.Read(p); err != nil {
			call(&s.over)
			return
		}
	}
}

func (s *shm) read(p []byte) (int, error) {
	for len(p) > 0 {
		over := s.over.Load() != 0 // before the ring is looked at: what came before the end is still read
		n, err := s.in.get(p)
		if n > 0 {
			s.inBytes.Add(uint64(n))
			if s.watching.Load() { // he may have missed the bell that rang for us: what is left, and what comes, is his
				arm(&s.in.m.hungry)
				if s.in.peek() {
					call(&s.called)
				}
			}
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		if over {
			return 0, io.EOF
		}
		s.wait(readable, -1)
	}
	return 0, nil
}

func (s *shm) tryWrite(a, b []byte) (int, error) {
	if s.over.Load() != 0 {
		return 0, syscall.EPIPE
	}
	s.putting.Lock() // being trimmed is no reason to take nothing: a last word is said once
	defer s.putting.Unlock()
	s.out.rang = false
	n, err := s.out.put(a)
	if err == nil && n == len(a) {
		var k int
		k, err = s.out.put(b)
		n += k
	}
	if n > 0 {
		s.awake.Store(!s.out.rang)
	}
	s.outBytes.Add(uint64(n))
	if s.out.head-s.out.base > shmNear && !s.far.Load() {
		s.far.Store(true)
	}
	if err == nil && n == 0 && len(a)+len(b) > 0 {
		err = errAgain
	}
	return n, err
}

// ready looks, without waiting. A violation is something to read, and room: whoever comes for it learns what it is.
func (s *shm) ready(want readiness) (got readiness) {
	if want&readable != 0 {
		if n, err := s.in.available(); n > 0 || err != nil {
			got |= readable
		}
	}
	if want&writable != 0 {
		if ok, err := s.out.enough(); ok || err != nil {
			got |= writable
		}
	}
	if s.over.Load() != 0 {
		return want
	}
	return got
}

func (s *shm) wait(want readiness, d time.Duration) readiness {
	if got := s.ready(want); got != 0 || d == 0 {
		return got
	}
	if want&writable != 0 {
		if got := s.writes.spin(s, want, false); got != 0 {
			return got
		}
		return s.sleep(&s.sleeps[1], want, d, false)
	}
	start := mono.Now()
	if !s.client {
		if s.turn.over(start) {
			runtime.Gosched()
		}
	}
	got := s.reads.spin(s, want, s.awake.Load())
	if got == 0 {
		got = s.sleep(&s.sleeps[0], want, d, s.client && s.lately >= longWait)
	}
	s.lately += (min(mono.Now()-start, waitBound) - s.lately) / 8
	return got
}

// sleep is wait with its way of sleeping: if short, at first without telling the scheduler.
func (s *shm) sleep(z *sleep, want readiness, d time.Duration, short bool) readiness {
	start := time.Now()
	end := start.Add(d)
	for {
		z.n = 0
		if want&readable != 0 {
			arm(&s.in.m.hungry)
			z.shared(&s.in.m.hungry, 1)
		}
		if want&writable != 0 {
			arm(&s.out.m.crowded)
			z.shared(&s.out.m.crowded, 1)
		}
		z.own(&s.over, 0)
		if got := s.ready(want); got != 0 {
			return got
		}
		left := d
		if d < 0 && s.far.Load() {
			left = idleTime
			s.trim()
		}
		if d > 0 {
			if left = time.Until(end); left <= 0 {
				return 0
			}
		}
		if short {
			short = z.waitShort(left) && time.Since(start) < shortWait
		} else {
			z.wait(left)
		}
	}
}

func (s *shm) rest(d time.Duration, watch bool) (woken, readable bool) {
	z := &s.sleeps[2]
	z.n = 0
	if watch {
		s.trim()
		s.watching.Store(true)
		defer s.watching.Store(false)
		arm(&s.in.m.hungry)
		z.shared(&s.in.m.hungry, 1)
		z.own(&s.over, 0)
	}
	z.own(&s.called, s.answered)
	input := func() bool { return watch && (s.in.peek() || s.over.Load() != 0) }
	if !input() {
		z.wait(d)
	}
	// A bell that rang for what somebody else has read ends the rest, too; so does a sleep that ends for no reason. Neither is time that has passed.
	n := s.called.Load()
	woken, s.answered = n != s.answered || watch && atomic.LoadUint32(&s.in.m.hungry) == 0, n
	return woken, input()
}

// idleTime is after how long without anything to send a ring's memory is given back.
const idleTime = time.Second

// trim gives the memory of large messages back, if nothing has been sent since it was last asked. Each side does for the ring it writes to, who waits for bytes or the
// keeper.
func (s *shm) trim() {
	if !s.far.Load() || !s.putting.TryLock() {
		return
	}
	defer s.putting.Unlock()
	if out := s.outBytes.Load(); out != s.trimmed {
		s.trimmed = out
	} else if atomic.LoadUint64(&s.out.m.tail) == s.out.head { // a peer that lies loses what it has not read
		_ = unix.Madvise(s.out.b[shmNear:], unix.MADV_REMOVE) // a ring that keeps its memory works as well
		s.far.Store(false)
	}
}

func (s *shm) wake() { call(&s.called) }

// unread also wakes who reads, if a peer has put something in and does not ring: he finds out what it is.
func (s *shm) unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.in.peek() {
		return false
	}
	arm(&s.in.m.hungry)
	knock(&s.in.m.hungry)
	return true
}

func (s *shm) path() (float64, bool) { return 0, false }

func (s *shm) traffic() (in, out uint64) { return s.inBytes.Load(), s.outBytes.Load() }

func (s *shm) peer() net.Addr { return s.name }

// shutdown ends the socket, by which the peer learns of it. It leaves it open: its end must come after what is in the rings.
func (s *shm) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.closed {
		return
	}
	s.ended = true
	if c, ok := s.base.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // not connected: the peer was first
	}
	call(&s.over)
}

func (s *shm) close() {
	s.shutdown()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		_ = unix.Munmap(s.memory)
		_ = s.base.Close()
		if s.channel >= 0 {
			_ = unix.Close(s.channel)
		}
	}
}
