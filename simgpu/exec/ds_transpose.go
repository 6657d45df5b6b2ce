package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// ds_read_*_tr_*: 16 lanes read a matrix of 16 columns from the LDS, each a part of a row, and get a
// column each. With n elements in a lane it has n rows, and 16/n lanes read a row.

// transposeOff is how a kernel ends that transposes while some lanes are off: AMD's manual
// asks for all of them.
const transposeOff = "a transposing read with lanes that are off is not executable"

func dsTranspose(elem int, a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		imm := uint64(uint16(in.Offset))
		n := a.regs * 32 / elem
		return func(w *wave) {
			if off := ^w.exec; off != 0 {
				panic(&Fault{Kind: InstructionFault, Lane: bits.TrailingZeros64(off) & 63, Detail: transposeOff})
			}
			addr(w, imm)
			read := w.out[:a.regs]
			w.ldsRead(a, &w.out[0], w.exec)
			var columns [3]Vec
			for l := range WaveSize {
				c, group := l%16, l&^15
				for r := range n {
					x := field32(read, group+(r*16+c)/n, (r*16+c)%n*elem, elem)
					at := r * elem
					columns[at/32][l] |= x << (at % 32)
					if at%32+elem > 32 {
						columns[at/32+1][l] |= x >> (32 - at%32)
					}
				}
			}
			copy(w.out[:], columns[:a.regs])
			w.commit(d, a.regs, w.exec)
		}, err
	}
}

var _ = define(func() {
	on("ds_read_b64_tr_b16", dsTranspose(16, loads["dwordx2"]))
	on("ds_read_b64_tr_b8", dsTranspose(8, loads["dwordx2"]))
	on("ds_read_b96_tr_b6", dsTranspose(6, loads["dwordx3"]))
	on("ds_read_b64_tr_b4", dsTranspose(4, loads["dwordx2"]))
})
