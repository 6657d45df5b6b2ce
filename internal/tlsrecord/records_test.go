package tlsrecord

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

var suites = []Suite{Suite(tls.TLS_AES_128_GCM_SHA256), Suite(tls.TLS_AES_256_GCM_SHA384), Suite(tls.TLS_CHACHA20_POLY1305_SHA256), Checksum}

// halves are both ends of one direction.
func halves(t testing.TB, s Suite) (w *Writer, r *Reader) {
	t.Helper()
	secret := bytes.Repeat([]byte{7}, s.SecretSize())
	a, err := NewHalf(s, secret, 5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewHalf(s, secret, 5)
	if err != nil {
		t.Fatal(err)
	}
	return NewWriter(a, 64<<10), NewReader(b, true, 256<<10)
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

// sealAll is all of p as records.
func sealAll(t testing.TB, w *Writer, p []byte) (out []byte) {
	t.Helper()
	for len(p) > 0 {
		if err := w.Fill(p, nil); err != nil {
			t.Fatal(err)
		}
		out = append(out, w.Pending()...)
		w.Sent(len(w.Pending()))
		p = p[w.Taken(len(p)):]
	}
	return out
}

// readAll reads what comes, in pieces of the sizes that next gives, into memory of the size that room gives.
func readAll(r *Reader, in []byte, next, room func() int) (out []byte, err error) {
	for {
		p := make([]byte, room())
		n, err := r.Read(p)
		out = append(out, p[:n]...)
		if err != nil {
			return out, err
		}
		if n > 0 {
			continue
		}
		if len(in) == 0 {
			return out, nil
		}
		n = copy(r.Space()[:min(len(r.Space()), next())], in)
		r.Filled(n)
		in = in[n:]
	}
}

// TestEverySplit: however the bytes come and wherever they go, they are the same.
func TestEverySplit(t *testing.T) {
	for _, s := range suites {
		w, r := halves(t, s)
		want := noise(100)
		in := sealAll(t, w, want[:60])
		in = append(in, sealAll(t, w, want[60:])...)
		for cut := range len(in) + 1 {
			_, r2 := halves(t, s)
			pieces := []int{max(cut, 1), len(in)}
			got, err := readAll(r2, in, func() int { n := pieces[0]; pieces = append(pieces[1:], len(in)); return n }, func() int { return 1000 })
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("cut at %d: %d bytes, %v", cut, len(got), err)
			}
		}
		_ = r
		x := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			w, r := halves(t, s)
			want := noise(x.IntN(300000))
			got, err := readAll(r, sealAll(t, w, want), func() int { return 1 + x.IntN(40000) }, func() int { return 1 + x.IntN(50000) })
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d of %d bytes, %v", len(got), len(want), err)
			}
		}
	}
}

// TestPartialSends: a writer whose connection takes a few bytes at a time reports as taken only what has left whole, and sends nothing twice.
func TestPartialSends(t *testing.T) {
	x := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		w, r := halves(t, suites[0])
		w.limit = 12 // key updates in between
		want := noise(400000)
		a, b := want[:x.IntN(50000)], want
		b = want[len(a):]
		var out []byte
		taken := 0
		for taken < len(want) {
			if err := w.Fill(a, b); err != nil {
				t.Fatal(err)
			}
			n := x.IntN(len(w.Pending()) + 1)
			if x.IntN(3) == 0 {
				n = len(w.Pending())
			}
			out = append(out, w.Pending()[:n]...)
			w.Sent(n)
			k := w.Taken(len(a) + len(b))
			taken += k
			if k > len(a) {
				b = b[k-len(a):]
				a = nil
			} else {
				a = a[k:]
			}
		}
		got, err := readAll(r, out, func() int { return 1 << 20 }, func() int { return 30000 })
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
}

