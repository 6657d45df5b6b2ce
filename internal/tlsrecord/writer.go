package tlsrecord

import "slices"

// sealed is one record that has not been sent whole.
type sealed struct {
	end  int // in the buffer
	data int // bytes of data in it
}

// Writer makes records of data and keeps them until they are sent. It is of one goroutine at a time.
//
// A record cannot be taken back: what Fill has encrypted and a connection has not taken is kept, and its data counts as taken once its record has
// been sent whole. So whoever writes comes again with the data that was not taken, until it is.
type Writer struct {
	half    *Half
	size    int // of the buffer
	b       []byte
	sent    int      // bytes of b that the connection has taken
	records []sealed // of b, not sent whole
	ahead   int      // bytes of data that are encrypted and have not been reported as taken
	taken   int      // of which, those whose records have been sent
	limit   uint64   // records before a new key
	owed    bool
	team    team

	next        []byte // what follows behind b, encrypted ahead; nothing is added to b meanwhile
	nextRecords []sealed
	batch       *batch // of next, while it is made
}

// NewWriter makes records for half, and encrypts at most about size bytes at once.
func NewWriter(half *Half, size int) *Writer {
	return &Writer{half: half, size: size, limit: half.Suite.Limit()}
}

// Half is the protection as far as records have been made.
func (w *Writer) Half() *Half { return w.half }

// Owe has the writer update its key before it makes another record.
func (w *Writer) Owe() { w.owed = true }

// Owes reports whether it is going to.
func (w *Writer) Owes() bool { return w.owed }

// Fill encrypts, of a and b in this order, what has not been yet, as far as there is room.
func (w *Writer) Fill(a, b []byte) error {
	w.turn()
	if len(w.next) > 0 {
		return nil
	}
	skip := min(w.ahead, len(a))
	a = a[skip:]
	b = b[min(w.ahead-skip, len(b)):]
	if len(w.b) == 0 {
		w.b = slices.Grow(w.b, min(len(a)+len(b), w.size)+MaxRecord)
	}
	for len(a)+len(b) > 0 && len(w.b) < w.size {
		if w.owed || w.half.Seq >= w.limit {
			if err := w.update(); err != nil {
				return err
			}
		}
		if len(a) == 0 {
			a, b = b, nil
		}
		if x := w.begin(w.b, a, w.size-len(w.b)); x != nil {
			w.b, w.records = w.finish(x, w.records)
			a = a[x.n*MaxPlain:]
			continue
		}
		p := a[:min(len(a), MaxPlain)]
		q := b[:min(len(b), MaxPlain-len(p))]
		w.add(Data, p, q)
		a, b = a[len(p):], b[len(q):]
	}
	return nil
}

func (w *Writer) add(t Type, a, b []byte) {
	w.b = w.half.seal(w.b, t, a, b)
	n := 0
	if t == Data {
		n = len(a) + len(b)
	}
	w.ahead += n
	w.records = append(w.records, sealed{len(w.b), n})
}

// update tells the peer that the next key is used from here on, and uses it.
func (w *Writer) update() error {
	w.add(Handshake, KeyUpdate, nil)
	w.owed = false
	return w.half.Update()
}

// KeyUpdate is the message that announces this side's next key and wants none of the peer.
var KeyUpdate = []byte{keyUpdate, 0, 0, 1, 0}

// Alert adds an alert behind what has been encrypted.
func (w *Writer) Alert(code AlertCode) {
	if len(w.next) > 0 {
		w.next = w.half.seal(w.next, Alert, code.Bytes(), nil)
		w.nextRecords = append(w.nextRecords, sealed{len(w.next), 0})
		return
	}
	w.add(Alert, code.Bytes(), nil)
}

// Bytes is the alert as a record's data.
func (a AlertCode) Bytes() []byte {
	if a == CloseNotify || a == UserCanceled {
		return []byte{1, byte(a)}
	}
	return []byte{2, byte(a)}
}

// Pending is what the connection is to take next.
func (w *Writer) Pending() []byte { return w.b[w.sent:] }

// Sent says that it has taken n bytes of that.
func (w *Writer) Sent(n int) {
	w.sent += n
	k := 0
	for k < len(w.records) && w.records[k].end <= w.sent {
		w.taken += w.records[k].data
		k++
	}
	w.records = append(w.records[:0], w.records[k:]...)
	w.turn()
}

// Taken is how many bytes of data, at most limit, are on their way since the last time.
func (w *Writer) Taken(limit int) int {
	n := min(w.taken, limit)
	w.taken -= n
	w.ahead -= n
	return n
}
