package hiprpc

import (
	"bytes"
	"testing"
)

func TestContent(t *testing.T) {
	c := Content{Device: 3, Size: MinContent, Sum: [32]byte{1, 31: 9}}
	var got Content
	if b := c.Append(nil); !got.Decode(b) || got != c || got.Decode(b[:len(b)-1]) || got.Decode(append(b, 0)) {
		t.Errorf("%+v", got)
	}
	for _, n := range []uint64{0, MinContent - 1, MaxImage + 1, ^uint64(0)} {
		c.Size = n
		if got.Decode(c.Append(nil)) {
			t.Errorf("a size of %d was taken", n)
		}
	}
}

func FuzzContent(f *testing.F) {
	f.Add((&Content{Device: 1, Size: 1 << 20}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Content
		if c.Decode(b) && !bytes.Equal(c.Append(nil), b) {
			t.Error("not the same again")
		}
	})
}
