package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What is undefined, bit by bit: registers, LDS and scratch are until something is
// written to them, and what is computed from them is where it depends on them.
// Copying is silent; what is reported is a branch, an address, or a store to
// device memory, where a program's result begins to depend on it. Device memory
// itself counts as defined.
//
// A stored byte, short or dword is reported if each of its bytes has undefined
// bits: structs are copied with the gaps between their members.

// undefined has a bit set where the bit of the wave's state is undefined.
type undefined struct {
	v, a    []Vec
	s       [256]uint32
	small   bool // waves have 32 lanes: their masks are one register
	scratch []byte
	out     [8]Vec    // of a result
	tmp     [3][2]Vec // of sources
	prep    [3][2]Vec // after modifiers
	file    [2][]Vec  // registers for matrix instructions, v and a
}

var defined [4]Vec // of constants

func fill(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// slack is how far operands may reach behind the registers that a wave has.
const slack = 40

func newUndefined(w *wave, sgprs, lanes int) (u undefined) {
	size := w.d.waveSize()
	all := func(n int) []Vec {
		r := make([]Vec, n+slack)
		for i := range r {
			for j := range size { // others there are not
				r[i][j] = ^uint32(0)
			}
		}
		return r
	}
	u.v, u.a = all(len(w.V)), all(len(w.A))
	u.small = size == 32
	for i := range lanes {
		u.v[0][i] = 0
	}
	for i := sgprs; i <= 101; i++ {
		u.s[i] = ^uint32(0)
	}
	for _, i := range []int{regVCC, regVCC + 1, regM0} {
		u.s[i] = ^uint32(0)
	}
	u.s[regSCC] = 1
	u.scratch = make([]byte, len(w.scratch))
	fill(u.scratch)
	return u
}

// scalarBits are the undefined bits of a scalar operand.
func (u *undefined) scalarBits(o *gcn.Operand) uint64 {
	switch {
	case o.Kind == gcn.SGPR && o.Width >= 2 && o.Index < 127:
		return uint64(u.s[o.Index]) | uint64(u.s[o.Index+1])<<32
	case o.Kind == gcn.SGPR:
		return uint64(u.s[o.Index&127])
	case o.Kind == gcn.Special && o.Index == regSCC:
		return uint64(u.s[regSCC])
	case o.Kind == gcn.Special && o.Index == regVCCZ:
		return min(u.vcc(), 1)
	}
	return 0
}

// masks is how many registers a mask of lanes has.
func (u *undefined) masks() uint8 {
	if u.small {
		return 1
	}
	return 2
}

// vcc are the undefined bits of VCC.
func (u *undefined) vcc() uint64 {
	return u.scalarBits(&gcn.Operand{Kind: gcn.SGPR, Index: regVCC, Width: u.masks()})
}

// setScalar sets those of n dwords from register i on.
func (u *undefined) setScalar(i uint16, n uint8, x uint64) {
	for k := range n {
		if r := int(i) + int(k); r < 128 && r != gcn.SrcNull {
			u.s[r] = uint32(x)
		}
		x >>= 32
	}
}

// exchange swaps the wave's vector registers for what is undefined of them, and
// back: functions of the wave that take operands work on either.
func (w *wave) exchange() {
	x := w.watched
	w.V, x.v = x.v, w.V
	w.A, x.a = x.a, w.A
}

// source is a vector source and what is undefined of it.
type source struct {
	vsrc
	o    gcn.Operand
	slot int
	half bool // only 16 bits of it count
}

// undef is what is undefined of the source, two registers if it is wide.
func (s *source) undef(w *wave) *Vec {
	x := w.watched
	var v *Vec
	switch s.kind {
	case fromConst:
		return &defined[0]
	case fromSGPR:
		n := min(int(s.o.Width), 2)
		if s.o.Kind == gcn.Special {
			n = 1
		}
		b := x.scalarBits(&s.o)
		if b == 0 && s.prep == nil {
			return &defined[0]
		}
		t := &x.tmp[s.slot]
		for k := range max(n, 1) {
			for i := range t[k] {
				t[k][i] = uint32(b >> (32 * k))
			}
		}
		v = &t[0]
	default:
		raw := s.vsrc
		raw.prep = nil
		w.exchange()
		v = raw.get(w)
		w.exchange()
	}
	if s.prep != nil {
		v = s.prep(w, &x.prep[s.slot][0], v)
	}
	return v
}

// undefinedSources binds the sources of a vector operation: their values, and
// what is undefined of them.
func undefinedSources(b *binder, in *gcn.Inst) (list []source, ok bool) {
	plain := *in
	plain.Neg, plain.Abs = 0, 0
	for i := range in.Src {
		o := in.Src[i]
		if o.Kind == gcn.None {
			break
		}
		s := source{o: o, slot: i}
		if o.Type == gcn.Mask && o.Kind == gcn.SGPR {
			s.vsrc = vsrc{kind: fromSGPR, wide: true, reg: o.Index}
			list = append(list, s)
			continue
		}
		var err error
		if s.vsrc, err = b.vector(&o, i); err != nil {
			return nil, false
		}
		if in.Info.Flags&gcn.MixMods == 0 && in.Enc != gcn.VOP3P {
			if s.prep, err = b.modifiers(&plain, i); err != nil {
				return nil, false
			}
			s.half = o.Type == gcn.F16 || o.Type == gcn.I16
		}
		list = append(list, s)
	}
	return list, true
}

// lanesUndefined are the lanes of a mask for which one of n registers is undefined.
func lanesUndefined(v *Vec, n int, mask uint64) (lanes uint64) {
	if n == 0 {
		return 0
	}
	for k := range n {
		if k > 0 {
			v = upper(v)
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if v[i] != 0 {
				lanes |= 1 << i
			}
		}
	}
	return lanes
}
