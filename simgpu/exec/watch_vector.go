package exec

import (
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What vector instructions make undefined.

// undefinedVector binds a vector operation by its rule.
func undefinedVector(b *binder, in *gcn.Inst) before {
	if strings.HasPrefix(in.Op.String(), "v_cvt_scalef32_") {
		return undefinedScaled(in)
	}
	srcs, ok := undefinedSources(b, in)
	if !ok {
		return nil
	}
	if in.Dst.Kind == gcn.SGPR {
		return undefinedMask(in, srcs)
	}
	if in.Dst.Kind != gcn.VGPR && in.Dst.Kind != gcn.AccVGPR {
		return nil
	}
	d, err := b.dest(&in.Dst)
	if err != nil {
		return nil
	}
	f := laneRule(in)
	same := neverDefined[in.Op.String()] && len(srcs) == 2 && srcs[0].prep == nil && in.Src[0].Kind == in.Src[1].Kind && in.Src[0].Index == in.Src[1].Index && !in.Src[0].IsConst()
	n := min(int(in.Dst.Width), 4)
	shape := resultShape(in)
	vcc := in.Info.Flags&gcn.ReadsVCC != 0 // v_div_fmas
	return func(w *wave) {
		x := w.watched
		var u, v [3]*Vec
		w.dpp = all
		some := vcc && x.s[regVCC]|x.s[regVCC+1] != 0
		for i := range srcs {
			u[i] = srcs[i].undef(w)
			some = some || !same && srcs[i].some(u[i])
		}
		dpp := w.exec & w.dpp
		if !some && shape == nil { // as nearly always
			w.exchange()
			at := d.get(w)
			w.exchange()
			for k := range n {
				if k > 0 {
					at = upper(at)
				}
				for m := dpp; m != 0; m &= m - 1 {
					at[bits.TrailingZeros64(m)&63] = 0
				}
			}
			setCarry(w, in, 0)
			return
		}
		if some {
			for i := range srcs {
				v[i] = srcs[i].get(w)
			}
		}
		carry := uint64(0)
		for m := dpp; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m) & 63
			r := uint64(0)
			if some {
				var lu, lv [3]uint64
				for i := range srcs {
					lu[i], lv[i] = srcs[i].lane(u[i], l), srcs[i].lane(v[i], l)
				}
				if vcc && (x.s[regVCC+l>>5]>>(l&31))&1 != 0 {
					lu[0] = all
				}
				r = f(&lu, &lv)
				if lu[0]|lu[1]|lu[2] != 0 {
					carry |= 1 << l
				}
			}
			x.out[0][l], x.out[1][l] = uint32(r), uint32(r>>32)
			if n > 2 {
				x.out[2][l], x.out[3][l] = uint32(r), uint32(r>>32)
			}
		}
		setCarry(w, in, carry)
		w.exchange()
		at := d.get(w)
		w.exchange()
		if shape != nil {
			shape(w, &x.out[0], at)
		}
		for k := range n {
			if k > 0 {
				at = upper(at)
			}
			for m := dpp; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m) & 63
				at[l] = x.out[k][l]
			}
		}
	}
}

// some reports whether any bit of the source is undefined in any lane.
func (s *source) some(u *Vec) bool {
	if u == &defined[0] {
		return false
	}
	var or uint32
	for i := range u {
		or |= u[i]
	}
	if s.wide {
		for _, x := range upper(u) {
			or |= x
		}
	}
	return or != 0
}

// lane is the source of a lane, as the operation reads it.
func (s *source) lane(v *Vec, l int) uint64 {
	if s.o.Type == gcn.Mask { // the lane's bit
		if l >= 32 {
			v = upper(v)
		}
		return uint64(v[l] >> (l & 31) & 1)
	}
	x := uint64(v[l])
	switch {
	case s.wide:
		x |= uint64(upper(v)[l]) << 32
	case s.half:
		x &= 0xffff
	}
	return x
}

// setCarry sets what is undefined of a lane mask that an operation gives beside its result.
func setCarry(w *wave, in *gcn.Inst, lanes uint64) {
	if in.SDst.Kind == gcn.SGPR {
		w.watched.setScalar(in.SDst.Index, in.SDst.Width, lanes&w.exec)
	}
}

// undefinedMask binds a comparison, whose result is a bit of each lane.
func undefinedMask(in *gcn.Inst, srcs []source) before {
	if in.Dst.Type != gcn.Mask {
		return nil
	}
	f := vectorRule(in.Op.String())
	return func(w *wave) {
		var u, v [3]*Vec
		some := false
		for i := range srcs {
			u[i] = srcs[i].undef(w)
			some = some || srcs[i].some(u[i])
		}
		lanes := uint64(0)
		if some {
			for i := range srcs {
				v[i] = srcs[i].get(w)
			}
			for m := w.exec; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m) & 63
				var lu, lv [3]uint64
				for i := range srcs {
					lu[i], lv[i] = srcs[i].lane(u[i], l), srcs[i].lane(v[i], l)
				}
				if f(&lu, &lv) != 0 {
					lanes |= 1 << l
				}
			}
		}
		if in.Info.Flags&gcn.WritesEXEC != 0 && lanes != 0 {
			w.branchUndefined(lanes)
			lanes = 0
		}
		if in.Dst.Index != regEXEC {
			w.watched.setScalar(in.Dst.Index, in.Dst.Width, lanes)
		}
	}
}

