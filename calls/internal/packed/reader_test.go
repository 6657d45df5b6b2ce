package packed

import "testing"

// What is not there, or too much, is zero, and so is all that follows.
func TestReader(t *testing.T) {
	r := Reader{B: []byte{7, 1, 2, 3, 4, 5, 6, 0x80, 0x01, 9, 0}}
	if a, b, c, d := r.U8(), r.U16(), r.U32(), r.Uvarint(128); r.Bad || a != 7 || b != 0x0201 || c != 0x06050403 || d != 128 {
		t.Errorf("%d %#x %#x %d, bad: %v", a, b, c, d, r.Bad)
	}
	if v := r.Uvarint(8); v != 0 || !r.Bad {
		t.Errorf("beyond the limit: %d", v)
	}
	if a, b, c, d, e := r.U8(), r.U16(), r.U32(), r.Uvarint(1), r.Take(1); a != 0 || b != 0 || c != 0 || d != 0 || e != nil {
		t.Errorf("after a failure: %d %d %d %d %v", a, b, c, d, e)
	}
	for _, b := range [][]byte{{}, {0x80}, {1, 2, 3}} {
		r := Reader{B: b}
		if r.Take(4); !r.Bad {
			t.Errorf("%v has 4 bytes", b)
		}
	}
	if r := (Reader{B: []byte{0x80}}); r.Uvarint(1<<64-1) != 0 || !r.Bad {
		t.Error("a number without an end")
	}
}
