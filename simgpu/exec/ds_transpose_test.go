package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// A matrix of 16 columns in the LDS, of which each lane says where its part of a row begins; each lane gets a column.
func TestTransposingReads(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 950))
	for _, f := range []struct {
		text       string
		code       uint32
		bits, size int // of an element; bytes that a lane reads
	}{
		{"ds_read_b64_tr_b16 v[2:3], v0 offset:8", 0xd9c60008, 16, 8},
		{"ds_read_b64_tr_b8 v[2:3], v0 offset:8", 0xd9c40008, 8, 8},
		{"ds_read_b96_tr_b6 v[2:4], v0 offset:8", 0xd9c20008, 6, 12},
		{"ds_read_b64_tr_b4 v[2:3], v0 offset:8", 0xd9c00008, 4, 8},
	} {
		m := newMachine(t, gcn.GFX950)
		m.wg.lds = make([]byte, 8192)
		rows := f.size * 8 / f.bits
		// The numbers of each of four matrices, by row and column, of which a lane has a part of a row.
		var matrix [4][16][16]uint32
		parts := 16 / rows // of a row
		for l := range 64 {
			at := l*112 + 16*r.IntN(3) // not beside each other
			m.V[0][l] = uint32(at)
			g, row, first := l/16, l%16/parts, l%16%parts*rows
			for e := range rows {
				x := r.Uint32() & (1<<f.bits - 1)
				matrix[g][row][first+e] = x
				for b := range f.bits {
					bit := e*f.bits + b
					m.wg.lds[at+8+bit/8] |= byte(x >> b & 1 << (bit % 8))
				}
			}
		}
		before := m.V[5]
		m.inst(f.text, f.code, 0x02000000)
		for l := range 64 {
			for row := range rows {
				if got, want := m.bitsAt(2, l, row*f.bits, f.bits), matrix[l/16][row][l%16]; got != want {
					t.Fatalf("%s: lane %d has %#x of row %d, want %#x", f.text, l, got, row, want)
				}
			}
		}
		if m.V[5] != before {
			t.Errorf("%s: another register is changed", f.text)
		}
		m.setMask(^uint64(0) >> 1)
		if err := m.exec(f.code, 0x02000000); err == nil || !strings.Contains(fmt.Sprint(err), transposeOff) {
			t.Errorf("%s with a lane off: %v", f.text, err)
		}
	}
}
