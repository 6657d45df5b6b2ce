package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// prep changes a source before it is used: it returns d, filled from s (two
// registers if the source is wide), or s itself.
type prep = func(w *wave, d, s *Vec) *Vec

// modifiers binds what an instruction does to source i: DPP, SDWA selection,
// op_sel, absolute value, negation, in this order.
func (b *binder) modifiers(in *gcn.Inst, i int) (prep, error) {
	var chain []prep
	o := &in.Src[i]
	if in.Form == gcn.FormDPP && i == 0 {
		chain = append(chain, dppPrep(&in.DPP, o.Width == 2))
	}
	if in.Form == gcn.FormSDWA && i < 2 {
		sel := in.SDWA.Src0Sel
		if i == 1 {
			sel = in.SDWA.Src1Sel
		}
		// v_mac and the like have their accumulator as third source: no selection.
		if p := sdwaSource(sel, in.SDWA.Sext>>i&1 != 0); p != nil {
			chain = append(chain, p)
		}
	}
	half := o.Type == gcn.F16 || o.Type == gcn.BF16
	if in.Enc != gcn.VOP3P && in.OpSel>>halfBit(in, i)&1 != 0 {
		chain = append(chain, upperHalf)
	}
	abs, neg := in.Abs>>i&1 != 0, in.Neg>>i&1 != 0
	if abs || neg {
		chain = append(chain, signs(abs, neg, half, o.Width == 2))
	}
	switch len(chain) {
	case 0:
		return nil, nil
	case 1:
		return chain[0], nil
	}
	return func(w *wave, d, s *Vec) *Vec {
		for _, p := range chain {
			s = p(w, d, s)
		}
		return s
	}, nil
}

// halfBit is the bit of op_sel that says which half source i is: an accumulator's is the destination's.
func halfBit(in *gcn.Inst, i int) int {
	if i == 2 && isHalf(in.Src[2].Type) && in.Arch.Has(gcn.RDNA) && isTied(in) {
		return 3
	}
	return i
}

// isTied reports whether the third source is the destination.
func isTied(in *gcn.Inst) bool {
	for i := range in.Info.Operands {
		if o := &in.Info.Operands[i]; o.Role == gcn.RoleSrc2 {
			return o.Class == gcn.ClassTied
		}
	}
	return false
}

func upperHalf(_ *wave, d, s *Vec) *Vec {
	for i := range d {
		d[i] = s[i] >> 16
	}
	return d
}

// signs makes the absolute value, then the negation.
func signs(abs, neg, half, wide bool) prep {
	bit := uint32(1) << 31
	if half {
		bit = 1 << 15
	}
	and, xor := ^uint32(0), uint32(0)
	if abs {
		and = ^bit
	}
	if neg {
		xor = bit
	}
	if wide {
		return func(_ *wave, d, s *Vec) *Vec {
			*d = *s
			dh, sh := upper(d), upper(s)
			for i := range dh {
				dh[i] = sh[i]&and ^ xor
			}
			return d
		}
	}
	return func(_ *wave, d, s *Vec) *Vec {
		for i := range d {
			d[i] = s[i]&and ^ xor
		}
		return d
	}
}

// finish changes the result in w.out before it goes to its destination (old),
// and returns the lanes that are written.
type finish = func(w *wave, old *Vec) uint64

// result binds what an instruction does to its result: output multiplier,
// clamp, op_sel, SDWA destination, DPP lane masks. nil: nothing.
func (b *binder) result(v *vop, in *gcn.Inst) (finish, error) {
	var chain []func(w *wave, old *Vec)
	if in.Omod != 0 && v.fl != notFloat {
		f, err := outputMultiplier(v.fl, in.Omod)
		if err != nil {
			return nil, err
		}
		chain = append(chain, f)
	}
	if in.Clamp && v.iclamp == nil {
		f, err := clamp(v.fl)
		if err != nil {
			return nil, err
		}
		chain = append(chain, f)
	}
	if in.Form == gcn.FormSDWA && v.dst == 1 {
		if f := sdwaDest(&in.SDWA); f != nil {
			chain = append(chain, f)
		}
	}
	if keepsOther(in, v) {
		chain = append(chain, keepHalf(in.OpSel>>3&1 != 0))
	}
	if len(chain) == 0 && in.Form != gcn.FormDPP {
		return nil, nil
	}
	dpp := in.Form == gcn.FormDPP
	return func(w *wave, old *Vec) uint64 {
		for _, f := range chain {
			f(w, old)
		}
		if dpp {
			return w.exec & w.dpp
		}
		return w.exec
	}, nil
}

