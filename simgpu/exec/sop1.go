package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar operations of one source (SOP1).

//go:noinline
func on1(name string, f func(w *wave, a uint32) uint32) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 1)
		return func(w *wave) { w.S[d] = f(w, s.get(w)) }, err
	})
}

// on1w defines a 64-bit source and destination; on1n a 64-bit source and a
// 32-bit destination.
//
//go:noinline
func on1w(name string, f func(w *wave, a uint64) uint64) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalarAs64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 2)
		return func(w *wave) { w.setS64(d, f(w, s.get(w))) }, err
	})
}

//go:noinline
func on1n(name string, f func(w *wave, a uint64) uint32) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalarAs64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 1)
		return func(w *wave) { w.S[d] = f(w, s.get(w)) }, err
	})
}

// onTied1 defines operations that change part of their destination.
func onTied1(name string, wide bool, f func(w *wave, d uint64, a uint32) uint64) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		if !wide {
			d, err := sdst(&in.Dst, 1)
			return func(w *wave) { w.S[d] = uint32(f(w, uint64(w.S[d]), s.get(w))) }, err
		}
		d, err := sdst(&in.Dst, 2)
		return func(w *wave) { w.setS64(d, f(w, w.s64(d), s.get(w))) }, err
	})
}

// saveexec defines D = EXEC; EXEC = f(S, EXEC); SCC = EXEC != 0.
//
//go:noinline
func saveexec(name string, f func(s, e uint64) uint64) {
	on1w(name, func(w *wave, s uint64) uint64 {
		e := w.s64(regEXEC)
		r := f(s, e)
		w.setS64(regEXEC, r)
		w.setSCC(r != 0)
		return e
	})
}

// wrexec defines EXEC = f(S, EXEC); D = EXEC; SCC = EXEC != 0.
func wrexec(name string, f func(s, e uint64) uint64) {
	on1w(name, func(w *wave, s uint64) uint64 {
		r := f(s, w.s64(regEXEC))
		w.setS64(regEXEC, r)
		w.setSCC(r != 0)
		return r
	})
}

// wqm sets all bits of each group of four of which one is set.
func wqm(a uint64) uint64 {
	q := quads(a)
	return q * 15
}

// quads is the lowest bit of each group of four: one of the group is set.
func quads(a uint64) uint64 {
	a |= a >> 1
	a |= a >> 2
	return a & 0x1111111111111111
}

// quadmask gathers quads into consecutive bits.
func quadmask(a uint64) uint64 {
	q, r := quads(a), uint64(0)
	for i := range 16 {
		r |= q >> (4 * i) & 1 << i
	}
	return r
}

// leading counts the bits above the first that differs from the sign; -1: none.
func leadingSign(a uint64, n int) uint32 {
	if n == 32 {
		a = uint64(int64(int32(a)))
	}
	x := a ^ uint64(int64(a)>>63)
	if x == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros64(x) - (64 - n))
}

func firstBit(a uint64) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.TrailingZeros64(a))
}

