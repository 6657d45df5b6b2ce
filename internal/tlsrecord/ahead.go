package tlsrecord

import "slices"

// batch is full records that are being made, by several goroutines.
type batch struct {
	work *work
	b    []byte
	n    int
}

// begin begins to encrypt what p begins with, in full records behind b, which has room for so many bytes. nil if that is not worth it.
func (w *Writer) begin(b, p []byte, room int) *batch {
	h := w.half
	size := HeaderSize + MaxPlain + 1 + h.aead.Overhead()
	n := min(len(p)/MaxPlain, room/size)
	if n < leastShared*spanRecords || w.owed || h.Seq >= w.limit || w.limit-h.Seq < uint64(n) {
		return nil
	}
	at := len(b)
	b = slices.Grow(b, n*size)[:at+n*size]
	return &batch{b: b, n: n, work: w.team.begin((n+spanRecords-1)/spanRecords, func(i int) {
		nonce := new([ivSize]byte)
		for k := i * spanRecords; k < min((i+1)*spanRecords, n); k++ {
			h.sealAs(h.Seq+uint64(k), nonce, b[at+k*size:at+k*size:at+(k+1)*size], Data, p[k*MaxPlain:(k+1)*MaxPlain], nil)
		}
	})}
}

// finish is there when all of x is, and adds its records to those that r has, of the same buffer.
func (w *Writer) finish(x *batch, r []sealed) ([]byte, []sealed) {
	w.team.finish(x.work)
	size := HeaderSize + MaxPlain + 1 + w.half.aead.Overhead()
	for k := range x.n {
		r = append(r, sealed{len(x.b) - (x.n-1-k)*size, MaxPlain})
	}
	w.half.Seq += uint64(x.n)
	w.ahead += x.n * MaxPlain
	return x.b, r
}

// Ahead has other cores, if there are any with nothing to do, begin to encrypt what follows behind what Fill has taken of the same a and b, until Caught.
// Only Pending may be called in between.
func (w *Writer) Ahead(a, b []byte) {
	if w.batch != nil || len(w.next) > 0 || w.ahead < len(a) {
		return
	}
	w.batch = w.begin(w.next, b[min(w.ahead-len(a), len(b)):], w.size)
}

// Caught ends that: all that was begun is done.
func (w *Writer) Caught() {
	if w.batch != nil {
		w.next, w.nextRecords = w.finish(w.batch, w.nextRecords)
		w.batch = nil
	}
}

// turn goes on with what was encrypted ahead, once all before it has been sent.
func (w *Writer) turn() {
	if w.sent < len(w.b) {
		return
	}
	w.sent, w.b = 0, w.b[:0]
	if len(w.next) > 0 {
		w.b, w.next = w.next, w.b
		w.records, w.nextRecords = w.nextRecords, w.records[:0]
	}
}
