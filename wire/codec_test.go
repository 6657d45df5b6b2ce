package wire

import (
	"bytes"
	"math"
	"testing"
	"testing/quick"
)

type values struct {
	A uint8
	B uint16
	C uint32
	D uint64
	E int8
	F int16
	G int32
	H int64
	I float32
	J float64
	K bool
	L []byte
	M string
	N []byte
}

func (v *values) encode() []byte {
	var e Enc
	e.U8(v.A)
	e.U16(v.B)
	e.U32(v.C)
	e.U64(v.D)
	e.I8(v.E)
	e.I16(v.F)
	e.I32(v.G)
	e.I64(v.H)
	e.F32(v.I)
	e.F64(v.J)
	e.Bool(v.K)
	e.Bytes(v.L)
	e.Str(v.M)
	e.Raw(v.N)
	return e.B
}

func decodeValues(b []byte) (v values, d Dec) {
	d = NewDec(b)
	v = values{d.U8(), d.U16(), d.U32(), d.U64(), d.I8(), d.I16(), d.I32(), d.I64(), d.F32(), d.F64(), d.Bool(), d.Bytes(), d.Str(), nil}
	v.N = d.Raw(d.Len())
	return v, d
}

func TestCodecRoundTrip(t *testing.T) {
	if err := quick.Check(func(v values) bool {
		b := v.encode()
		got, d := decodeValues(b)
		return d.Done() && bytes.Equal(got.encode(), b) && got.G == v.G && got.H == v.H &&
			math.Float64bits(got.J) == math.Float64bits(v.J) && bytes.Equal(got.L, v.L) && got.M == v.M && bytes.Equal(got.N, v.N)
	}, nil); err != nil {
		t.Error(err)
	}
}

// Every proper prefix of an encoding without trailing raw bytes is Bad, and reading on is harmless.
func TestCodecTruncated(t *testing.T) {
	if err := quick.Check(func(v values) bool {
		v.N = nil
		b := v.encode()
		for n := range b {
			if _, d := decodeValues(b[:n]); !d.Bad() || d.Done() || d.U64() != 0 || d.Bytes() != nil || d.Len() != 0 {
				return false
			}
		}
		return true
	}, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

func TestCodecBytes(t *testing.T) {
	e := Enc{B: []byte{9}}
	e.U16(0x0102)
	e.I32(-2)
	e.Str("hi")
	e.F32(1)
	if want := unhex(t, "09 0201 feffffff 02000000 6869 0000803f"); !bytes.Equal(e.B, want) {
		t.Errorf("%x", e.B)
	}
	for name, s := range map[string]string{"length": "05000000 01", "huge": "ffffffff 01", "no length": "0100"} {
		d := NewDec(unhex(t, s))
		if v := d.Bytes(); v != nil || !d.Bad() {
			t.Errorf("%s: %x", name, v)
		}
	}
	d := NewDec([]byte{2})
	if d.Bool() || !d.Bad() {
		t.Error("2 is no bool")
	}
	d = NewDec([]byte{1, 2})
	if d.Raw(-1) != nil || !d.Bad() {
		t.Error("negative length")
	}
	d = NewDec(unhex(t, "01000000 07 08"))
	if v := d.Bytes(); cap(v) != 1 || d.Rest()[0] != 8 {
		t.Error("a field's capacity reaches into the next")
	}
}

func FuzzDec(f *testing.F) {
	f.Add((&values{M: "x", L: []byte{1}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		v, d := decodeValues(b)
		if d.Bad() {
			return
		}
		if got := v.encode(); !bytes.Equal(got, b) {
			t.Fatalf("%x became %x", b, got)
		}
	})
}
