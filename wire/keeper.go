package wire

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	flushTick  = 50 * time.Microsecond // with the kernel's timer slack of 50 µs posted frames leave within 100 µs
	activeTime = 2 * time.Millisecond  // how long after a posted frame the keeper goes on ticking
	readDelay  = time.Millisecond      // how long nobody must have been reading before the keeper does
)

// States of a keeper. To wake it costs its caller more than a microsecond, so after a posted frame it ticks for a while on its own.
const (
	keeperTicking = iota // looks at the buffer again by itself
	keeperAsleep         // must be woken
	keeperWoken          // has been
)

// A keeper is the goroutine that does for a connection what has no caller: it sends what was posted and not flushed, sends heartbeats, and (on
// a client) reads while no caller does.
type keeper struct {
	o     *out
	c     *conn
	event int // eventfd that wakes it
	state atomic.Int32
	unlit atomic.Bool // frames wait in the buffer since the last look
	long  atomic.Bool // it relies on the reader to be woken when he leaves
	quit  atomic.Bool
	done  chan struct{} // closed when it has ended

	mu     sync.Mutex // orders wake and the end of event
	closed bool

	beat    time.Duration         // heartbeat interval; 0: none
	ping    func()                // sends one
	reading func() (bool, uint64) // whether somebody reads, and a count that changes with each read; nil on a server
	read    func()                // reads what has arrived
	quiet   func(time.Duration)   // told how long the socket gave nothing while it was watched
}

func newKeeper(o *out, c *conn) (*keeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &keeper{o: o, c: c, event: fd, done: make(chan struct{})}, nil
}

// dirty is told, with out.mu, that frames wait in the buffer.
func (k *keeper) dirty() {
	if !k.unlit.Load() {
		k.unlit.Store(true)
	}
	if k.state.Load() == keeperAsleep {
		k.wake()
	}
}

// wake ends a sleep, or the next one.
func (k *keeper) wake() {
	if k.state.Swap(keeperWoken) == keeperWoken {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		one := [8]byte{1}
		_, _ = unix.Write(k.event, one[:]) // fails only if it is already full of wakes
	}
}

// stop makes the keeper end.
func (k *keeper) stop() {
	k.quit.Store(true)
	k.wake()
}

// close gives the eventfd back, after the keeper has ended.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.closed = true
		_ = unix.Close(k.event)
	}
}

func (k *keeper) run() {
	defer close(k.done)
	var reads uint64
	posted, readSeen := time.Now().Add(-activeTime), time.Now() // when there was something to flush; when somebody read
	sent, sentAt := uint64(0), time.Now()
	for !k.quit.Load() {
		now := time.Now()
		if k.unlit.Swap(false) {
			posted = now
			k.o.mu.Lock()
			k.o.flush()
			k.o.mu.Unlock()
		}
		if n := k.o.frames.Load(); n != sent {
			sent, sentAt = n, now
		}
		sleep := time.Duration(-1)
		if k.beat > 0 {
			if now.Sub(sentAt) >= k.beat {
				k.ping()
				continue
			}
			sleep = k.beat - now.Sub(sentAt)
		}
		watch := false
		if k.reading != nil {
			busy, n := k.reading()
			if n != reads {
				reads, readSeen = n, now
			}
			switch {
			case now.Sub(readSeen) < readDelay:
				sleep = readDelay
			case busy:
				k.long.Store(true)
				if busy, n = k.reading(); !busy || n != reads {
					sleep = 0
				}
			default:
				watch = true
			}
		}
		if now.Sub(posted) < activeTime {
			sleep = flushTick
			k.state.Store(keeperTicking)
		} else if k.state.Swap(keeperAsleep) == keeperWoken {
			k.state.Store(keeperTicking) // woken since the last sleep: look again
			k.rest(0, false)
			continue
		}
		if k.unlit.Load() {
			continue
		}
		k.rest(sleep, watch)
		k.long.Store(false)
	}
}

// left is told that a reader has left the role to nobody.
func (k *keeper) left() {
	if k.long.Load() {
		k.wake()
	}
}

// rest sleeps until it is woken, d has passed or (watch) there is something to read.
func (k *keeper) rest(d time.Duration, watch bool) {
	fds := [2]unix.PollFd{{Fd: int32(k.event), Events: unix.POLLIN}, {Fd: int32(k.c.fd), Events: unix.POLLIN}}
	n := 1
	if watch {
		n = 2
	}
	if d != 0 || !watch {
		ppoll(fds[:n], d)
	}
	if fds[0].Revents != 0 {
		var b [8]byte
		_, _ = unix.Read(k.event, b[:])
	}
	if watch {
		if fds[1].Revents != 0 {
			k.read()
		} else if fds[0].Revents == 0 && k.quiet != nil {
			k.quiet(d)
		}
	}
}