// TestEveryByteFlipped: whatever is changed is noticed, and nothing that was changed is given out.
func TestEveryByteFlipped(t *testing.T) {
	for _, s := range suites {
		w, _ := halves(t, s)
		want := noise(50)
		in := append(sealAll(t, w, want), sealAll(t, w, want)...)
		w.Alert(CloseNotify)
		in = append(in, w.Pending()...)
		for i := range in {
			bad := bytes.Clone(in)
			bad[i] ^= 1 << (i % 8)
			_, r := halves(t, s)
			got, err := readAll(r, bad, func() int { return len(bad) }, func() int { return 1000 })
			if err == io.EOF || s == Checksum && err != ErrCorrupted || len(got) > 100 || !bytes.HasPrefix(append(bytes.Clone(want), want...), got) {
				t.Fatalf("byte %d: %d bytes, %v", i, len(got), err)
			}
			var e *Error
			if err != nil && !errors.As(err, &e) && err != ErrCorrupted {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

// TestEnds: what ends a connection, and what does not.
func TestEnds(t *testing.T) {
	type record struct {
		t Type
		p []byte
	}
	ticket := append([]byte{newSessionTicket, 0, 0, 3}, 1, 2, 3)
	useless := make([]record, MaxUseless+1)
	for i := range useless {
		useless[i] = record{Data, nil}
	}
	for name, c := range map[string]struct {
		records []record
		data    string
		want    error
		alert   AlertCode
	}{
		"data":              {[]record{{Data, []byte("ab")}, {Data, nil}, {Data, []byte("c")}}, "abc", nil, 0},
		"close notify":      {[]record{{Data, []byte("ab")}, {Alert, []byte{1, 0}}}, "ab", io.EOF, 0},
		"canceled":          {[]record{{Alert, []byte{1, 90}}, {Alert, []byte{1, 0}}}, "", io.EOF, 0},
		"fatal":             {[]record{{Alert, []byte{2, 116}}}, "", AlertError(CertificateRequired), 0},
		"warning":           {[]record{{Alert, []byte{1, 80}}}, "", AlertError(InternalError), 0},
		"short alert":       {[]record{{Alert, []byte{2}}}, "", nil, DecodeError},
		"ticket":            {[]record{{Handshake, ticket}, {Data, []byte("x")}}, "x", nil, 0},
		"ticket in parts":   {[]record{{Handshake, ticket[:2]}, {Handshake, ticket[2:]}, {Data, []byte("x")}}, "x", nil, 0},
		"two tickets":       {[]record{{Handshake, append(ticket[:7:7], ticket...)}, {Data, []byte("x")}}, "x", nil, 0},
		"data in a ticket":  {[]record{{Handshake, ticket[:5]}, {Data, []byte("x")}}, "", nil, UnexpectedMessage},
		"empty handshake":   {[]record{{Handshake, nil}}, "", nil, UnexpectedMessage},
		"hello":             {[]record{{Handshake, []byte{1, 0, 0, 0}}}, "", nil, UnexpectedMessage},
		"long update":       {[]record{{Handshake, []byte{keyUpdate, 0, 0, 2, 0, 0}}}, "", nil, DecodeError},
		"odd update":        {[]record{{Handshake, []byte{keyUpdate, 0, 0, 1, 2}}}, "", nil, DecodeError},
		"behind an update":  {[]record{{Handshake, append(KeyUpdate[:5:5], KeyUpdate...)}}, "", nil, UnexpectedMessage},
		"type":              {[]record{{Type(24), []byte("x")}}, "", nil, UnexpectedMessage},
		"change cipher":     {[]record{{ChangeCipherSpec, []byte{1}}}, "", nil, UnexpectedMessage},
		"only padding":      {[]record{{Type(0), make([]byte, 9)}}, "", nil, UnexpectedMessage},
		"nothing, for ever": {useless, "", nil, UnexpectedMessage},
		"too long":          {[]record{{Data, make([]byte, MaxPlain+1)}}, "", nil, RecordOverflow},
	} {
		w, r := halves(t, suites[0])
		var in []byte
		for _, rec := range c.records {
			in = w.half.seal(in, rec.t, rec.p, nil)
		}
		got, err := readAll(r, in, func() int { return 1 << 20 }, func() int { return 10 })
		var e *Error
		switch {
		case string(got) != c.data:
			t.Errorf("%s: data %q", name, got)
		case c.alert != 0 && (!errors.As(err, &e) || e.Alert != c.alert), c.alert == 0 && err != c.want:
			t.Errorf("%s: %v", name, err)
		}
		if again, e2 := r.Read(make([]byte, 9)); again != 0 || e2 != err {
			t.Errorf("%s: afterwards %v", name, e2)
		}
	}
	w, _ := halves(t, suites[0])
	server := NewReader(w.half, false, 0)
	other, _ := halves(t, suites[0])
	in := other.half.seal(nil, Handshake, ticket, nil)
	if _, err := readAll(server, in, func() int { return len(in) }, func() int { return 9 }); err == nil {
		t.Error("a ticket of a client")
	}
}

// TestPadding: padding of any length is taken off, also where it is written over in memory.
func TestPadding(t *testing.T) {
	w, r := halves(t, suites[0])
	var in []byte
	for i, n := range []int{0, 1, 100, MaxPlain - 3} {
		h := w.half
		inner := append([]byte{byte(i), 9, byte(Data)}, make([]byte, n)...)
		head := []byte{byte(Data), 3, 3, byte((len(inner) + 16) >> 8), byte(len(inner) + 16)}
		in = append(in, h.aead.Seal(head, h.at(h.Seq, &h.nonce), inner, head)...)
		h.Seq++
	}
	got, err := readAll(r, in, func() int { return len(in) }, func() int { return 1 << 20 })
	if err != nil || !bytes.Equal(got, []byte{0, 9, 1, 9, 2, 9, 3, 9}) {
		t.Error(got, err)
	}
}

// TestState: another process goes on from any point, and what is not a state is none.
func TestState(t *testing.T) {
	w, r := halves(t, suites[1])
	want := noise(30000)
	in := sealAll(t, w, want)
	r.Filled(copy(r.Space(), in[:20000]))
	p := make([]byte, 100)
	if n, err := r.Read(p); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	w.Owe()
	s, err := StateOf(r, w)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Append(nil)
	s2, err := ParseState(b)
	if err != nil {
		t.Fatal(err)
	}
	r2, err := s2.Reader(0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r2, in[20000:], func() int { return 1000 }, func() int { return 5000 })
	if err != nil || !bytes.Equal(append(p, got...), want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	w2, err := s2.Writer(1000)
	if err != nil || !w2.Owes() || w2.half.Seq != w.half.Seq {
		t.Errorf("%+v, %v", w2, err)
	}
	for n := range b {
		if _, err := ParseState(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a state", n, len(b))
		}
	}
	if err := w.Fill([]byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := StateOf(r, w); err == nil {
		t.Error("a state in the middle of a record")
	}
}

// FuzzReader: bytes of an attacker without the keys, and records of one with them, lead to no more than an error.
func FuzzReader(f *testing.F) {
	f.Add([]byte{23, 3, 3, 0, 20}, false, uint8(3))
	f.Add([]byte{23, 5, 1, 2, 3, 4, 5, 22, 5, 24, 0, 0, 1, 1, 21, 2, 1, 0}, true, uint8(9))
	f.Fuzz(func(t *testing.T, b []byte, keys bool, piece uint8) {
		w, r := halves(t, suites[0])
		in, size := b, 0
		if keys { // type, length, data
			in = nil
			for len(b) >= 2 {
				n := min(int(b[1]), len(b)-2)
				in = w.half.seal(in, Type(b[0]), b[2:2+n], nil)
				size += n
				if b[0] == byte(Handshake) && n == 5 && b[2] == keyUpdate {
					_ = w.half.Update()
				}
				b = b[2+n:]
			}
		}
		got, _ := readAll(r, in, func() int { return int(piece) + 1 }, func() int { return int(piece)*7 + 1 })
		if len(got) > size {
			t.Errorf("%d bytes of data out of %d", len(got), size)
		}
	})
}

// FuzzState: what is taken for a state can go on.
func FuzzState(f *testing.F) {
	w, r := halves(f, suites[2])
	s, err := StateOf(r, w)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseState(b)
		if err != nil {
			return
		}
		r, err := s.Reader(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer(0); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Read(make([]byte, 10))
		if !bytes.Equal(s.Append(nil), b) {
			t.Error("another state is read than was written")
		}
	})
}
