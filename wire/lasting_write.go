package wire

func (l *lasting) tryWrite(a, b []byte) (int, error) { return l.give(nil, a, nil, b) }

// give is tryWrite of a in a chunk, and of b in one, too, or in the user's memory if that is nil. While there is no transport, they wait in the window as
// long as there is room.
func (l *lasting) give(in *chunk, a []byte, own *chunk, b []byte) (int, error) {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	switch l.state.Load() {
	case linkUp:
		t := l.t
		n, err := t.tryWrite(a, b)
		if err == nil {
			k := min(n, len(a))
			l.win.add(a[:k], in, false)
			l.win.add(b[:n-k], own, own == nil)
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
	l.win.add(b, own, own == nil)
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

// reclaim gives lent memory back to the user wherever it is in the window.
func (l *lasting) reclaim(memory []byte) {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	if l.state.Load() != linkOver {
		l.win.reclaim(memory)
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
