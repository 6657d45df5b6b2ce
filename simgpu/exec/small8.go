package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// 8-bit floats: those of gfx942, which have no infinity, one NaN (0x80) and no negative zero,
// or OCP's.

// small8 is a format: bits of the mantissa, bias of the exponent.
type small8 struct{ mantissa, bias int }

var (
	fp8 = small8{3, 8}  // up to 240
	bf8 = small8{2, 16} // up to 57344
)

const nan8 = 0x80

// value is what the low byte of x stands for.
func (f small8) value(x uint32) float32 {
	if x &= 0xff; x == nan8 {
		return float32(math.NaN())
	}
	m, e := int(x)&(1<<f.mantissa-1), int(x&0x7f)>>f.mantissa
	if e > 0 {
		m |= 1 << f.mantissa
	} else {
		e = 1
	}
	v := float32(math.Ldexp(float64(m), e-f.bias-f.mantissa))
	if x&0x80 != 0 {
		v = -v
	}
	return v
}

// nearest is the code of a float32, rounded to nearest even.
func (f small8) nearest(x uint32, ovfl bool) uint32 {
	return f.code(x, ovfl, func(m uint64, shift, drop int) uint64 {
		n := shift + drop
		return (m + 1<<(n-1) - 1 + m>>n&1) >> n
	})
}

// stochastic adds the low bits of random below the last bit that is kept, and cuts off
// what is below it. A number that becomes denormal loses the bits that it is
// shifted by first, as in AMD's headers.
func (f small8) stochastic(x, random uint32, ovfl bool) uint32 {
	return f.code(x, ovfl, func(m uint64, shift, drop int) uint64 {
		return (m>>shift + uint64(random)&(1<<drop-1)) >> drop
	})
}

// code converts a float32. What is larger than the largest number, even if that
// is the nearest one, becomes NaN, or the largest number with FP16_OVFL (ovfl).
// round takes a mantissa with its first bit, which is to be shifted right and loses some
// more bits.
func (f small8) code(x uint32, ovfl bool, round func(m uint64, shift, drop int) uint64) uint32 {
	sign, magnitude := x>>24&0x80, x&0x7fffffff
	switch {
	case magnitude > 0x7f800000:
		return nan8
	case magnitude > b32(f.value(0x7f)):
		if ovfl {
			return sign | 0x7f
		}
		return nan8
	}
	e, m := int(magnitude>>23), uint64(magnitude&0x7fffff)
	if e > 0 {
		m |= 1 << 23
	} else {
		e = 1
	}
	e += f.bias - 127
	shift := min(max(1-e, 0), 31) // denormal numbers have the exponent 1
	r := uint32(round(m, shift, 23-f.mantissa))
	if first := uint32(1) << f.mantissa; r >= first {
		r += uint32(max(e, 1))<<f.mantissa - first // rounding up may carry into the exponent
	}
	if r == 0 {
		return 0
	}
	return sign | r
}

// float8 is what the conversions of a target do with one of its formats.
type float8 struct {
	value      func(x uint32) float32
	nearest    func(x uint32, ovfl bool) uint32
	stochastic func(x, random uint32, ovfl bool) uint32
}

// float8Of is the format of a target whose instructions call it fp8 or bf8.
func float8Of(arch gcn.Arch, name string) float8 {
	own, ocp := fp8, &e4m3
	if name == "bf8" {
		own, ocp = bf8, &e5m2
	}
	if arch.Has(gcn.FloatsNUZ) {
		return float8{own.value, own.nearest, own.stochastic}
	}
	return float8{
		ocp.values(),
		func(x uint32, ovfl bool) uint32 { return ocp.nearest(float64(f32(x)), ovfl) },
		func(x, random uint32, ovfl bool) uint32 {
			return ocp.stochastic(float64(f32(x)), &binary32, random, ovfl)
		},
	}
}

// cvtPacked binds v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32: two numbers to one
// half of the destination.
func cvtPacked(name string) handler {
	return convertSmall8(name, func(f *float8, w *wave, in *gcn.Inst, old, a, b uint32) uint32 {
		r := f.nearest(a, w.fp.ovfl16) | f.nearest(b, w.fp.ovfl16)<<8
		if in.OpSel>>3&1 != 0 {
			return old&0xffff | r<<16
		}
		return old&^0xffff | r
	})
}

// cvtStochastic binds v_cvt_sr_fp8_f32 and v_cvt_sr_bf8_f32: one number, by the
// second source's random bits, to one byte of the destination.
func cvtStochastic(name string) handler {
	return convertSmall8(name, func(f *float8, w *wave, in *gcn.Inst, old, a, b uint32) uint32 {
		at := in.OpSel >> 2 & 3 * 8
		return old&^(0xff<<at) | f.stochastic(a, b, w.fp.ovfl16)<<at
	})
}

// convertSmall8 binds conversions, in which the upper bits of op_sel are about the
// destination.
func convertSmall8(name string, convert func(f *float8, w *wave, in *gcn.Inst, old, a, b uint32) uint32) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		f := float8Of(b.p.arch, name)
		inst := *in
		inst.OpSel &^= 3 // sources are whole
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.sources(&inst, 2)
		if err != nil {
			return nil, err
		}
		return func(w *wave) {
			old, x, y, out := d.get(w), s[0].get(w), s[1].get(w), &w.out[0]
			for i := range out {
				out[i] = convert(&f, w, &inst, old[i], x[i], y[i])
			}
			w.commit(d, 1, w.exec)
		}, nil
	}
}

var _ = define(func() {
	for _, name := range []string{"fp8", "bf8"} {
		on("v_cvt_f32_"+name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			value := float8Of(b.p.arch, name).value
			return b.valu(&vop{srcs: 1, dst: 1, k: func(d, a, _, _ *Vec) {
				for i := range d {
					d[i] = b32(value(a[i]))
				}
			}}, in)
		})
		on("v_cvt_pk_f32_"+name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			value := float8Of(b.p.arch, name).value
			return b.valu(&vop{srcs: 1, dst: 2, k: func(d, a, _, _ *Vec) {
				dh := upper(d)
				for i := range d {
					d[i], dh[i] = b32(value(a[i])), b32(value(a[i]>>8))
				}
			}}, in)
		})
		on("v_cvt_pk_"+name+"_f32", cvtPacked(name))
		on("v_cvt_sr_"+name+"_f32", cvtStochastic(name))
	}
})
