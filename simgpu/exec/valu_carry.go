package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector operations that read or write a lane mask: carries, selection,
// 64-bit multiply-add.

// carryKernel is a kernel with a carry into and out of each lane.
type carryKernel = func(d, a, b, c *Vec, in uint64) (out uint64)

// onCarry defines an operation with n vector sources. A mask source, if there
// is one, follows them.
func onCarry(name string, n, dst int, k carryKernel, clamp uint32) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.sources(in, n)
		if err != nil {
			return nil, err
		}
		out, err := mask(&in.SDst)
		if err != nil {
			return nil, err
		}
		var cin sref64
		if n == 2 && in.Src[2].Kind != gcn.None {
			if cin, err = scalarAs64(&in.Src[2]); err != nil {
				return nil, err
			}
		}
		v := &vop{dst: dst, iclamp: func(_ *fpEnv, _, _, _ uint64) uint64 { return 0 }}
		post, err := b.result(v, in)
		if err != nil {
			return nil, err
		}
		saturate := in.Clamp
		s0, s1, s2 := s[0], s[1], s[2]
		return func(w *wave) {
			carry := k(&w.out[0], s0.get(w), s1.get(w), s2.get(w), cin.get(w))
			if saturate {
				for i := range w.out[0] {
					if carry>>i&1 != 0 {
						w.out[0][i] = clamp
					}
				}
			}
			lanes := w.exec
			if post != nil {
				lanes = post(w, d.get(w))
			}
			w.commit(d, dst, lanes)
			out.set(w, carry&lanes)
		}, nil
	})
}

func addc(d, a, b, _ *Vec, in uint64) (out uint64) {
	_, _, _ = d[0], a[0], b[0]
	for i := range d {
		s := uint64(a[i]) + uint64(b[i]) + in&1
		in >>= 1
		d[i] = uint32(s)
		out = top(out, s<<31)
	}
	return out
}

func subb(d, a, b, _ *Vec, in uint64) (out uint64) {
	_, _, _ = d[0], a[0], b[0]
	for i := range d {
		s := uint64(a[i]) - uint64(b[i]) - in&1
		in >>= 1
		d[i] = uint32(s)
		out = top(out, s)
	}
	return out
}

func madU64(d, a, b, c *Vec, _ uint64) (out uint64) {
	dh, ch := upper(d), upper(c)
	for i := range d {
		r, carry := bits.Add64(uint64(a[i])*uint64(b[i]), uint64(c[i])|uint64(ch[i])<<32, 0)
		d[i], dh[i] = uint32(r), uint32(r>>32)
		out |= carry << (i & 63)
	}
	return out
}

func subbrev(d, a, b, c *Vec, in uint64) uint64 { return subb(d, b, a, c, in) }

var _ = define(func() {
	onCarry("v_add_co_u32", 2, 1, addc, ^uint32(0))
	onCarry("v_addc_co_u32", 2, 1, addc, ^uint32(0))
	onCarry("v_sub_co_u32", 2, 1, subb, 0)
	onCarry("v_subb_co_u32", 2, 1, subb, 0)
	onCarry("v_subrev_co_u32", 2, 1, subbrev, 0)
	onCarry("v_subbrev_co_u32", 2, 1, subbrev, 0)
	onCarry("v_mad_u64_u32", 3, 2, madU64, 0)
	onCarry("v_mad_i64_i32", 3, 2, func(d, a, b, c *Vec, _ uint64) (out uint64) {
		dh, ch := upper(d), upper(c)
		for i := range d {
			p, z := int64(int32(a[i]))*int64(int32(b[i])), int64(uint64(c[i])|uint64(ch[i])<<32)
			r := p + z
			d[i], dh[i] = uint32(r), uint32(r>>32)
			out |= uint64((p^r)&(z^r)) >> 63 << (i & 63)
		}
		return out
	}, 0)
	on("v_cndmask_b32", cndmask)
})

func cndmask(b *binder, in *gcn.Inst) (func(*wave), error) {
	d, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	s, err := b.sources(in, 2)
	if err != nil {
		return nil, err
	}
	m, err := scalarAs64(&in.Src[2])
	if err != nil {
		return nil, err
	}
	post, err := b.result(&vop{dst: 1}, in)
	if err != nil {
		return nil, err
	}
	s0, s1 := s[0], s[1]
	if post != nil {
		return func(w *wave) {
			w.selectLanes(&w.out[0], s0.get(w), s1.get(w), m.get(w))
			w.commit(d, 1, post(w, d.get(w)))
		}, nil
	}
	return func(w *wave) {
		if w.full {
			w.selectLanes(d.get(w), s0.get(w), s1.get(w), m.get(w))
			return
		}
		w.selectLanes(&w.out[0], s0.get(w), s1.get(w), m.get(w))
		w.commit(d, 1, w.exec)
	}, nil
}

// selectLanes takes b where the mask is set, a elsewhere.
func (w *wave) selectLanes(d, a, b *Vec, mask uint64) {
	x, y, z, m := pairs(d), pairs(a), pairs(b), pairs(w.selecting.vec(mask))
	for i := range x {
		x[i] = y[i] ^ (y[i]^z[i])&m[i]
	}
}
