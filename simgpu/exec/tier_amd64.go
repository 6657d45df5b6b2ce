//go:build goexperiment.simd

package exec

import (
	"simd/archsimd"
	"sync"
	"unsafe"
)

// tiers are those this processor has.
var tiers = sync.OnceValue(func() map[string]*tier {
	m := map[string]*tier{}
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		t := avx2Tier()
		t.merge, t.fill = avx2Merge, avx2Fill
		m["avx2"] = t
	}
	if archsimd.X86.AVX512() {
		t := avx512Tier()
		t.merge, t.pick, t.fill = avx512Merge, avx512Pick, avx512Fill
		t.offset = offsetKernels{avx512Narrow, avx512Wide, avx512Beyond}
		t.load, t.loads, t.store, t.bits = avx512Load, avx512Loads, avx512Store, avx512Bits
		m["avx512"] = t
	}
	return m
})

func pickTier() tier {
	for _, name := range []string{"avx512", "avx2"} {
		if t := tiers()[name]; t != nil {
			return *t
		}
	}
	return tier{}
}

// scalar gives the scalar register that is the first (at 0) or second source (at
// 1), if it is the only one; otherwise at is -1.
func (p plain) scalar() (n uint8, at int) {
	inA, inB := p.a.isScalar(), p.b.isScalar()
	if inA == inB || p.c.isScalar() {
		return 0, -1
	}
	if inB {
		at = 1
	}
	return p.bcast[0], at
}

func (p vplace) isScalar() bool { return p.con == nil && p.base == inBcast }

var bits8 = [8]uint32{1, 2, 4, 8, 16, 32, 64, 128}

// mask8 is the mask of the low 8 bits of m.
func mask8(m uint64, bits archsimd.Uint32x8) archsimd.Mask32x8 {
	return archsimd.BroadcastUint32x8(uint32(m)).And(bits).Equal(bits)
}

func avx2Merge(d, s *Vec, mask uint64) {
	dp, sp := (*[8][8]uint32)(unsafe.Pointer(d)), (*[8][8]uint32)(unsafe.Pointer(s))
	bits := archsimd.LoadUint32x8(&bits8)
	for i := range dp {
		archsimd.LoadUint32x8(&sp[i]).Merge(archsimd.LoadUint32x8(&dp[i]), mask8(mask, bits)).Store(&dp[i])
		mask >>= 8
	}
	archsimd.ClearAVXUpperBits()
}

func avx2Fill(d *Vec, x uint32) {
	dp, v := (*[8][8]uint32)(unsafe.Pointer(d)), archsimd.BroadcastUint32x8(x)
	for i := range dp {
		v.Store(&dp[i])
	}
	archsimd.ClearAVXUpperBits()
}

func avx512Merge(d, s *Vec, mask uint64) {
	dp, sp := (*[4][16]uint32)(unsafe.Pointer(d)), (*[4][16]uint32)(unsafe.Pointer(s))
	for i := range dp {
		// Blending and a whole store: what a masked store has written cannot be
		// forwarded to the next instruction's load.
		m := archsimd.Mask32x16FromBits(uint16(mask))
		archsimd.LoadUint32x16(&sp[i]).Merge(archsimd.LoadUint32x16(&dp[i]), m).Store(&dp[i])
		mask >>= 16
	}
	archsimd.ClearAVXUpperBits()
}

func avx512Pick(d, a, b *Vec, sel, mask uint64) {
	dp, ap, bp := (*[4][16]uint32)(unsafe.Pointer(d)), (*[4][16]uint32)(unsafe.Pointer(a)), (*[4][16]uint32)(unsafe.Pointer(b))
	for i := range dp {
		s, m := archsimd.Mask32x16FromBits(uint16(sel)), archsimd.Mask32x16FromBits(uint16(mask))
		r := archsimd.LoadUint32x16(&bp[i]).Merge(archsimd.LoadUint32x16(&ap[i]), s)
		r.Merge(archsimd.LoadUint32x16(&dp[i]), m).Store(&dp[i])
		sel >>= 16
		mask >>= 16
	}
	archsimd.ClearAVXUpperBits()
}

func avx512Fill(d *Vec, x uint32) {
	dp, v := (*[4][16]uint32)(unsafe.Pointer(d)), archsimd.BroadcastUint32x16(x)
	for i := range dp {
		v.Store(&dp[i])
	}
	archsimd.ClearAVXUpperBits()
}

func avx512Bits(d, s *Vec, and, xor uint32) {
	dp, sp := (*[4][16]uint32)(unsafe.Pointer(d)), (*[4][16]uint32)(unsafe.Pointer(s))
	a, x := archsimd.BroadcastUint32x16(and), archsimd.BroadcastUint32x16(xor)
	for i := range dp {
		archsimd.LoadUint32x16(&sp[i]).And(a).Xor(x).Store(&dp[i])
	}
	archsimd.ClearAVXUpperBits()
}

func avx512Narrow(off *[64]uint64, v *Vec, start, limit uint64) (out uint64) {
	op, vp := (*[8][8]uint64)(unsafe.Pointer(off)), (*[8][8]uint32)(unsafe.Pointer(v))
	first, lim, zero := archsimd.BroadcastUint64x8(start), archsimd.BroadcastUint64x8(limit), archsimd.BroadcastInt64x8(0)
	for i := range op {
		o := archsimd.LoadUint32x8(&vp[i]).ExtendToUint64().Add(first)
		o.Store(&op[i])
		out |= uint64(o.Or(lim.Sub(o)).AsInt64x8().Less(zero).ToBits()) << (8 * i)
	}
	archsimd.ClearAVXUpperBits()
	return out
}

func avx512Wide(off *[64]uint64, lo, hi *Vec, start, limit uint64) (out uint64) {
	op := (*[8][8]uint64)(unsafe.Pointer(off))
	lp, hp := (*[8][8]uint32)(unsafe.Pointer(lo)), (*[8][8]uint32)(unsafe.Pointer(hi))
	first, lim, zero := archsimd.BroadcastUint64x8(start), archsimd.BroadcastUint64x8(limit), archsimd.BroadcastInt64x8(0)
	for i := range op {
		h := archsimd.LoadUint32x8(&hp[i]).ExtendToUint64().ShiftAllLeft(32)
		o := archsimd.LoadUint32x8(&lp[i]).ExtendToUint64().Or(h).Add(first)
		o.Store(&op[i])
		out |= uint64(o.Or(lim.Sub(o)).AsInt64x8().Less(zero).ToBits()) << (8 * i)
	}
	archsimd.ClearAVXUpperBits()
	return out
}

func avx512Beyond(off *[64]uint64, limit uint64) (out uint64) {
	op := (*[8][8]uint64)(unsafe.Pointer(off))
	lim := archsimd.BroadcastUint64x8(limit)
	for i := range op {
		out |= uint64(archsimd.LoadUint64x8(&op[i]).Greater(lim).ToBits()) << (8 * i)
	}
	archsimd.ClearAVXUpperBits()
	return out
}
