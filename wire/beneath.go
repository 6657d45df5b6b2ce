package wire

import "net"

// beneath is a transport and how many are in its wait and rest.
type beneath struct {
	transport
	users int
	gone  bool
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