var _ = define(func() {
	on1("s_mov_b32", func(_ *wave, a uint32) uint32 { return a })
	on1w("s_mov_b64", func(_ *wave, a uint64) uint64 { return a })
	on("s_cmov_b32", cmov(1))
	on("s_cmov_b64", cmov(2))
	on1("s_not_b32", func(w *wave, a uint32) uint32 { w.setSCC(^a != 0); return ^a })
	on1w("s_not_b64", func(w *wave, a uint64) uint64 { w.setSCC(^a != 0); return ^a })
	on1("s_wqm_b32", func(w *wave, a uint32) uint32 {
		r := uint32(wqm(uint64(a)))
		w.setSCC(r != 0)
		return r
	})
	on1w("s_wqm_b64", func(w *wave, a uint64) uint64 {
		r := wqm(a)
		w.setSCC(r != 0)
		return r
	})
	on1("s_quadmask_b32", func(w *wave, a uint32) uint32 {
		r := uint32(quadmask(uint64(a)))
		w.setSCC(r != 0)
		return r
	})
	on1w("s_quadmask_b64", func(w *wave, a uint64) uint64 {
		r := quadmask(a)
		w.setSCC(r != 0)
		return r
	})
	on1("s_brev_b32", func(_ *wave, a uint32) uint32 { return bits.Reverse32(a) })
	on1w("s_brev_b64", func(_ *wave, a uint64) uint64 { return bits.Reverse64(a) })
	count := func(name string, f func(a uint64) int) {
		on1n(name, func(w *wave, a uint64) uint32 {
			n := f(a)
			w.setSCC(n != 0)
			return uint32(n)
		})
	}
	count("s_bcnt0_i32_b32", func(a uint64) int { return 32 - bits.OnesCount32(uint32(a)) })
	count("s_bcnt0_i32_b64", func(a uint64) int { return 64 - bits.OnesCount64(a) })
	count("s_bcnt1_i32_b32", bits.OnesCount64)
	count("s_bcnt1_i32_b64", bits.OnesCount64)
	on1("s_ff0_i32_b32", func(_ *wave, a uint32) uint32 { return firstBit(uint64(^a)) })
	on1n("s_ff0_i32_b64", func(_ *wave, a uint64) uint32 { return firstBit(^a) })
	on1("s_ff1_i32_b32", func(_ *wave, a uint32) uint32 { return firstBit(uint64(a)) })
	on1n("s_ff1_i32_b64", func(_ *wave, a uint64) uint32 { return firstBit(a) })
	on1("s_flbit_i32_b32", func(_ *wave, a uint32) uint32 {
		if a == 0 {
			return ^uint32(0)
		}
		return uint32(bits.LeadingZeros32(a))
	})
	on1n("s_flbit_i32_b64", func(_ *wave, a uint64) uint32 {
		if a == 0 {
			return ^uint32(0)
		}
		return uint32(bits.LeadingZeros64(a))
	})
	on1("s_flbit_i32", func(_ *wave, a uint32) uint32 { return leadingSign(uint64(a), 32) })
	on1n("s_flbit_i32_i64", func(_ *wave, a uint64) uint32 { return leadingSign(a, 64) })
	on1("s_sext_i32_i8", func(_ *wave, a uint32) uint32 { return uint32(int32(int8(a))) })
	on1("s_sext_i32_i16", func(_ *wave, a uint32) uint32 { return uint32(int32(int16(a))) })
	onTied1("s_bitset0_b32", false, func(_ *wave, d uint64, a uint32) uint64 { return d &^ (1 << (a & 31)) })
	onTied1("s_bitset0_b64", true, func(_ *wave, d uint64, a uint32) uint64 { return d &^ (1 << (a & 63)) })
	onTied1("s_bitset1_b32", false, func(_ *wave, d uint64, a uint32) uint64 { return d | 1<<(a&31) })
	onTied1("s_bitset1_b64", true, func(_ *wave, d uint64, a uint32) uint64 { return d | 1<<(a&63) })
	on1("s_abs_i32", func(w *wave, a uint32) uint32 {
		if int32(a) < 0 {
			a = -a
		}
		w.setSCC(a != 0)
		return a
	})
	on("s_bitreplicate_b64_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 2)
		return func(w *wave) {
			var r uint64
			for i, a := 0, s.get(w); i < 32; i++ {
				r |= uint64(a>>i&1) * 3 << (2 * i)
			}
			w.setS64(d, r)
		}, err
	})
	for name, f := range logic {
		saveexec("s_"+name+"_saveexec_b64", f)
	}
	saveexec("s_andn1_saveexec_b64", func(s, e uint64) uint64 { return ^s & e })
	saveexec("s_orn1_saveexec_b64", func(s, e uint64) uint64 { return ^s | e })
	execOf32()
	wrexec("s_andn1_wrexec_b64", func(s, e uint64) uint64 { return ^s & e })
	wrexec("s_andn2_wrexec_b64", func(s, e uint64) uint64 { return s &^ e })
	relative()
})

func cmov(n int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := scalarAs64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, n)
		return func(w *wave) {
			if w.S[regSCC] == 0 {
				return
			}
			if n == 1 {
				w.S[d] = uint32(s.get(w))
			} else {
				w.setS64(d, s.get(w))
			}
		}, err
	}
}

// relative defines s_movrels and s_movreld: SGPR numbers relative to M0.
func relative() {
	// reach is the register at base + M0; only SGPRs can be reached.
	reach := func(w *wave, base uint8, n uint32) uint8 {
		r, end := uint32(base)+w.S[regM0], uint32(regFlatScratch)
		if w.d.Program.arch.Has(gcn.RDNA) {
			end = regVCC
		}
		if r+n > end || r+n < n {
			panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "scalar register relative to M0"})
		}
		return uint8(r)
	}
	for i, suffix := range []string{"b32", "b64"} {
		n := uint32(i + 1)
		on("s_movrels_"+suffix, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			base, err := sdst(&in.Src[0], int(n))
			if err != nil {
				return nil, err
			}
			d, err := sdst(&in.Dst, int(n))
			return func(w *wave) {
				r := reach(w, base, n)
				v := w.s64(r)
				w.S[d] = uint32(v)
				if n == 2 {
					w.setS64(d, v)
				}
			}, err
		})
		on("s_movreld_"+suffix, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			s, err := scalarAs64(&in.Src[0])
			if err != nil {
				return nil, err
			}
			base, err := sdst(&in.Dst, int(n))
			return func(w *wave) {
				r, v := reach(w, base, n), s.get(w)
				w.S[r] = uint32(v)
				if n == 2 {
					w.setS64(r, v)
				}
			}, err
		})
	}
}
