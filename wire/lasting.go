package wire

import (
	"net"
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

// aheadMax bounds what is read before its turn. A peer that keeps to the window stays far below.
const aheadMax = 3*replayWindow + 2*MaxPayload

// replayPiece is how much is sent again at once: others may want the window meanwhile.
const replayPiece = 256 << 10

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

// beneath is a transport and how many are in its wait and rest.
type beneath struct {
	transport
	users int
	gone  bool
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

// read gives the next bytes, from whatever transport.
func (l *lasting) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := l.readOnce(p)
		if n > 0 {
			if l.taken.Add(uint64(n))-l.told.Load() >= ackAlone {
				l.onDue()
			}
			return n, nil
		}
		if l.state.Load() == linkOver {
			if err == nil {
				err = l.end()
			}
			return 0, err
		}
		l.mu.Lock()
		for l.state.Load() == linkCut {
			l.await(-1)
		}
		l.mu.Unlock()
	}
}

func (l *lasting) readOnce(p []byte) (int, error) {
	l.readMu.Lock()
	defer l.readMu.Unlock()
	if len(l.ahead) > 0 {
		n := copy(p, l.ahead)
		l.ahead = l.ahead[n:]
		l.waiting.Store(int64(len(l.ahead)))
		return n, nil
	}
	if l.state.Load() == linkCut {
		return 0, nil
	}
	return l.receive(p)
}

// receive reads from the transport, with readMu. An error is the transport's, which then is cut.
func (l *lasting) receive(p []byte) (int, error) {
	t := l.t
	n, err := t.read(p)
	if err != nil {
		l.cut(t, err)
		return 0, err
	}
	l.came += uint64(n)
	if ack, ok := l.walk.walk(p[:n]); ok {
		l.win.ack(ack)
		l.mu.Lock()
		l.notify()
		l.mu.Unlock()
	}
	return n, nil
}

// pump reads before its turn what is there or comes within d, for one who needs acknowledgements and may keep the reader waiting. If somebody is
// reading anyway, it waits for him.
func (l *lasting) pump(d time.Duration) error {
	if !l.readMu.TryLock() {
		l.mu.Lock()
		l.await(d)
		l.mu.Unlock()
		return nil
	}
	defer l.readMu.Unlock()
	switch l.state.Load() {
	case linkOver:
		return l.end()
	case linkCut:
		l.mu.Lock()
		l.await(d)
		l.mu.Unlock()
		return nil
	}
	if len(l.ahead) > aheadMax {
		return violation(Header{}, "more was sent than there is a window for")
	}
	if l.t.wait(readable, d) == 0 {
		return nil
	}
	if l.scratch == nil {
		l.scratch = make([]byte, inBase)
	}
	if n, err := l.receive(l.scratch); err == nil {
		l.ahead = append(l.ahead, l.scratch[:n]...)
		l.waiting.Store(int64(len(l.ahead)))
	}
	return nil
}

func (l *lasting) tryWrite(a, b []byte) (int, error) { return l.give(nil, a, b) }

// give is tryWrite of a in a chunk, and of b in the user's memory. While there is no transport, they wait in the window as long as there is room.
func (l *lasting) give(in *chunk, a, b []byte) (int, error) {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	switch l.state.Load() {
	case linkUp:
		t := l.t
		n, err := t.tryWrite(a, b)
		if err == nil {
			k := min(n, len(a))
			l.win.add(a[:k], in, false)
			l.win.add(b[:n-k], nil, true)
			l.sent += uint64(n)
			return n, nil
		}
		if err != errAgain {
			l.cut(t, err)
		}
		return 0, errAgain
	case linkOver:
		return 0, l.end()
	}
	if l.win.size() >= replayWindow {
		return 0, errAgain
	}
	l.win.add(a, in, false)
	l.win.add(b, nil, true)
	return len(a) + len(b), nil
}

// given is the number of bytes that were to be sent. Nobody is sending when it looks, so the peer cannot know of more.
func (l *lasting) given() uint64 {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	_, end := l.win.marks()
	return end
}

// lacks is how many of the bytes in l have not been acknowledged.
func (l *lasting) lacks(x lent) uint64 {
	if l == nil {
		return 0
	}
	start, _ := l.win.marks()
	return x.to - min(x.to, max(x.from, start))
}

