package wire

import "time"

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

// idle is wait without a transport. There may be one by now, of which nobody will be told again.
func (l *lasting) idle(want readiness, d time.Duration) readiness {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s := l.state.Load(); {
	case s == linkOver:
		return want
	case s == linkUp:
		return want & writable
	case s == linkReplay && want&readable != 0:
		return 0
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
		switch {
		case l.state.Load() == linkOver:
			return false, watch
		case l.state.Load() != linkCut: // there is one by now
			return true, false
		case !l.woken:
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
	n, _ := l.receive(l.scratch)
	l.ahead = append(l.ahead, l.scratch[:n]...)
	l.waiting.Store(int64(len(l.ahead)))
	return n == 0
}

func (l *lasting) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.woken = true
	l.notify()
	l.t.wake()
}
