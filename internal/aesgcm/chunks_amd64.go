//go:build goexperiment.simd

package aesgcm

import (
	"simd/archsimd"
	"unsafe"
)

// chunks encrypts or decrypts whole chunks with counters from at on, and adds the encrypted side to the lanes of the hash. What these hold before goes
// to the first vector.
func (g *gcm) chunks(dst, src []byte, at, lanes *register, encrypt bool) {
	flip, rev := load(&counters).AsInt8x64(), load(&reverse).AsInt8x64()
	step, ctr := load(&four).AsUint32x16(), load(at).AsUint32x16()
	poly := load(&polynomial).AsUint64x8()
	before, sum := load(lanes).AsUint64x8(), archsimd.Uint64x8{}
	for len(src) >= chunk && len(dst) >= chunk {
		in, out := (*[8]register)(unsafe.Pointer(&src[0])), (*[8]register)(unsafe.Pointer(&dst[0]))
		k := load(&g.keys[0])
		x0 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x1 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x2 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x3 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x4 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x5 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x6 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		x7 := ctr.AsUint8x64().PermuteOrZeroGrouped(flip).Xor(k)
		ctr = ctr.Add(step)
		for i := 1; i < g.rounds; i++ {
			k := load(&g.keys[i]).AsUint32x16()
			x0, x1, x2, x3 = x0.AESEncryptOneRound(k), x1.AESEncryptOneRound(k), x2.AESEncryptOneRound(k), x3.AESEncryptOneRound(k)
			x4, x5, x6, x7 = x4.AESEncryptOneRound(k), x5.AESEncryptOneRound(k), x6.AESEncryptOneRound(k), x7.AESEncryptOneRound(k)
		}
		end := load(&g.keys[g.rounds]).AsUint32x16()
		v0, v1, v2, v3 := load(&in[0]), load(&in[1]), load(&in[2]), load(&in[3])
		v4, v5, v6, v7 := load(&in[4]), load(&in[5]), load(&in[6]), load(&in[7])
		x0, x1, x2, x3 = x0.AESEncryptLastRound(end).Xor(v0), x1.AESEncryptLastRound(end).Xor(v1), x2.AESEncryptLastRound(end).Xor(v2), x3.AESEncryptLastRound(end).Xor(v3)
		x4, x5, x6, x7 = x4.AESEncryptLastRound(end).Xor(v4), x5.AESEncryptLastRound(end).Xor(v5), x6.AESEncryptLastRound(end).Xor(v6), x7.AESEncryptLastRound(end).Xor(v7)
		store(&out[0], x0)
		store(&out[1], x1)
		store(&out[2], x2)
		store(&out[3], x3)
		store(&out[4], x4)
		store(&out[5], x5)
		store(&out[6], x6)
		store(&out[7], x7)
		if encrypt {
			v0, v1, v2, v3, v4, v5, v6, v7 = x0, x1, x2, x3, x4, x5, x6, x7
		}

		h := load(&g.step[7]).AsUint64x8()
		lo, hi := sum.CarrylessMultiplyGrouped(0, 0, h), sum.CarrylessMultiplyGrouped(1, 1, h)
		mi := sum.CarrylessMultiplyGrouped(0, 1, h).Xor(sum.CarrylessMultiplyGrouped(1, 0, h))

		b := v0.PermuteOrZeroGrouped(rev).AsUint64x8().Xor(before)
		before = archsimd.Uint64x8{}
		h = load(&g.step[6]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v1.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[5]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v2.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[4]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v3.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[3]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v4.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[2]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v5.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[1]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		b, h = v6.PermuteOrZeroGrouped(rev).AsUint64x8(), load(&g.step[0]).AsUint64x8()
		lo, hi = lo.Xor(b.CarrylessMultiplyGrouped(0, 0, h)), hi.Xor(b.CarrylessMultiplyGrouped(1, 1, h))
		mi = mi.Xor(b.CarrylessMultiplyGrouped(0, 1, h)).Xor(b.CarrylessMultiplyGrouped(1, 0, h))

		mi = mi.Xor(swap(lo)).Xor(lo.CarrylessMultiplyGrouped(0, 1, poly))
		hi = hi.Xor(swap(mi)).Xor(mi.CarrylessMultiplyGrouped(0, 1, poly))
		sum = hi.Xor(v7.PermuteOrZeroGrouped(rev).AsUint64x8())
		src, dst = src[chunk:], dst[chunk:]
	}
	store(lanes, sum.AsUint8x64())
	archsimd.ClearAVXUpperBits()
}
