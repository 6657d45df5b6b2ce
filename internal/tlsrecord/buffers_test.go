package tlsrecord

import (
	"bytes"
	"testing"
)

// TestBuffersGrow: a connection with small messages has small buffers, one with large messages no larger ones than it was given.
func TestBuffersGrow(t *testing.T) {
	w, r := halves(t, suites[0])
	for _, c := range []struct{ message, least, most int }{{100, 0, firstBuffer}, {2 << 20, w.size, w.size + 2*MaxRecord}, {100, w.size, w.size + 2*MaxRecord}} {
		want := noise(c.message)
		got, err := readAll(r, sealAll(t, w, want), func() int { return 1 << 20 }, func() int { return 1 << 20 })
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d of %d bytes, %v", len(got), len(want), err)
		}
		if n := cap(w.b); n < c.least || n > c.most {
			t.Errorf("after %d bytes the writer has a buffer of %d", c.message, n)
		}
		if n := len(r.b); n != firstBuffer && c.least == 0 || n != r.most && c.least > 0 {
			t.Errorf("after %d bytes the reader has a buffer of %d", c.message, n)
		}
	}
}
