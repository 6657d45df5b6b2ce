package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector operations that gfx950 alone has.

// bitop3 looks every bit of the result up in a table of 8, by the bits of the three
// sources: those of the first count four, of the second two.
func bitop3(table uint16, a, b, c uint32) uint32 {
	var r uint32
	for i, x := range [8]uint32{^a & ^b & ^c, ^a & ^b & c, ^a & b & ^c, ^a & b & c, a & ^b & ^c, a & ^b & c, a & b & ^c, a & b & c} {
		if table>>i&1 != 0 {
			r |= x
		}
	}
	return r
}

// onBitop3 defines the operation on 32 bits, or on 16, which leaves the other half of the
// destination as it is.
func onBitop3(name string, keeps bool) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		table := in.Simm16
		return b.valu(&vop{srcs: 3, dst: 1, keeps: keeps, k: each3(func(x, y, z uint32) uint32 { return bitop3(table, x, y, z) })}, in)
	})
}

// random32 is the next state of a shift register with linear feedback.
func random32(x uint32) uint32 { return x<<1 ^ x>>31*0xc5 }

// ashrPack shifts two integers and saturates them to bytes, for one half of the destination.
func ashrPack(name string, least, most int32) {
	pack := func(x, shift uint32) uint32 { return uint32(uint8(max(least, min(most, int32(x)>>(shift&31))))) }
	v := &vop{srcs: 3, dst: 1, keeps: true, k: each3(func(a, b, shift uint32) uint32 { return pack(a, shift) | pack(b, shift)<<8 })}
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		if in.OpSel&7 != 0 { // of sources of 32 bits
			return nil, errModifier
		}
		return b.valu(v, in)
	})
}

// lanesOff is how a kernel ends that exchanges rows while some lanes are off: no document
// says what becomes of them.
const lanesOff = "v_permlane*_swap with lanes that are off is not executable"

// swapRows exchanges the odd groups of n lanes of one register with the even ones of the
// other, which may be the same.
func swapRows(x, y *Vec, n int) {
	for l := range x {
		if l&n != 0 {
			x[l], y[l-n] = y[l-n], x[l]
		}
	}
}

// swapped is the size of the groups that an instruction exchanges, 0 for others.
func swapped(in *gcn.Inst) int {
	switch in.Op {
	case gcn.V_PERMLANE16_SWAP_B32:
		return 16
	case gcn.V_PERMLANE32_SWAP_B32:
		return 32
	}
	return 0
}

func permlaneSwap(b *binder, in *gcn.Inst) (func(*wave), error) {
	if b.indexed != 0 {
		return nil, errModifier
	}
	x, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	y, err := b.dest(&in.Src[0])
	n := swapped(in)
	return func(w *wave) {
		if off := ^w.exec; off != 0 {
			panic(&Fault{Kind: InstructionFault, Lane: bits.TrailingZeros64(off) & 63, Detail: lanesOff})
		}
		swapRows(x.get(w), y.get(w), n)
	}, err
}

// dot2BF16 is a dot product of two bfloat16 in each source, and a float32 that comes first,
// or last; each step is rounded once.
func dot2BF16(in *gcn.Inst, last bool) func(a, b, c uint32) uint32 {
	lo, hi := halves(in)
	return func(a, b, c uint32) uint32 {
		wide := func(h half, x uint32) float32 { return f32(uint32(h.of(x)) << 16) }
		sum := f32(c)
		if last {
			sum = 0
		}
		sum = fma32(wide(lo[0], a), wide(lo[1], b), sum)
		sum = fma32(wide(hi[0], a), wide(hi[1], b), sum)
		if last {
			sum += f32(c)
		}
		return b32(sum)
	}
}

// onDot2BF16 defines the operation. MODE does not matter.
func onDot2BF16(name string, last bool) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		if in.Form != gcn.FormNone && in.Form != gcn.FormE32 {
			return nil, errNotExecutable // which of the modifiers are the halves' no document says
		}
		plain := *in // modifiers are the halves'
		plain.Neg, plain.NegHi, plain.OpSel, plain.OpSelHi, plain.Abs = 0, 0, 0, 0, 0
		f := dot2BF16(in, last)
		return b.valu(&vop{srcs: 3, dst: 1, fl: isF32, slow: func(_ *fpEnv, a, b, c uint64) uint64 { return uint64(f(uint32(a), uint32(b), uint32(c))) }, k: each3(f)}, &plain)
	})
}

// onPackRounded defines a conversion of two float32 to halves of a register.
func onPackRounded(name string, half func(x float32) uint16) {
	v := &vop{srcs: 2, dst: 1, k: func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(half(f32(a[i]))) | uint32(half(f32(b[i])))<<16
		}
	}}
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		if in.Omod != 0 {
			return nil, errModifier
		}
		return b.valu(v, in)
	})
}

var _ = define(func() {
	onBitop3("v_bitop3_b32", false)
	onBitop3("v_bitop3_b16", true)
	valu("v_prng_b32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = random32(a[i])
		}
	})
	ashrPack("v_ashr_pk_i8_i32", -128, 127)
	ashrPack("v_ashr_pk_u8_i32", 0, 255)
	on("v_permlane16_swap_b32", permlaneSwap)
	on("v_permlane32_swap_b32", permlaneSwap)
	three := func(name string, two func(a, b uint32) uint32) {
		f := func(a, b, c uint32) uint32 { return two(two(a, b), c) }
		valu(name, 3, each3(f)).f32(slow32(f))
	}
	three("v_minimum3_f32", minimum32)
	three("v_maximum3_f32", maximum32)
	packed := func(name string, two func(a, b uint16) uint16) {
		f := func(a, b, c uint16) uint16 { return two(two(a, b), c) }
		pack16(name, 3, isPackF16, f, nil, slow16(f))
	}
	packed("v_pk_minimum3_f16", minimum16)
	packed("v_pk_maximum3_f16", maximum16)
	// Rounded to the nearest, whatever MODE says.
	onPackRounded("v_cvt_pk_bf16_f32", f32toBF16)
	onPackRounded("v_cvt_pk_f16_f32", f32to16)
	on("v_cvt_f32_bf16", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		if in.Omod != 0 || in.Clamp {
			return nil, errModifier
		}
		return b.valu(&vop{srcs: 1, dst: 1, k: func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = a[i] << 16
			}
		}}, in)
	})
	onDot2BF16("v_dot2_f32_bf16", true)
	onDot2BF16("v_dot2c_f32_bf16", false)
})
