package wire

import (
	"errors"
	"net"
	"time"
)

// errAgain says that a transport took nothing at once.
var errAgain = errors.New("wire: try again")

// A transport carries the bytes of a connection, in order and both ways. It knows nothing of frames.
//
// One goroutine at a time reads and one writes; wait may be called by either, rest by the keeper only. All other methods are for any
// goroutine at any time. It is socket where the operating system's socket can be had, and stream for every other net.Conn.
type transport interface {
	// read waits for bytes, for ever; io.EOF at the end.
	read(p []byte) (int, error)
	// tryWrite takes what it can at once of a and b, in this order; errAgain if that is nothing. What it has not taken comes first in the next one,
	// the same bytes: a part of them may be encrypted already.
	tryWrite(a, b []byte) (int, error)
	// wait waits until one of what is wanted is there, at most d, for ever if that is negative; 0 after that.
	wait(want readiness, d time.Duration) readiness
	// rest sleeps for d, or until wake is called or, if watch, there is something to read.
	rest(d time.Duration, watch bool) (woken, readable bool)
	// wake ends a rest, this one or the next.
	wake()
	// unread reports whether bytes have arrived that nobody has read.
	unread() bool
	// traffic counts bytes.
	traffic() (in, out uint64)
	// path is how fast the way to the other side is, in bytes per second, 0 if that is not known, and whether data waits for it, without which
	// the rate means little.
	path() (rate float64, queued bool)
	// peer is the other side's address, nil if it is not known: a *net.TCPAddr or a *net.UnixAddr.
	peer() net.Addr
	// shutdown ends the connection in both directions: whoever reads or writes returns. Bytes that have arrived can still be read, and what
	// tryWrite has taken is still sent if the peer takes it.
	shutdown()
	// close gives everything back. Nobody may be reading or writing.
	close()
}

// readiness is what a transport can be waited for. An error is both.
type readiness uint8

const (
	readable readiness = 1 << iota
	writable
)
