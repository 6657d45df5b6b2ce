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
)

// window is what has been sent and not been acknowledged: it is sent again where it was lost. Small frames lie in chunks, which are nobody else's;
// bulk data lies where the user has it until settle copies it.
type window struct {
	mu    sync.Mutex
	segs  []segment
	start uint64 // number of the first byte that is kept: so many have been acknowledged
	end   uint64 // bytes given to be sent
	told  uint64 // the most that the peer has acknowledged; more than end while the sender of these bytes has yet to say so
	free  []*chunk
	spill *chunk // where settle copies to
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
	used int  // segments that lie in it
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
	if c.left && c.used == 0 && len(w.free) < chunksKept {
		c.b, c.left = c.b[:0], false
		w.free = append(w.free, c)
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
			s.in.used--
			w.recycle(s.in)
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

// settle copies what lies in the user's memory of the bytes numbered from to to, and has not been acknowledged: afterwards that memory is his
// alone. Nobody may be sending from it.
func (w *window) settle(from, to uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := w.find(max(from, w.start)); i < len(w.segs); i++ {
		s := w.segs[i]
		begin := s.end - uint64(len(s.p))
		if begin >= to {
			break
		}
		if !s.lent {
			continue
		}
		keep := s.p
		if begin < w.start {
			keep = keep[w.start-begin:] // the rest of it has arrived
		}
		own := w.copied(keep, s.end)
		w.segs = slices.Replace(w.segs, i, i+1, own...)
		i += len(own) - 1
	}
}

// copied gives segments of our own with what is in p, whose last byte is before number end, with mu.
func (w *window) copied(p []byte, end uint64) (own []segment) {
	at := end - uint64(len(p))
	for len(p) > 0 {
		c := w.spill
		if c != nil && c.used == 0 {
			c.b = c.b[:0]
		}
		if c == nil || len(c.b) == cap(c.b) {
			if c != nil {
				c.left = true
				w.recycle(c)
			}
			c = w.fresh()
			w.spill = c
		}
		n := min(len(p), cap(c.b)-len(c.b))
		q := c.b[len(c.b) : len(c.b)+n]
		c.b = c.b[:len(c.b)+n]
		copy(q, p)
		c.used++
		at += uint64(n)
		own = append(own, segment{p: q, end: at, in: c})
		p = p[n:]
	}
	return own
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
	w.segs, w.free, w.spill = nil, nil, nil
}