// release gives lent memory back to the user: what has not been acknowledged of the bytes from to to is copied.
func (l *lasting) release(from, to uint64) {
	if start, _ := l.win.marks(); start >= to {
		return
	}
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	if l.state.Load() != linkOver {
		l.win.settle(from, to)
	}
}

// due tells how many bytes to acknowledge if that is min more than before.
func (l *lasting) due(min uint64) (n uint64, due bool) {
	for {
		n, told := l.taken.Load(), l.told.Load()
		if n-told < min {
			return 0, false
		}
		if l.told.CompareAndSwap(told, n) {
			return n, true
		}
	}
}

// cut is told that t is of no use any more.
func (l *lasting) cut(t *beneath, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state.Load()
	if l.t != t || state == linkCut || state == linkOver { // has been noticed
		return
	}
	if l.leaving {
		l.finish(err)
		return
	}
	l.state.Store(linkCut)
	l.cutAt = time.Now()
	l.cuts++
	l.notify()
	t.shutdown()
	t.wake()
	go l.onCut(err)
}

// cutNow cuts the transport, if there is one.
func (l *lasting) cutNow(err error) {
	l.mu.Lock()
	t := l.t
	l.mu.Unlock()
	l.cut(t, err)
}

// finish is the end, with mu.
func (l *lasting) finish(err error) {
	if l.state.Load() != linkOver {
		l.state.Store(linkOver)
		l.cause = err
		l.notify()
		l.t.shutdown()
		l.t.wake()
	}
}

// leave makes the next cut the end, and a present one.
func (l *lasting) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = true
	if l.state.Load() == linkCut {
		l.finish(net.ErrClosed)
	}
}

// end is why there will be no other transport.
func (l *lasting) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

func (l *lasting) isCut() bool { return l.state.Load() == linkCut }

// received is the number of bytes that have come. While the transport is cut no more do.
func (l *lasting) received() uint64 {
	l.readMu.Lock()
	defer l.readMu.Unlock()
	return l.came
}

// fits reports whether a peer that has got so many bytes can go on from there.
func (l *lasting) fits(got uint64) bool {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	start, end := l.win.marks()
	return start <= got && got <= end
}

// stayedCut waits for d, or until there is another transport or the end, and reports whether there is still none.
func (l *lasting) stayedCut(d time.Duration) bool {
	end := time.Now().Add(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	for cut := l.cutAt; l.state.Load() == linkCut && l.cutAt == cut; {
		left := time.Until(end)
		if left <= 0 {
			return true
		}
		l.await(left)
	}
	return false
}

// sinceCut is how long there has been no transport.
func (l *lasting) sinceCut() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.cutAt)
}

// replace goes on over t, which it takes over, with a peer that has got so many bytes. What the peer lacks, catchUp sends. It is false if the connection is
// not cut or cannot go on there.
func (l *lasting) replace(t transport, got uint64) bool {
	l.readMu.Lock()
	l.writeMu.Lock()
	l.mu.Lock()
	start, end := l.win.marks()
	ok := l.state.Load() == linkCut && start <= got && got <= end
	if ok {
		l.win.ack(got)
		in, out := l.t.traffic()
		l.inBase, l.outBase = l.inBase+in, l.outBase+out
		l.bury(l.t)
		l.t, l.sent = &beneath{transport: t}, got
		l.state.Store(linkReplay)
		l.notify()
	}
	l.mu.Unlock()
	l.writeMu.Unlock()
	l.readMu.Unlock()
	if !ok {
		t.shutdown()
		t.close()
	}
	return ok
}

// catchUp sends what the peer lacks over a new transport. It returns when that is done, or the transport is cut, too.
func (l *lasting) catchUp() {
	if t, ok := l.hold(); ok {
		for l.replay(t) {
		}
		l.drop(t)
	}
}

