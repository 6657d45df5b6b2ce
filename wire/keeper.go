package wire

import (
	"fmt"
	"sync/atomic"
	"time"
)

const (
	flushTick  = 50 * time.Microsecond // with the kernel's timer slack of 50 µs posted frames leave within 100 µs
	replyTick  = time.Millisecond      // the same for replies, which the server's reader sends as a rule
	activeTime = 2 * time.Millisecond  // how long after a posted frame the keeper goes on ticking
	readDelay  = time.Millisecond      // how long nobody must have been reading before the keeper does
	idleDelay  = 50 * time.Millisecond // the same where nothing is awaited but by callers, who read it themselves
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
	t     transport
	poke  chan struct{} // wakes it
	state atomic.Int32
	rests atomic.Bool // it is about to rest in the transport, or does
	unlit atomic.Bool // frames wait in the buffer since the last look
	long  atomic.Bool // it relies on the reader to be woken when he leaves
	quit  atomic.Bool
	done  chan struct{} // closed when it has ended

	flush   time.Duration         // how often the buffer is looked at while there has been something in it
	beat    time.Duration         // heartbeat interval; 0: none
	ping    func()                // appends one, with out.mu
	writing bool                  // the keeper itself has the write role; of who has it
	reading func() (bool, uint64) // whether somebody reads, and how many have; nil on a server
	eager   func() bool           // whether something is awaited by others than callers
	read    func()                // reads what has arrived

	tick    time.Duration                      // how often the silence of the peer is looked at
	limit   time.Duration                      // how long the peer may be silent
	waiting func() bool                        // whether that matters now
	lost    func(error)                        // told when it was silent for too long
	survive func(err error, within bool) error // if not nil, told before: no error if it is not the end
	heard   uint64                             // bytes that had come when the peer was last heard of
	within  func() bool                        // whether the rest of a frame is waited for
	silence time.Duration
	timer   *time.Timer
}

// newKeeper makes one for a peer that may be silent for limit.
func newKeeper(o *out, t transport, limit time.Duration) *keeper {
	return &keeper{o: o, t: t, poke: make(chan struct{}, 1), done: make(chan struct{}), flush: flushTick, limit: limit, tick: tickFor(limit)}
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
	select {
	case k.poke <- struct{}{}:
	default: // has been poked
	}
	if k.rests.Load() {
		k.t.wake()
	}
}

// stop makes the keeper end.
func (k *keeper) stop() {
	k.quit.Store(true)
	k.wake()
}

func (k *keeper) run() {
	defer close(k.done)
	k.timer = time.NewTimer(k.tick)
	defer k.timer.Stop()
	var reads uint64
	posted, readSeen := time.Now().Add(-activeTime), time.Now() // when there was something to flush; when somebody read
	sent, sentAt := uint64(0), time.Now()
	for !k.quit.Load() {
		now := time.Now()
		if k.unlit.Swap(false) {
			posted = now
			k.send(false)
		}
		if n := k.o.frames.Load(); n != sent {
			sent, sentAt = n, now
		}
		sleep := time.Duration(-1)
		if k.beat > 0 {
			if now.Sub(sentAt) >= k.beat {
				k.send(true)
				sentAt = now
			}
			sleep = k.beat - now.Sub(sentAt)
		}
		if sleep < 0 || sleep > k.tick {
			sleep = k.tick
		}
		watch := false
		if k.reading != nil {
			busy, n := k.reading()
			if n != reads {
				reads, readSeen = n, now
			}
			delay := idleDelay // for many clients on few cores a look each millisecond would be most of the work
			if k.eager() {
				delay = readDelay
			}
			switch {
			case now.Sub(readSeen) < delay:
				sleep = delay
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
			sleep = k.flush
			k.state.Store(keeperTicking)
		} else if k.state.Swap(keeperAsleep) == keeperWoken {
			k.state.Store(keeperTicking) // woken since the last look: look again
			select {
			case <-k.poke:
			default:
			}
			continue
		}
		if k.unlit.Load() {
			continue
		}
		if k.rest(sleep, watch) {
			if err := k.quiet(sleep); err != nil {
				k.lost(err)
			}
		}
		k.long.Store(false)
	}
}

// send sends what is in the buffer, after a PING if so wanted. If somebody else is sending that will do: the keeper must not wait for him.
func (k *keeper) send(ping bool) {
	o := k.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing || o.dead {
		o.wanted = true
		return
	}
	if ping {
		k.ping()
	}
	k.writing = true
	o.flush()
	k.writing = false
}

// left is told that a reader has left the role to nobody.
func (k *keeper) left() {
	if k.long.Load() {
		k.wake()
	}
}

// rest sleeps until it is woken, d has passed or (watch) there is something to read, which it then reads. It reports whether just the time
// has passed.
//
// A goroutine in a system call keeps its processor until sysmon takes it away, and a sysmon that has found something to take looks again every
// 20 µs for a while, which on a small machine slows the calls of others down by several percent. So while calls are made, which is when the keeper
// wakes often and does not watch the socket, it sleeps by the scheduler's means.
func (k *keeper) rest(d time.Duration, watch bool) bool {
	if d >= readDelay && !watch {
		k.timer.Reset(d)
		select {
		case <-k.poke:
			return false
		case <-k.timer.C:
			return true
		}
	}
	var woken, readable bool
	k.rests.Store(true)
	if k.state.Load() != keeperWoken { // whoever wakes it from here on sees that it rests
		woken, readable = k.t.rest(d, watch)
	}
	k.rests.Store(false)
	if readable {
		k.read()
	}
	return !woken && !readable && k.state.Load() != keeperWoken
}

// quiet counts the time d in which, as far as the keeper was awake, nothing may have come. A process that is stopped for an hour counts
// no more than one sleep of that, and then reads what has come meanwhile. It is an error when the peer has been silent for too long.
func (k *keeper) quiet(d time.Duration) error {
	within := k.within()
	if n, _ := k.t.traffic(); !k.waiting() || n != k.heard && !(within && k.onlyBeats(n-k.heard)) {
		k.heard, k.silence = n, 0
		return nil
	}
	if k.silence += d; k.silence < k.limit {
		return nil
	}
	silence := k.silence
	k.silence = 0
	if k.t.unread() {
		return nil
	}
	err := fmt.Errorf("the peer has been silent for %v", silence.Round(time.Millisecond))
	if within {
		err = fmt.Errorf("a message has not gone on for %v: the peer is silent, or its length was changed on the way", silence.Round(time.Millisecond))
	}
	if k.survive != nil {
		return k.survive(err, within)
	}
	return err
}

// onlyBeats reports whether so many bytes, since the silence began, are no more than the peer's heartbeats. In the middle of a frame there are none; but if the
// frame's length was changed on its way to a greater one, they are taken for its rest, and would count as a sign of life for ever.
func (k *keeper) onlyBeats(n uint64) bool {
	return k.beat > 0 && n <= HeaderSize*uint64(k.silence/k.beat+2)
}

// tickFor is how often a wait of that length is looked after.
func tickFor(timeout time.Duration) time.Duration {
	return min(max(timeout/8, time.Millisecond), time.Second)
}
