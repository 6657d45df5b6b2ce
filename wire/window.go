package wire

import (
	"slices"
	"sync"
)

const (
	replayWindow = 16 << 20  // bytes that may be unacknowledged when a frame begins
	chunkSize    = 128 << 10 // of the memory that small frames are gathered in
	chunkRest    = 64 << 10  // with less than that left of it, another chunk is begun
	chunksKept   = replayWindow / chunkSize / 2
	spillSize    = 512 << 10 // of the memory that bulk data is copied to
	spillsKept   = replayWindow / spillSize / 2
)

// window is what has been sent and not been acknowledged: it is sent again where it was lost. Small frames lie in chunks, which are nobody else's;
// bulk data lies where the user has it until settle copies it, or has been copied before it was sent.
type window struct {
	mu    sync.Mutex
	segs  []segment
	start uint64   // number of the first byte that is kept: so many have been acknowledged
	end   uint64   // bytes given to be sent
	told  uint64   // the most that the peer has acknowledged; more than end while the sender of these bytes has yet to say so
	free  []*chunk // of chunkSize
	spill *chunk   // where bulk data is copied to
	spare []*chunk // of spillSize
}

// segment is a piece of the window.
type segment struct {
	p    []byte
	end  uint64 // number of the byte behind it
	lent bool   // p is the user's memory
	in   *chunk // that p lies in, nil if in none
}

// chunk is memory for frames, filled from the front.
type chunk struct {
	b    []byte
	used int  // segments that lie in it, and who is about to add one
	left bool // nothing is added any more
}

// add appends p. A lent one stays the user's memory.
func (w *window) add(p []byte, in *chunk, lent bool) {
	if len(p) == 0 {
		return
	}
	w.mu.Lock()
	w.end += uint64(len(p))
	if n := len(w.segs); n > 0 && follows(&w.segs[n-1], p, in, lent) {
		s := &w.segs[n-1]
		s.p, s.end = s.p[:len(s.p)+len(p)], w.end
	} else {
		w.segs = append(w.segs, segment{p: p, end: w.end, lent: lent, in: in})
		if in != nil {
			in.used++
		}
	}
	if w.told > w.start {
		w.drop()
	}
	w.mu.Unlock()
}

// follows reports whether p lies right behind what s has, in the same memory.
func follows(s *segment, p []byte, in *chunk, lent bool) bool {
	n := len(s.p)
	return s.lent == lent && s.in == in && n > 0 && cap(s.p) >= n+len(p) && &s.p[:n+1][n] == &p[0]
}

// has reports whether b, with what may still be added to it, ends where the chunk does.
func (c *chunk) has(b []byte) bool {
	return cap(b) > 0 && &b[:cap(b)][cap(b)-1] == &c.b[:cap(c.b)][cap(c.b)-1]
}

// take gives memory for frames.
func (w *window) take() *chunk {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fresh()
}

// leave is told that nothing is added to a chunk any more.
func (w *window) leave(c *chunk) {
	w.mu.Lock()
	c.left = true
	w.recycle(c)
	w.mu.Unlock()
}

// fresh gives an empty chunk, with mu.
func (w *window) fresh() *chunk {
	if n := len(w.free); n > 0 {
		c := w.free[n-1]
		w.free = w.free[:n-1]
		return c
	}
	return &chunk{b: make([]byte, 0, chunkSize)}
}

// recycle keeps a chunk that is not used any more, with mu.
func (w *window) recycle(c *chunk) {
	if !c.left || c.used > 0 {
		return
	}
	list, most := &w.free, chunksKept
	if cap(c.b) == spillSize {
		list, most = &w.spare, spillsKept
	}
	if len(*list) < most {
		c.b, c.left = c.b[:0], false
		*list = append(*list, c)
	}
}

// ack is told that the peer has so many bytes.
func (w *window) ack(n uint64) {
	w.mu.Lock()
	if n > w.told {
		w.told = n
		w.drop()
	}
	w.mu.Unlock()
}

// drop lets go of what has been acknowledged, with mu.
func (w *window) drop() {
	w.start = min(w.told, w.end)
	n := 0
	for n < len(w.segs) && w.segs[n].end <= w.start {
		s := &w.segs[n]
		if s.in != nil {
			w.done(s.in)
		}
		n++
	}
	w.segs = slices.Delete(w.segs, 0, n)
}

// from gives bytes from number n on, as far as they are in one piece; none if n is the end.
func (w *window) from(n uint64) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.find(n)
	if n < w.start || i == len(w.segs) {
		return nil
	}
	s := &w.segs[i]
	return s.p[len(s.p)-int(s.end-n):]
}

// find is the index of the segment that has byte n, with mu.
func (w *window) find(n uint64) int {
	i, _ := slices.BinarySearchFunc(w.segs, n, func(s segment, n uint64) int {
		if s.end <= n {
			return -1
		}
		return 1
	})
	return i
}

// lentFrom tells what of the bytes from number n on lies in the user's memory, from the first to the last of it.
func (w *window) lentFrom(n uint64) (l lent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := w.find(max(n, w.start)); i < len(w.segs); i++ {
		s := &w.segs[i]
		if !s.lent {
			continue
		}
		if l.to == 0 {
			l.from = max(n, s.end-uint64(len(s.p)))
		}
		l.to = s.end
	}
	return l
}

// size is the number of bytes that are not acknowledged.
func (w *window) size() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end - w.start
}

// marks are the numbers of acknowledged and of given bytes.
func (w *window) marks() (start, end uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.start, w.end
}

// forget lets go of everything.
func (w *window) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.segs, w.free, w.spill, w.spare = nil, nil, nil, nil
}
