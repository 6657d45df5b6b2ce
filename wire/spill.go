package wire

import (
	"slices"
	"unsafe"
)

// Bulk data in a window that is the user's again while it may still have to be sent once more.

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
		if s.lent {
			i = w.own(i)
		}
	}
}

// reclaim is settle of what lies in some memory, wherever it is in the window.
func (w *window) reclaim(memory []byte) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	to := from + uintptr(len(memory))
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := 0; i < len(w.segs); i++ {
		s := w.segs[i]
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(s.p))); s.lent && at < to && from < at+uintptr(len(s.p)) {
			i = w.own(i)
		}
	}
}

// own has a segment's bytes copied, with mu, and tells the index of the last one that has them now.
func (w *window) own(i int) int {
	s := w.segs[i]
	keep := s.p
	if begin := s.end - uint64(len(s.p)); begin < w.start {
		keep = keep[w.start-begin:] // the rest of it has arrived
	}
	own := w.copied(keep, s.end)
	w.segs = slices.Replace(w.segs, i, i+1, own...)
	return i + len(own) - 1
}

// copied gives segments of our own with what is in p, whose last byte is before number end, with mu.
func (w *window) copied(p []byte, end uint64) (own []segment) {
	at := end - uint64(len(p))
	for len(p) > 0 {
		c := w.room(1)
		q := c.extend(min(len(p), cap(c.b)-len(c.b)))
		copy(q, p)
		c.used++
		at += uint64(len(q))
		own = append(own, segment{p: q, end: at, in: c})
		p = p[len(q):]
	}
	return own
}

// keep copies p, which is at most spillSize long, to be sent from there: what is copied first is read once from far away, and what is sent from the copy is in
// the caches. The chunk is used until done.
func (w *window) keep(p []byte) ([]byte, *chunk) {
	w.mu.Lock()
	c := w.room(len(p))
	q := c.extend(len(p))
	c.used++
	w.mu.Unlock()
	copy(q, p) // who reads acknowledgements need not wait for that
	return q, c
}

// release is told that nothing more of what keep gave is added.
func (w *window) release(c *chunk) {
	w.mu.Lock()
	w.done(c)
	w.mu.Unlock()
}

// done is told that a chunk has one user less, with mu.
func (w *window) done(c *chunk) {
	c.used--
	w.recycle(c)
}

// room is the chunk that bulk data is copied to, with n bytes left in it, with mu.
func (w *window) room(n int) *chunk {
	c := w.spill
	if c != nil && c.used == 0 {
		c.b = c.b[:0]
	}
	if c != nil && cap(c.b)-len(c.b) >= n {
		return c
	}
	if c != nil {
		c.left = true
		w.recycle(c)
	}
	if k := len(w.spare); k > 0 {
		c, w.spare = w.spare[k-1], w.spare[:k-1]
	} else {
		c = &chunk{b: make([]byte, 0, spillSize)}
	}
	w.spill = c
	return c
}

// extend takes the next n bytes of a chunk that has them.
func (c *chunk) extend(n int) []byte {
	at := len(c.b)
	c.b = c.b[:at+n]
	return c.b[at:]
}
