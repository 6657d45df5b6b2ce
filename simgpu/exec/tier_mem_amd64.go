//go:build goexperiment.simd

package exec

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

// Loads and stores of dwords, 16 lanes at a time: those that are consecutive in
// memory are one access, those that are all at the same place one and a
// broadcast, the others go one by one. There is no gather that is faster.

var steps4 = [8]uint64{0, 4, 8, 12, 16, 20, 24, 28}

// quarter is what 16 lanes access.
type quarter struct {
	lanes    uint16
	first    uint64 // offset of the first active lane
	run      bool   // active lanes' offsets differ by 4 from lane to lane
	same     bool   // all active lanes' offsets are first
	runStart uint64 // of lane 0, if run
}

// quarterOf looks at the offsets of 16 lanes, of which at least one is active.
func quarterOf(off *[16]uint64, lanes uint16) (q quarter) {
	n := bits.TrailingZeros16(lanes) & 15
	q.lanes, q.first = lanes, off[n]
	q.runStart = q.first - 4*uint64(n)
	op := (*[2][8]uint64)(unsafe.Pointer(off))
	lo, hi := archsimd.LoadUint64x8(&op[0]), archsimd.LoadUint64x8(&op[1])
	want := archsimd.BroadcastUint64x8(q.runStart).Add(archsimd.LoadUint64x8(&steps4))
	differs := uint16(lo.NotEqual(want).ToBits()) | uint16(hi.NotEqual(want.Add(archsimd.BroadcastUint64x8(32))).ToBits())<<8
	if q.run = differs&lanes == 0; !q.run {
		want = archsimd.BroadcastUint64x8(q.first)
		differs = uint16(lo.NotEqual(want).ToBits()) | uint16(hi.NotEqual(want).ToBits())<<8
		q.same = differs&lanes == 0
	}
	return q
}

func avx512Load(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
	op, dp := (*[4][16]uint64)(unsafe.Pointer(off)), (*[4][16]uint32)(unsafe.Pointer(d))
	for i := range dp {
		lanes := uint16(mask >> (16 * i))
		if lanes == 0 {
			continue
		}
		q := quarterOf(&op[i], lanes)
		m := archsimd.Mask32x16FromBits(lanes)
		switch {
		case q.run && lanes == 0xffff:
			archsimd.LoadUint32x16((*[16]uint32)(unsafe.Add(base, uintptr(q.first)))).Store(&dp[i])
		case q.same:
			v := archsimd.BroadcastUint32x16(*mem32(base, q.first))
			v.Merge(archsimd.LoadUint32x16(&dp[i]), m).Store(&dp[i])
		case lanes == 0xffff:
			archsimd.ClearAVXUpperBits()
			for l := range dp[i] {
				dp[i][l] = *mem32(base, op[i][l])
			}
		default:
			archsimd.ClearAVXUpperBits()
			for m := lanes; m != 0; m &= m - 1 {
				l := bits.TrailingZeros16(m) & 15
				dp[i][l] = *mem32(base, op[i][l])
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// avx512Loads does the quarters whose lanes are all at the same place.
func avx512Loads(base unsafe.Pointer, off *[64]uint64, regs []Vec, mask uint64) (left uint64) {
	op := (*[4][16]uint64)(unsafe.Pointer(off))
	left = mask
	for i := range op {
		lanes := uint16(mask >> (16 * i))
		if lanes == 0 {
			continue
		}
		if q := quarterOf(&op[i], lanes); q.same {
			m := archsimd.Mask32x16FromBits(lanes)
			for j, x := range unsafe.Slice(mem32(base, q.first), len(regs)) {
				dp := &(*[4][16]uint32)(unsafe.Pointer(&regs[j]))[i]
				archsimd.BroadcastUint32x16(x).Merge(archsimd.LoadUint32x16(dp), m).Store(dp)
			}
			left &^= 0xffff << (16 * i)
		}
	}
	archsimd.ClearAVXUpperBits()
	return left
}

func avx512Store(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
	op, sp := (*[4][16]uint64)(unsafe.Pointer(off)), (*[4][16]uint32)(unsafe.Pointer(s))
	for i := range sp {
		lanes := uint16(mask >> (16 * i))
		if lanes == 0 {
			continue
		}
		if lanes == 0xffff {
			if q := quarterOf(&op[i], lanes); q.run {
				archsimd.LoadUint32x16(&sp[i]).Store((*[16]uint32)(unsafe.Add(base, uintptr(q.first))))
				continue
			}
		}
		for m := lanes; m != 0; m &= m - 1 {
			l := bits.TrailingZeros16(m) & 15
			*mem32(base, op[i][l]) = sp[i][l]
		}
	}
	archsimd.ClearAVXUpperBits()
}