// replay sends a piece of what the peer lacks; false when there is no more to do.
func (l *lasting) replay(t *beneath) bool {
	l.writeMu.Lock()
	if l.t != t || l.state.Load() != linkReplay {
		l.writeMu.Unlock()
		return false
	}
	start, end := l.win.marks()
	if l.sent = max(l.sent, start); l.sent == end {
		l.mu.Lock()
		if l.state.Load() == linkReplay {
			l.state.Store(linkUp)
			l.notify()
		}
		l.mu.Unlock()
		l.writeMu.Unlock()
		return false
	}
	p := l.win.from(l.sent)
	n, err := t.tryWrite(p[:min(len(p), replayPiece)], nil)
	l.sent += uint64(n)
	l.writeMu.Unlock()
	switch {
	case err == errAgain:
		t.wait(writable, 100*time.Millisecond)
	case err != nil:
		l.cut(t, err)
	}
	return true
}

// hold gives the transport to somebody who waits in it, if there is one to wait in.
func (l *lasting) hold() (*beneath, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.state.Load(); s != linkUp && s != linkReplay {
		return nil, false
	}
	l.t.users++
	return l.t, true
}

func (l *lasting) drop(t *beneath) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.users--; t.gone {
		l.bury(t)
	}
}

// bury gives a transport back when nobody waits in it any more, with mu.
func (l *lasting) bury(t *beneath) {
	t.gone = true
	if t.users == 0 {
		l.old.Add(1)
		go func() {
			defer l.old.Done()
			t.close()
		}()
	}
}

func (l *lasting) wait(want readiness, d time.Duration) readiness {
	if want&readable != 0 { // to wait for something to read is reading
		l.readMu.Lock()
		if l.waiting.Load() > 0 {
			l.readMu.Unlock()
			return readable
		}
	}
	t, ok := l.hold()
	only := want
	if ok && want&writable != 0 && l.state.Load() == linkReplay { // the transport is not to be written to yet
		if only = want & readable; only == 0 {
			l.drop(t)
			ok = false
		} else if d < 0 || d > maxNap {
			d = maxNap
		}
	}
	var got readiness
	if ok {
		got = t.wait(only, d)
		l.drop(t)
	}
	if want&readable != 0 {
		l.readMu.Unlock()
	}
	if !ok {
		got = l.idle(want, d)
	}
	return got
}

// idle is wait without a transport.
func (l *lasting) idle(want readiness, d time.Duration) readiness {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Load() == linkOver {
		return want
	}
	l.await(d)
	return 0
}

// maxNap is how long a wait lasts that is for more than the transport.
const maxNap = 2 * time.Millisecond

func (l *lasting) rest(d time.Duration, watch bool) (woken, got bool) {
	t, ok := l.hold()
	if !ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.state.Load() == linkOver {
			return false, watch
		}
		if !l.woken {
			l.await(d)
		}
		woken, l.woken = l.woken, false
		return woken, false
	}
	defer l.drop(t)
	woken, got = t.rest(d, watch)
	l.mu.Lock()
	l.woken = false
	l.mu.Unlock()
	// Whoever goes reading stays at it until something comes. The end of a transport is nothing.
	return woken, got && (l.unread() || !l.ended(t))
}

// ended looks whether it is the end of t that can be read.
func (l *lasting) ended(t *beneath) bool {
	if !l.readMu.TryLock() {
		return false // who reads finds out
	}
	defer l.readMu.Unlock()
	if l.t != t || l.state.Load() == linkOver || t.wait(readable, 0) == 0 {
		return false
	}
	if l.scratch == nil {
		l.scratch = make([]byte, inBase)
	}
	n, err := l.receive(l.scratch)
	l.ahead = append(l.ahead, l.scratch[:n]...)
	l.waiting.Store(int64(len(l.ahead)))
	return err != nil
}

func (l *lasting) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.woken = true
	l.notify()
	l.t.wake()
}

func (l *lasting) unread() bool {
	if l.waiting.Load() > 0 {
		return true
	}
	t, ok := l.hold()
	if !ok {
		return false
	}
	defer l.drop(t)
	return t.unread()
}

func (l *lasting) traffic() (in, out uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, out = l.t.traffic()
	return in + l.inBase, out + l.outBase
}

func (l *lasting) path() (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.path()
}

func (l *lasting) peer() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.t.peer()
}

// shutdown is the end of all transports.
func (l *lasting) shutdown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish(net.ErrClosed)
}

func (l *lasting) close() {
	l.mu.Lock()
	l.finish(net.ErrClosed)
	l.bury(l.t)
	l.mu.Unlock()
	l.old.Wait()
	l.win.forget()
}
