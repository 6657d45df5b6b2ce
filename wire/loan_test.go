package wire

import (
	"hash/crc32"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

// lend sends bulk in several messages, lent until all are sent, and spoils it then.
func (x *script) lend(n, times int) error {
	var loan Loan
	b := x.random(n * times)
	x.sum = crc32.Update(x.sum, castagnoli, b)
	err := x.lendTo(&loan, b, n)
	x.c.Return(&loan)
	clear(b)
	return err
}

func (x *script) lendTo(loan *Loan, b []byte, n int) error {
	for ; len(b) > 0; b = b[n:] {
		m := GetMsg()
		m.Bulk, m.Loan = b[:n], loan
		if err := x.c.Go(opKeep, m, func(m *Msg, _ error) { PutMsg(m) }); err != nil {
			return err
		}
	}
	return nil
}

// leave lends bulk until the server has taken it, and spoils it when that is said by who: the server, or Reclaim.
func (x *script) leave(n int, who func(b []byte) error) error {
	b, err := x.leaves(n)
	if err == nil {
		err = who(b)
	}
	clear(b)
	return err
}

func (x *script) leaves(n int) ([]byte, error) {
	b := x.random(n)
	x.sum = crc32.Update(x.sum, castagnoli, b)
	m := GetMsg()
	m.Bulk, m.Lend = b, true
	return b, x.c.Go(opKeep, m, func(m *Msg, _ error) { PutMsg(m) })
}

func (x *script) server([]byte) error { return x.kept() }

func (x *script) reclaim(b []byte) error {
	x.c.Reclaim(b)
	return nil
}

func (x *script) reclaimAll([]byte) error {
	x.c.ReclaimAll()
	return nil
}

// TestLend: bulk data that is lent is not copied while its owner lets it be, and arrives as it was when he reclaims and spoils it, a piece or all of it.
func TestLend(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	<-cut
	const n = 100 << 10
	var b [4][]byte
	within(t, "what is lent", func() {
		for i := range b {
			var err error
			if b[i], err = x.leaves(n); err != nil {
				t.Fatal(err)
			}
		}
	})
	for i, f := range []func(){
		func() {},
		func() { x.c.Reclaim(make([]byte, n)) },
		func() { x.c.Reclaim(b[2][n/2 : n/2+1]); clear(b[2]) },
		func() { x.c.Reclaim(b[0]); clear(b[0]) },
		func() { within(t, "ReclaimAll", x.c.ReclaimAll); clear(b[1]); clear(b[3]) },
		func() { within(t, "ReclaimAll of nothing", x.c.ReclaimAll) },
	} {
		f()
		if got, want := lentBytes(&x.c.lasting.win), []int{4 * n, 4 * n, 3 * n, 2 * n, 0, 0}[i]; got != want {
			t.Errorf("step %d: %d bytes are lent, not %d", i, got, want)
		}
	}
	p.Set(false, false)
	within(t, "the sum", func() {
		if err := x.kept(); err != nil {
			t.Error(err)
		}
	})
}

// TestLoan: bulk data of several messages is not copied before it is returned, and arrives as it was although it is spoiled then.
func TestLoan(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	<-cut
	const n, times = 200 << 10, 3
	b := x.random(n * times)
	x.sum = crc32.Update(x.sum, castagnoli, b)
	var loan Loan
	within(t, "messages on loan", func() {
		if err := x.lendTo(&loan, b, n); err != nil {
			t.Fatal(err)
		}
	})
	if got := lentBytes(&x.c.lasting.win); got != n*times {
		t.Errorf("%d bytes are lent, not %d", got, n*times)
	}
	within(t, "Return", func() { x.c.Return(&loan) })
	noneLent(t, &x.c.lasting.win)
	clear(b)
	p.Set(false, false)
	within(t, "the sum", func() {
		if err := x.kept(); err != nil {
			t.Error(err)
		}
	})
	x.c.Return(&loan) // of nothing
}

// TestReturnAtTheEnd: memory is given back when the connection has ended for good while much of it was not acknowledged.
func TestReturnAtTheEnd(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	p := cutproxy.New(t, s.l.Addr().String())
	cut := make(chan error, 10)
	x := newScript(t, Options{Address: p.Addr(), Reconnect: 50 * time.Millisecond, OnCut: func(err error) { cut <- err }})
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	p.Set(false, true)
	p.CutAll()
	<-cut
	const n, times = 200 << 10, 6
	var loan Loan
	loan.add(lent{0, n * times}) // as if the end came after a part of it was sent
	within(t, "the end", func() {
		for x.c.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	})
	if left := x.c.lasting.lacks(loan.lent); left <= copyAtMost {
		t.Fatalf("only %d bytes are not acknowledged", left)
	}
	within(t, "Return", func() { x.c.Return(&loan) })
}

// lentBytes is how much of a window lies in the user's memory.
func lentBytes(w *window) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.segs {
		if s.lent {
			n += len(s.p)
		}
	}
	return n
}

// TestAckIdle: a server that has nothing more to read acknowledges what is too little for that otherwise.
func TestAckIdle(t *testing.T) {
	s := newLastingServer(t, patience, func() Handler { return newExactServer(t) })
	x := newScript(t, Options{Address: s.l.Addr().String()})
	if err := x.keep(ackIdle + 64<<10); err != nil {
		t.Fatal(err)
	}
	within(t, "the acknowledgement", func() {
		for x.c.lasting.win.size() > ackIdle {
			time.Sleep(time.Millisecond)
		}
	})
	if err := x.kept(); err != nil {
		t.Error(err)
	}
}
