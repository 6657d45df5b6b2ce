package wire

import "time"

// replayPiece is how much is sent again at once: others may want the window meanwhile.
const replayPiece = 256 << 10

// fits reports whether a peer that has got so many bytes can go on from there.
func (l *lasting) fits(got uint64) bool {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	start, end := l.win.marks()
	return start <= got && got <= end
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