// keepsOther reports whether an operation leaves the half of its destination as it is that it does not write.
func keepsOther(in *gcn.Inst, v *vop) bool {
	return v.keeps && in.Enc == gcn.VOP3 || writesHalf(in)
}

// writesHalf reports whether the target has an operation of 16 bits leave the other half of its destination, whatever the operation.
func writesHalf(in *gcn.Inst) bool {
	return in.Arch.Has(gcn.KeepsHalf) && in.Enc != gcn.VOP3P && isHalf(in.Dst.Type)
}

// isHalf reports whether an operand is half a register.
func isHalf(t gcn.Type) bool { return t == gcn.F16 || t == gcn.I16 || t == gcn.BF16 }

// keepHalf writes one half of the destination and keeps the other.
func keepHalf(high bool) func(w *wave, old *Vec) {
	return func(w *wave, old *Vec) {
		out := &w.out[0]
		for i := range out {
			if high {
				out[i] = out[i]<<16 | old[i]&0xffff
			} else {
				out[i] = out[i]&0xffff | old[i]&0xffff0000
			}
		}
	}
}

// eachF64, eachF32 and eachF16 change the results in w.out one by one.
func eachF64(f func(w *wave, x float64) float64) func(w *wave, old *Vec) {
	return func(w *wave, _ *Vec) {
		lo, hi := &w.out[0], &w.out[1]
		for i := range lo {
			r := math.Float64bits(f(w, math.Float64frombits(uint64(lo[i])|uint64(hi[i])<<32)))
			lo[i], hi[i] = uint32(r), uint32(r>>32)
		}
	}
}

func eachF32(n int, f func(w *wave, x float32) float32) func(w *wave, old *Vec) {
	return func(w *wave, _ *Vec) {
		for r := range n {
			out := &w.out[r]
			for i := range out {
				out[i] = math.Float32bits(f(w, math.Float32frombits(out[i])))
			}
		}
	}
}

func eachF16(packed bool, f func(w *wave, x float64) float64) func(w *wave, old *Vec) {
	return func(w *wave, _ *Vec) {
		out := &w.out[0]
		for i, x := range out {
			lo := f64to16(f(w, f16to64(uint16(x))))
			hi := uint16(x >> 16)
			if packed {
				hi = f64to16(f(w, f16to64(hi)))
			}
			out[i] = uint32(lo) | uint32(hi)<<16
		}
	}
}

// outputMultiplier multiplies results by 2, 4 or a half. As AMD's manuals have it, the processor ignores that where results may be denormal, and where MODE
// says IEEE, which is to say in what compilers make; elsewhere denormal results become zero first, and -0 becomes +0.
func outputMultiplier(fl floats, omod uint8) (func(w *wave, old *Vec), error) {
	f, ok := map[floats]format{isF16: fmt16, isF32: fmt32, isF64: fmt64}[fl]
	if !ok {
		return nil, errModifier
	}
	m, sign := f.encode([4]float64{1, 2, 4, 0.5}[omod&3]), uint64(1)<<(f.bits-1)
	return func(w *wave, _ *Vec) {
		round, flush := w.fp.round64, w.fp.flushOut64
		if fl == isF32 {
			round, flush = w.fp.round32, w.fp.flushOut32
		}
		if !flush || w.fp.ieee {
			return
		}
		lo, hi := &w.out[0], &w.out[1]
		for i := range lo {
			x := uint64(lo[i])
			switch fl {
			case isF64:
				x |= uint64(hi[i]) << 32
			case isF16:
				x &= 0xffff
			}
			if x = f.flush(x); x&^sign == 0 {
				x = 0
			} else {
				x = f.flush(f.mul(round, x, m))
			}
			lo[i] = uint32(x)
			if fl == isF64 {
				hi[i] = uint32(x >> 32)
			}
		}
	}, nil
}

// clamp limits results to [0, 1]; NaN becomes 0 when MODE says DX10_CLAMP.
func clamp(fl floats) (func(w *wave, old *Vec), error) {
	f := func(w *wave, x float64) float64 {
		switch {
		case x != x:
			if w.fp.dx10 {
				return 0
			}
			return x
		case x <= 0:
			return 0
		case x >= 1:
			return 1
		}
		return x
	}
	f32 := func(w *wave, x float32) float32 { return float32(f(w, float64(x))) }
	switch fl {
	case isF32:
		return eachF32(1, f32), nil
	case isPackF32:
		return eachF32(2, f32), nil
	case isF64:
		return eachF64(f), nil
	case isF16:
		return eachF16(false, f), nil
	case isPackF16:
		return eachF16(true, f), nil
	}
	return nil, errModifier
}