// laneRule is the rule of an operation, after the selections that packed ones make.
func laneRule(in *gcn.Inst) rule {
	name := in.Op.String()
	f := vectorRule(name)
	sel := func(bitset uint8, i int, x uint64, width uint) uint64 {
		return x >> (width * uint(bitset>>i&1)) & (1<<width - 1)
	}
	switch {
	case in.Op == gcn.V_BITOP3_B32, in.Op == gcn.V_BITOP3_B16:
		return bitop3Rule(in.Simm16)
	case name == "v_pk_mov_b32":
		return func(u, _ *[3]uint64) uint64 {
			return sel(in.OpSel, 0, u[0], 32) | sel(in.OpSel, 1, u[1], 32)<<32
		}
	case in.Info.Flags&gcn.MixMods != 0:
		return func(u, v *[3]uint64) uint64 {
			t := *u
			for i := range t {
				if in.OpSelHi>>i&1 != 0 {
					t[i] = sel(in.OpSel, i, t[i], 16)
				}
			}
			return f(&t, v)
		}
	case in.Enc == gcn.VOP3P && strings.HasPrefix(name, "v_pk_"):
		width := uint(16)
		if in.Dst.Width == 2 {
			width = 32
		}
		return func(u, v *[3]uint64) uint64 {
			var lo, hi uint64
			for i := range u {
				lo |= sel(in.OpSel, i, u[i], width)
				hi |= sel(in.OpSelHi, i, u[i], width)
			}
			m := uint64(1)<<width - 1
			return -min(lo, 1)&m | -min(hi, 1)&m<<width
		}
	}
	return f
}

// bitop3Rule is the rule of a table: undefined is what can be both 0 and 1.
func bitop3Rule(table uint16) rule {
	return func(u, v *[3]uint64) uint64 {
		var can [2]uint64
		for i := range 8 {
			possible := ^uint64(0)
			for k := range u {
				if i>>(2-k)&1 != 0 {
					possible &= v[k] | u[k]
				} else {
					possible &= ^v[k] | u[k]
				}
			}
			can[table>>i&1] |= possible
		}
		return can[0] & can[1]
	}
}

// resultShape is what becomes of a result that is not a whole register, nil if it is.
func resultShape(in *gcn.Inst) func(w *wave, out, old *Vec) {
	switch {
	case in.Form == gcn.FormSDWA:
		f := sdwaDest(&in.SDWA)
		if f == nil {
			return nil
		}
		return func(w *wave, out, old *Vec) { // it works on the wave's result
			w.out[0], *out = *out, w.out[0]
			f(w, old)
			w.out[0], *out = *out, w.out[0]
		}
	case in.Op.String() == "v_fma_mixhi_f16", in.Enc == gcn.VOP3 && in.OpSel>>3&1 != 0, writesHalf(in) && in.OpSel>>3&1 != 0:
		return func(_ *wave, out, old *Vec) {
			for i := range out {
				out[i] = out[i]<<16 | old[i]&0xffff
			}
		}
	case in.Op.String() == "v_fma_mixlo_f16", writesHalf(in):
		return func(_ *wave, out, old *Vec) {
			for i := range out {
				out[i] = out[i]&0xffff | old[i]&0xffff0000
			}
		}
	case (in.Dst.Type == gcn.F16 || in.Dst.Type == gcn.I16) && in.Dst.Kind == gcn.VGPR:
		return func(_ *wave, out, _ *Vec) {
			for i := range out {
				out[i] &= 0xffff
			}
		}
	}
	return nil
}

// undefinedScaled is for scaled conversions, of up to 32 registers: all that a lane writes, if anything of its sources is.
func undefinedScaled(in *gcn.Inst) before {
	c := newScaledConversion(in)
	written := ^uint32(0)
	if c.width < 32 {
		written = (1<<c.width - 1) << c.at
	}
	return func(w *wave) {
		x := w.watched
		var some Vec
		for i := range in.Src {
			o := &in.Src[i]
			for _, v := range x.registersOf(o) {
				for l := range v {
					some[l] |= v[l]
				}
			}
			if o.Kind == gcn.SGPR && x.scalarBits(o) != 0 {
				for l := range some {
					some[l] = 1
				}
			}
		}
		to := x.registersOf(&in.Dst)
		for k := range to {
			for m := w.exec; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m) & 63
				if to[k][l] &^= written; some[l] != 0 {
					to[k][l] |= written
				}
			}
		}
	}
}
