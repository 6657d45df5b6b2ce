package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// link is what both ends of a connection have: its transport, both halves, the goroutine that looks after it, and why it ends.
type link struct {
	host, port string
	them       string // the other side, for errors: "server" or "client"
	t          transport
	lasting    *lasting // t, if the connection outlives its transports
	in         in
	out        out
	k          *keeper
	timed      bool // replies may carry their timing

	ended func() // told once, when the connection ends; nil: nobody wants to know

	mu    sync.Mutex
	cause error // why the connection ends, once it does
}

// outlive has the connection outlive its transport, before anything else is sent or read.
func (l *link) outlive(onCut func(error), starved func() error) {
	l.lasting = newLasting(l.t)
	l.lasting.onCut, l.lasting.onDue = onCut, l.out.acknowledgeNow
	l.t, l.in.t, l.out.t, l.k.t = l.lasting, l.lasting, l.lasting, l.lasting
	l.out.lasting, l.out.starved, l.out.spare = l.lasting, starved, nil
	var stuck uint64
	l.k.survive = func(err error, within bool) error {
		if n := l.in.frames.Load(); within && n == stuck {
			return err // another connection has not helped
		} else if within {
			stuck = n
		}
		l.lasting.cutNow(err)
		return nil
	}
	l.out.in = l.lasting.win.take()
	l.out.buf = l.out.in.b[:0]
}

// isCut reports whether there is no transport just now.
func (l *link) isCut() bool { return l.lasting != nil && l.lasting.isCut() }

// path is what the transport says of the way to the other side.
func (l *link) path() (rate float64, queued bool) { return l.t.path() }

// Err is why the connection has ended, or nil.
func (l *link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// error makes an error that names the peer.
func (l *link) error(kind error, reason string, cause error) error {
	return &Error{Kind: kind, Host: l.host, Port: l.port, Reason: reason, Err: cause}
}

// explain makes an error of the connection out of whatever ended it.
func (l *link) explain(err error) error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return err
	}
	kind, reason := ErrLost, err.Error()
	switch {
	case errors.Is(err, ErrProtocol):
		kind = ErrProtocol
	case errors.Is(err, io.ErrUnexpectedEOF):
		reason = "the " + l.them + " ended the connection in the middle of a message"
	case errors.Is(err, io.EOF):
		reason = "the " + l.them + " ended the connection without SHUTDOWN"
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		reason = "the " + l.them + " ended the connection (" + reason + ")"
	}
	return l.error(kind, reason, err)
}

// because notes why the connection ends, if nothing was noted before.
func (l *link) because(err error) {
	err = l.explain(err)
	l.mu.Lock()
	first := l.cause == nil
	if first {
		l.cause = err
	}
	l.mu.Unlock()
	if first && l.ended != nil {
		l.ended()
	}
}

// fail notes why the connection ends, and ends it.
func (l *link) fail(err error) {
	l.because(err)
	l.out.kill()
	l.t.shutdown()
	l.k.wake()
}

// goodbye, after because, sends SHUTDOWN behind what waits to be sent, with out.mu, as far as that goes without waiting. It is false if it should be called again: somebody is
// sending, or the transport does not take it all at once. How long that is worth waiting for is the caller's to say: the peer notices the end all the same, but a
// worker waits a while for a client to come back that has said nothing.
func (l *link) goodbye(id uint32, reason string) bool {
	o := &l.out
	if o.writing || o.dead {
		return o.dead
	}
	if !o.parting {
		o.parting = true
		o.header(OpShutdown, id, len(reason), FlagNoReply)
		o.buf = append(o.buf, reason...)
	}
	if len(o.buf) > 0 {
		n, err := l.t.tryWrite(o.buf, nil)
		o.buf = o.buf[n:]
		if len(o.buf) > 0 && (err == nil || err == errAgain) {
			return false
		}
	}
	o.dead = true
	return true
}

// part is goodbye as often as it takes, for a while. out.mu is held before and after.
func (l *link) part(id uint32, reason string, patience time.Duration) {
	for end := time.Now().Add(patience); !l.goodbye(id, reason) && time.Now().Before(end); {
		l.out.mu.Unlock() // somebody's messages are on their way, or there is no room for more; SHUTDOWN goes behind them
		time.Sleep(partPoll)
		l.out.mu.Lock()
	}
}

// release gives the transport back when the keeper has ended: once nobody sends.
func (l *link) release() {
	o := &l.out
	o.kill()
	o.mu.Lock()
	for o.writing {
		o.room.Wait()
	}
	o.writing = true
	o.mu.Unlock()
	l.t.close()
}

// Stats are a connection's counters since its start.
type Stats struct {
	BytesIn, BytesOut   uint64
	FramesIn, FramesOut uint64
	Flushes             uint64 // times something was sent
}

// Stats reads the counters.
func (l *link) Stats() Stats {
	in, out := l.t.traffic()
	return Stats{in, out, l.in.frames.Load(), l.out.frames.Load(), l.out.flushes.Load()}
}
