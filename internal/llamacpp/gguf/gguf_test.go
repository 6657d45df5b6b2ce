package gguf

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// The bytes of a file, written out by hand from the format's description.
func TestWrite(t *testing.T) {
	want := strings.Join([]string{
		"47475546", "03000000", "0200000000000000", "0500000000000000",
		"0100000000000000", "61", "04000000", "07000000",
		"0100000000000000", "62", "08000000", "0200000000000000", "6869",
		"0100000000000000", "63", "06000000", "0000803f",
		"0100000000000000", "64", "07000000", "01",
		"0100000000000000", "65", "09000000", "05000000", "0100000000000000", "ffffffff",
		"0100000000000000", "78", "01000000", "0100000000000000", "00000000", "0000000000000000",
		"0100000000000000", "79", "02000000", "0200000000000000", "0100000000000000", "01000000", "2000000000000000",
	}, "")
	for len(want)%64 != 0 {
		want += "00"
	}
	want += "00000040" + strings.Repeat("00", 28) + "003c00c0" + strings.Repeat("00", 28)
	var b bytes.Buffer
	err := Write(&b, []Entry{{"a", uint32(7)}, {"b", "hi"}, {"c", float32(1)}, {"d", true}, {"e", []int32{-1}}},
		[]Tensor{{"x", []uint64{1}, F32, []float32{2}}, {"y", []uint64{2, 1}, F16, []float32{1, -2}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	for what, tensor := range map[string]Tensor{
		"values that the shape does not have": {"x", []uint64{2, 3}, F32, make([]float32, 5)},
		"no shape":                            {"x", nil, F32, make([]float32, 1)},
		"a row that is no block":              {"x", []uint64{33}, Q80, make([]float32, 33)},
		"a type it does not know":             {"x", []uint64{1}, 3, make([]float32, 1)},
	} {
		if Write(&bytes.Buffer{}, nil, []Tensor{tensor}) == nil {
			t.Errorf("%s was written", what)
		}
	}
	if Write(&bytes.Buffer{}, []Entry{{"a", 7}}, nil) == nil {
		t.Error("an int was written")
	}
}

func TestHalf(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00,
		1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02, 2 - 1.0/4096: 0x4000, // halves to even; up into the next exponent
		1.0 / (1 << 14): 0x0400, 1.0 / (1 << 24): 1, 1.0 / (1 << 25): 0, 1023.75 / (1 << 24): 0x0400,
		float32(math.Inf(-1)): 0xfc00,
	} {
		if got := half(v); got != want {
			t.Errorf("half(%v) = %#x, want %#x", v, got, want)
		}
	}
}

func TestQ80(t *testing.T) {
	v := make([]float32, block)
	v[0], v[1], v[31] = -127, 63.6, 1
	b := appendQ80(nil, v)
	if len(b) != 34 || b[0] != 0x00 || b[1] != 0x3c || int8(b[2]) != -127 || b[3] != 64 || b[33] != 1 {
		t.Errorf("% x", b)
	}
	if b := appendQ80(nil, make([]float32, block)); !bytes.Equal(b, make([]byte, 34)) {
		t.Errorf("zeros are % x", b)
	}
}

// TestQ40: what ggml's dequantize_row_q4_0 makes of a block is what was given, to half a step, and to a whole one where the largest value has the other sign.
func TestQ40(t *testing.T) {
	v := make([]float32, block)
	for i := range v {
		v[i] = float32(i)/2 - 8 // -8 to 7.5
	}
	b := appendQ40(nil, v)
	if len(b) != 18 || b[0] != 0x00 || b[1] != 0x3c { // a scale of 1
		t.Fatalf("% x", b)
	}
	for i, want := range v {
		n := b[2+i%16] >> (i / 16 * 4) & 15
		if got := float32(n) - 8; math.Abs(float64(got-want)) > 0.5 {
			t.Errorf("value %d is %v, was %v", i, got, want)
		}
	}
	v[0], v[5] = 16, -16 // of two that are as large the first has the scale
	if b := appendQ40(nil, v); b[1] != 0xc0 || b[2]&15 != 0 || b[7]&15 != 15 {
		t.Errorf("% x", b)
	}
	zeros := append([]byte{0, 0x80}, bytes.Repeat([]byte{0x88}, 16)...)
	if b := appendQ40(nil, make([]float32, block)); !bytes.Equal(b, zeros) {
		t.Errorf("zeros are % x", b)
	}
}
