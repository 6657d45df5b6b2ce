package wire

import "time"

// aheadMax bounds what is read before its turn. A peer that keeps to the window stays far below.
const aheadMax = 3*replayWindow + 2*MaxPayload

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
	return l.receive(p)
}

// receive reads from the transport, with readMu. An error is the transport's, which then is cut. Of a cut one nothing more is read, which is no
// error: there may be something, but the peer may have been told that it did not come, and sends it again.
func (l *lasting) receive(p []byte) (int, error) {
	t := l.t
	if l.isCut() {
		return 0, nil
	}
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

// received is the number of bytes that have come. While the transport is cut no more do: who reads holds readMu from before it looks whether it is.
func (l *lasting) received() uint64 {
	l.readMu.Lock()
	defer l.readMu.Unlock()
	return l.came
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
