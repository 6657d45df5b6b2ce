package wire

import (
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/rocwire/rocwire/internal/cutproxy"
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
			l = x.c.out.put(opKeep, id, FlagNoReply, 0, nil, nil, b, true, false, false, true)
		}
		x.c.out.mu.Unlock()
		if !ok || l != (lent{}) {
			t.Errorf("%d bytes: %v, lent %v", n, ok, l)
		}
		noneLent(t, &x.c.lasting.win)
	}
}

// TestKeptBehindHeader: posted bulk data of which a copy is kept anyway is copied to where the frames are, so that its owner may change it at once, and arrives as it
// was over a connection that was cut meanwhile; where it may be worth compressing it is not.
func TestKeptBehindHeader(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	o := &x.c.out
	for _, n := range []int{bulkCopy + 1, bulkKeep} {
		if o.direct(0, 0, n, true) || !o.direct(0, 0, n, false) {
			t.Errorf("%d bytes are not kept just where they are posted", n)
		}
	}
	if !o.direct(0, 0, bulkKeep+1, true) {
		t.Error("more is kept there")
	}
	o.mu.Lock()
	o.pack = &packer{path: func() (float64, bool) { return slowRate, true }}
	o.pack.look()
	o.mu.Unlock()
	if !o.direct(0, 0, bulkKeep, true) {
		t.Error("what may be worth compressing is kept there")
	}
	o.mu.Lock()
	o.pack = nil
	o.mu.Unlock()
	p.Set(false, true)
	p.CutAll()
	<-cut
	for _, n := range []int{bulkKeep, bulkCopy + 1, bulkKeep, bulkKeep, bulkKeep - 1} {
		b := x.random(n)
		x.sum = crc32.Update(x.sum, castagnoli, b)
		if err := x.c.Post(opKeep, nil, b); err != nil {
			t.Fatal(err)
		}
		noneLent(t, &x.c.lasting.win)
		clear(b)
	}
	p.Set(false, false)
	within(t, "the sum", func() {
		if err := x.kept(); err != nil {
			t.Error(err)
		}
	})
}
