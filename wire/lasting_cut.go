package wire

import (
	"net"
	"time"
)

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
