package wire

import (
	"bytes"
	"testing"
)

// TestSpill: what was copied before it was sent stays as it is until it is acknowledged, whatever is copied meanwhile; then its memory is used again.
func TestSpill(t *testing.T) {
	var w window
	fill := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
	const n = copyFirst
	first, c := w.keep(fill(1, n)) // on its way, nothing of it sent
	if w.add(fill(2, 3*n), nil, true); lentBytes(&w) != 3*n {
		t.Fatalf("%d bytes are lent", lentBytes(&w))
	}
	w.settle(0, 3*n) // another message's
	w.add(first[:n/2], c, false)
	w.add(first[n/2:], c, false)
	w.release(c)
	if lentBytes(&w) > 0 {
		t.Errorf("%d bytes are lent", lentBytes(&w))
	}
	var got []byte
	for at := uint64(0); at < w.end; at = uint64(len(got)) {
		got = append(got, w.from(at)...)
	}
	if want := append(fill(2, 3*n), fill(1, n)...); !bytes.Equal(got, want) {
		t.Error("what is to be sent again is not what was sent")
	}
	for i := range 100 { // each acknowledged before the next
		w.ack(w.end)
		q, c := w.keep(fill(byte(i), n))
		w.add(q, c, false)
		w.release(c)
	}
	if k := len(w.spare); k > 2 {
		t.Errorf("%d chunks for bulk data of which one was enough", k)
	}
}

// TestBackAtOnce: short bulk data whose owner gets it back at once is never lent, be there a transport or none.
func TestBackAtOnce(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	x := newScript(t, Options{Address: s.l.Addr().String()})
	for _, n := range []int{bulkCopy + 1, copyFirst - 1, copyFirst} {
		b := x.random(n)
		x.c.out.mu.Lock()
		ok := x.c.out.acquire()
		l := lent{}
		if ok {
			id := x.c.nextID()
			l = x.c.out.put(opKeep, id, FlagNoReply, 0, nil, nil, b, false, false, true)
		}
		x.c.out.mu.Unlock()
		if !ok || l != (lent{}) {
			t.Errorf("%d bytes: %v, lent %v", n, ok, l)
		}
		noneLent(t, &x.c.lasting.win)
	}
}
