package wire

// ring is a buffer of bytes, first in, first out.
type ring struct {
	b []byte
	r int // where the oldest byte is
	n int // bytes in it
}

func newRing() ring { return ring{b: make([]byte, streamBuffer)} }

// space is where the next bytes go, as far as it is in one piece; added says how many came.
func (r *ring) space() []byte {
	w := r.r + r.n
	if w < len(r.b) {
		return r.b[w:]
	}
	return r.b[w-len(r.b) : r.r]
}

func (r *ring) added(n int) { r.n += n }

// data is the oldest bytes, as far as they are in one piece; took says how many are done with.
func (r *ring) data() []byte { return r.b[r.r:min(r.r+r.n, len(r.b))] }

func (r *ring) took(n int) {
	r.n -= n
	if r.r += n; r.r >= len(r.b) {
		r.r -= len(r.b)
	}
}

// put adds as much of p as fits.
func (r *ring) put(p []byte) (n int) {
	for n < len(p) {
		k := copy(r.space(), p[n:])
		if k == 0 {
			break
		}
		r.added(k)
		n += k
	}
	return n
}
