package tlsrecord

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
)

// cores has work shared among several goroutines, whatever machine this is.
func cores(t testing.TB) {
	old := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// TestTeam: each share of work is done once, all are when finish returns, and who has helped is gone.
func TestTeam(t *testing.T) {
	cores(t)
	var m team
	for n := range 40 {
		counts := make([]atomic.Int32, n)
		var sum int // written by all shares in turn, so the race detector sees who does not wait
		var turn atomic.Int32
		w := m.begin(n, func(i int) {
			counts[i].Add(1)
			for !turn.CompareAndSwap(0, 1) {
				runtime.Gosched()
			}
			sum += i
			turn.Store(0)
		})
		m.finish(w)
		if sum != n*(n-1)/2 {
			t.Fatalf("%d shares: a sum of %d", n, sum)
		}
		for i := range counts {
			if k := counts[i].Load(); k != 1 {
				t.Fatalf("%d shares: share %d was done %d times", n, i, k)
			}
		}
	}
}

// TestTeamAlone: where nobody helps, nobody is asked for a while.
func TestTeamAlone(t *testing.T) {
	cores(t)
	m := team{rest: 1}
	if w := m.begin(leastShared, func(int) {}); w.asked != 0 || m.rest != 0 {
		t.Errorf("%d were asked", w.asked)
	}
	w := m.begin(leastShared, func(int) {})
	if w.asked == 0 {
		t.Error("nobody was asked")
	}
	w.run() // before the others
	<-w.finished
	m.finish(&work{n: 1, f: func(int) {}, asked: 1, finished: make(chan struct{})})
	if m.rest == 0 {
		t.Error("who did all alone goes on asking")
	}
}

// TestAhead: what is encrypted while something else is sent comes behind it, whatever the connection takes, and with key updates and a farewell in between.
func TestAhead(t *testing.T) {
	cores(t)
	x := rand.New(rand.NewPCG(5, 6))
	for _, s := range suites {
		for round := range 3 {
			w, r := halves(t, s)
			w.size, r.most = 512<<10, 1<<20
			if round%2 == 1 {
				w.limit = 50
			}
			want := noise(2 << 20)
			a, b := want[:x.IntN(100)], want
			b = want[len(a):]
			var out []byte
			for len(a)+len(b) > 0 {
				if x.IntN(9) == 0 {
					w.Owe()
				}
				if err := w.Fill(a, b); err != nil {
					t.Fatal(err)
				}
				w.Ahead(a, b)
				n := len(w.Pending())
				if x.IntN(2) == 0 {
					n = x.IntN(n + 1)
				}
				out = append(out, w.Pending()[:n]...)
				w.Caught()
				w.Sent(n)
				k := w.Taken(len(a) + len(b))
				n = min(k, len(a))
				a, b = a[n:], b[k-n:]
			}
			w.Alert(CloseNotify)
			out = append(out, w.Pending()...)
			got, err := readAll(r, out, func() int { return 1 << 20 }, func() int { return 1 << 20 })
			if !bytes.Equal(got, want) || err != io.EOF {
				t.Fatalf("suite %#04x, round %d: %d of %d bytes, %v", uint16(s), round, len(got), len(want), err)
			}
		}
	}
}

// TestFarewellAhead: an alert comes behind what was encrypted ahead of it.
func TestFarewellAhead(t *testing.T) {
	cores(t)
	w, r := halves(t, suites[0])
	w.size = 512 << 10
	want := noise(1 << 20)
	if err := w.Fill(nil, want); err != nil {
		t.Fatal(err)
	}
	w.Ahead(nil, want)
	w.Caught()
	w.Alert(CloseNotify)
	var out []byte
	for len(w.Pending()) > 0 {
		out = append(out, w.Pending()...)
		w.Sent(len(w.Pending()))
	}
	got, err := readAll(r, out, func() int { return 1 << 20 }, func() int { return 1 << 20 })
	if n := w.Taken(len(want)); err == nil || n != len(got) || !bytes.Equal(got, want[:n]) || n <= w.size {
		t.Errorf("%d bytes read of %d, %v", len(got), n, err)
	}
}

// manyRecords is one message of full records, in which what says i%len(what) is put in front of record i: 1 an empty record, 2 padding, 3 a key update,
// 4 a short record, 5 a ticket, 6 a changed bit, which ends it.
func manyRecords(h *Half, what []byte, n int) (in, want []byte) {
	data := noise(n * MaxPlain)
	var nonce [ivSize]byte
	for i := range n {
		switch p := data[i*MaxPlain:][:MaxPlain]; what[i%len(what)] % 7 {
		case 1:
			in = h.seal(in, Data, nil, nil)
		case 2:
			inner := append(append([]byte{byte(i)}, byte(Data)), make([]byte, i*37%200)...)
			head := []byte{byte(Data), 3, 3, byte((len(inner) + h.aead.Overhead()) >> 8), byte(len(inner) + h.aead.Overhead())}
			in = append(append(in, head...), h.aead.Seal(nil, h.at(h.Seq, &nonce), inner, head)...)
			h.Seq++
			want = append(want, byte(i))
		case 3:
			in = h.seal(in, Handshake, KeyUpdate, nil)
			_ = h.Update()
		case 4:
			in = h.seal(in, Data, p[:i+1], nil)
			want = append(want, p[:i+1]...)
		case 5:
			in = h.seal(in, Handshake, []byte{newSessionTicket, 0, 0, 1, 9}, nil)
		case 6:
			in = h.seal(in, Data, p, nil)
			in[len(in)-1-i] ^= 1
			return append(in, make([]byte, 40*MaxRecord)...), want
		}
		in = h.seal(in, Data, data[i*MaxPlain:][:MaxPlain], nil)
		want = append(want, data[i*MaxPlain:][:MaxPlain]...)
	}
	return in, want
}

// checkMany reads what is there at once, and at most p bytes at a time.
func checkMany(t *testing.T, what []byte, n, p int) {
	t.Helper()
	w, r := halves(t, suites[0])
	r.most = 2 << 20
	in, want := manyRecords(w.half, what, n)
	got, err := readAll(r, in, func() int { return 2 << 20 }, func() int { return p })
	broken := len(in) > len(want)+len(want)/2+20*MaxRecord
	if !bytes.Equal(got, want) || (err != nil) != broken {
		t.Fatalf("%v: %d of %d bytes, %v", what, len(got), len(want), err)
	}
}

// TestMany: records that are opened by several goroutines at once give what those that are opened one by one give, also where something else is among them.
func TestMany(t *testing.T) {
	cores(t)
	for _, what := range [][]byte{{0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0}, append(make([]byte, 49), 3), {4, 0, 0}, {5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, append(make([]byte, 40), 6), {6}, {0, 1, 2, 3, 4, 5}} {
		checkMany(t, what, 60, 1<<20)
		checkMany(t, what, 60, 300<<10)
	}
}

// TestManyAsFarAsRegular: how much is taken at once.
func TestManyAsFarAsRegular(t *testing.T) {
	cores(t)
	for _, n := range []int{0, 15, 16, 33} {
		for _, other := range []byte{1, 2, 4, 5, 6} {
			w, r := halves(t, suites[0])
			r.b = make([]byte, 1<<20)
			in, want := manyRecords(w.half, append(make([]byte, n), other), 40)
			r.Filled(copy(r.Space(), in))
			p := make([]byte, 2<<20)
			got, expect := r.many(p), n*MaxPlain
			if seems := n + int(other)/6; seems < leastShared*spanRecords { // a changed one looks like the others
				expect = 0
			}
			if got != expect || !bytes.Equal(p[:got], want[:got]) || r.half.Seq != 5+uint64(got/MaxPlain) {
				t.Errorf("%d records, then %d: %d bytes, %d expected", n, other, got, expect)
			}
		}
	}
}

// FuzzMany is TestMany with records of the fuzzer's choice.
func FuzzMany(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, uint16(500))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6}, uint16(300))
	f.Fuzz(func(t *testing.T, what []byte, room uint16) {
		if len(what) == 0 {
			return
		}
		cores(t)
		checkMany(t, what, 60, 1+int(room)<<10)
	})
}
