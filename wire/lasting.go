package wire

import (
	"sync"
	"sync/atomic"
	"time"
)

// States of a lasting transport.
const (
	linkUp     = iota
	linkReplay // there is a new transport, and what was lost is being sent over it
	linkCut    // there is none
	linkOver   // there will be none
)

// lasting is the transport of a connection that outlives its transports. It counts the bytes in both directions, keeps what it has sent until the
// peer has acknowledged it, and goes on over another transport at the very byte where the last one was cut. Who reads or writes does not notice,
// but waits.
type lasting struct {
	onCut func(err error) // called on a goroutine of its own when a transport was cut
	onDue func()          // called by who reads when so much has come that it must be acknowledged

	readMu  sync.Mutex // held by who reads from the transport
	walk    walker     // the following with readMu
	ahead   []byte     // has been read before its turn
	came    uint64     // bytes that have been read from all transports
	scratch []byte     // for ahead

	writeMu sync.Mutex // held by who writes to the transport
	win     window
	sent    uint64 // with writeMu: bytes that a transport has taken; less than given only while linkReplay and linkCut

	state   atomic.Int32  // changed with mu
	waiting atomic.Int64  // bytes in ahead
	taken   atomic.Uint64 // bytes that read has given
	told    atomic.Uint64 // how many of them have been acknowledged

	mu      sync.Mutex
	changed chan struct{} // closed, and made again, when something has changed while somebody waits: state, t, an acknowledgement, wake
	waiters int
	t       *beneath // changed with readMu and writeMu, too
	woken   bool
	inBase  uint64 // bytes of earlier transports
	outBase uint64 //
	cutAt   time.Time
	cuts    uint64
	leaving bool           // a cut is the end
	cause   error          // of the end
	old     sync.WaitGroup // transports that are being given back
}

func newLasting(t transport) *lasting {
	return &lasting{t: &beneath{transport: t}, changed: make(chan struct{})}
}

// notify tells all who wait, with mu.
func (l *lasting) notify() {
	if l.waiters > 0 {
		close(l.changed)
		l.changed, l.waiters = make(chan struct{}), 0
	}
}

// await waits, with mu, until something changes, at most d, for ever if that is negative. mu is not held meanwhile.
func (l *lasting) await(d time.Duration) {
	var over <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	l.waiters++
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
	case <-over:
	}
	l.mu.Lock()
}
