package tlsrecord

import (
	"encoding/binary"
	"sync"

	"github.com/rocwire/rocwire/internal/libcrypto"
)

// sides are for what does not fit where its data belongs.
var sides = sync.Pool{New: func() any { return new([maxBox]byte) }}

// place is where a record is and where its data belongs.
type place struct {
	from, to, n int
	right       bool // its data is there
}

// worthy is how many bytes of data a record must have to be opened by another core.
const worthy = 4 << 10

// many decrypts long records that are there whole into p, with the help of other cores, if they are many. It takes only records with data and
// without padding: the first other one, or one with an error, is read again by who reads one by one.
func (r *Reader) many(p []byte) (n int) {
	h := r.half
	if len(p) < leastShared*spanRecords*MaxPlain || len(r.message) > 0 || h.Seq > 1<<63 {
		return 0
	}
	places := r.places[:0]
	tag := h.aead.Overhead()
	for at, to := r.r, 0; r.w-at >= HeaderSize; {
		b := r.b[at:r.w]
		size := int(binary.BigEndian.Uint16(b[3:]))
		data := size - tag - 1
		if Type(b[0]) != Data || [2]byte(b[1:3]) != h.mark(h.Seq+uint64(len(places)), b[0], size) || data < worthy || data > MaxPlain || len(b) < HeaderSize+size || to+data > len(p) {
			break
		}
		places = append(places, place{from: at, to: to, n: data})
		at += HeaderSize + size
		to += data
	}
	r.places = places
	if len(places) < leastShared*spanRecords {
		return 0
	}
	w := r.team.begin((len(places)+spanRecords-1)/spanRecords, func(i int) {
		nonce := new([ivSize]byte)
		end := min((i+1)*spanRecords, len(places))
		for k := i * spanRecords; k < end; k++ {
			x := places[k]
			record := r.b[x.from : x.from+HeaderSize+x.n+1+tag]
			seq := h.Seq + uint64(k)
			if k == end-1 { // the type behind the data would be where somebody else's data is
				places[k].right = h.openWithin(seq, nonce, p[x.to:x.to+x.n], record)
				continue
			}
			t, data, err := h.openAs(seq, nonce, p[x.to:], record)
			places[k].right = err == nil && t == Data && len(data) == x.n
		}
	})
	r.team.finish(w)
	for _, x := range places {
		if !x.right {
			break
		}
		n += x.n
		h.Seq++
		r.r = x.from + HeaderSize + x.n + 1 + tag
		r.useless = 0
	}
	return n
}

// openWithin is openAs of a record with just so much data, and writes nothing behind it.
func (h *Half) openWithin(seq uint64, nonce *[ivSize]byte, dst, record []byte) bool {
	if s, ok := h.aead.(libcrypto.Splitter); ok {
		var t [1]byte
		if opened, err := s.OpenSplit(dst, t[:], h.at(seq, nonce), record[HeaderSize:], record[:HeaderSize]); opened {
			return err == nil && Type(t[0]) == Data
		}
	}
	side := sides.Get().(*[maxBox]byte)
	defer sides.Put(side)
	t, data, err := h.openAs(seq, nonce, side[:], record)
	return err == nil && t == Data && copy(dst, data) == len(dst) && len(data) == len(dst)
}
