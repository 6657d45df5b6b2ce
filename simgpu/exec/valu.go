package exec

import (
	"errors"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// kernel is the semantics of a vector operation over all lanes: the result and
// the sources in architectural order. 64-bit operands go on in the next
// register. The result may be one of the sources; a lane's sources are read
// before its result is written. All lanes are computed; which of them count is
// the caller's business. Faster implementations stand behind this signature.
// Those here touch each register before their loop, which then needs no nil
// checks.
type kernel = func(d, a, b, c *Vec)

// floats says of which floating-point type an operation's results are, which
// decides what modifiers and modes mean.
type floats uint8

const (
	notFloat floats = iota
	isF32
	isF64
	isF16
	isPackF16
	isPackF32
)

// vop describes a vector operation.
type vop struct {
	k      kernel
	slow   func(e *fpEnv, a, b, c uint64) uint64 // one lane, in any floating-point mode; nil: MODE does not matter
	fl     floats
	even   bool // rounded to the nearest, slow is k between flushed operands and a flushed result
	srcs   int
	dst    int                                   // registers of the result
	keeps  bool                                  // the 16-bit result leaves the other half of the destination as it is
	iclamp func(e *fpEnv, a, b, c uint64) uint64 // integer clamp: saturating version
}

var vops = map[string]*vop{}

// valu defines a vector operation of n sources.
func valu(name string, n int, k kernel) *vop {
	v := &vop{k: k, srcs: n, dst: 1}
	vops[name] = v
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) { return b.valu(v, in) })
	return v
}

func (v *vop) wide() *vop { v.dst = 2; return v }

func (v *vop) f32(slow func(e *fpEnv, a, b, c uint64) uint64) *vop {
	v.fl, v.slow = isF32, slow
	return v
}

func (v *vop) f64(slow func(e *fpEnv, a, b, c uint64) uint64) *vop {
	v.fl, v.slow, v.dst = isF64, slow, 2
	return v
}

func (v *vop) f16(slow func(e *fpEnv, a, b, c uint64) uint64) *vop {
	v.fl, v.slow = isF16, slow
	return v
}

// nearest says that the operation's slow form, rounding to the nearest, is the other
// one between flushed operands and a flushed result.
func (v *vop) nearest() *vop { v.even = true; return v }

func (v *vop) saturating(f func(e *fpEnv, a, b, c uint64) uint64) *vop { v.iclamp = f; return v }

var errModifier = errors.New("modifier is not executable here")

// sources binds the sources of a vector operation with their modifiers.
func (b *binder) sources(in *gcn.Inst, n int) (s [3]vsrc, err error) {
	for i := range s {
		if i >= n || in.Src[i].Kind == gcn.None {
			s[i] = vsrc{kind: fromConst, con: b.constant(0)}
			continue
		}
		if s[i], err = b.vector(&in.Src[i], i); err != nil {
			return
		}
		if s[i].prep, err = b.modifiers(in, i); err != nil {
			return
		}
	}
	return
}

// valu binds a vector operation.
func (b *binder) valu(v *vop, in *gcn.Inst) (func(*wave), error) {
	d, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	s, err := b.sources(in, v.srcs)
	if err != nil {
		return nil, err
	}
	post, err := b.result(v, in)
	if err != nil {
		return nil, err
	}
	k, slow := v.k, v.slowKernel(in)
	if in.Clamp && v.iclamp != nil {
		k, slow = nil, lanewise(v.iclamp, in, v.dst)
	}
	s0, s1, s2 := s[0], s[1], s[2]
	if post != nil || k == nil {
		return func(w *wave) {
			out := &w.out[0]
			if k != nil && !w.isSlow(v.fl) {
				k(out, s0.get(w), s1.get(w), s2.get(w))
			} else {
				slow(w, out, s0.get(w), s1.get(w), s2.get(w))
			}
			mask := w.exec
			if post != nil {
				mask = post(w, d.get(w))
			}
			w.commit(d, v.dst, mask)
		}, nil
	}
	general := func(w *wave) {
		switch {
		case v.fl != notFloat && w.isSlow(v.fl):
			slow(w, &w.out[0], s0.get(w), s1.get(w), s2.get(w))
		case w.full:
			k(d.get(w), s0.get(w), s1.get(w), s2.get(w))
			return
		default:
			k(&w.out[0], s0.get(w), s1.get(w), s2.get(w))
		}
		w.commit(d, v.dst, w.exec)
	}
	if p, ok := plainOperands(d, &s); ok {
		return v.plainValu(p, general), nil
	}
	return general, nil
}

// isSlow reports whether MODE asks for something else than the fast kernels of
// this type do: round to nearest even, keep denormals.
func (w *wave) isSlow(f floats) bool {
	switch f {
	case notFloat:
		return false
	case isF32, isPackF32:
		return w.fp.slow32
	}
	return w.fp.slow64
}

// commit merges n result registers from w.out into the destination.
func (w *wave) commit(d vdst, n int, mask uint64) {
	dv := d.get(w)
	for i := range n {
		w.merge(dv, &w.out[i], mask)
		if i+1 < n {
			dv = upper(dv)
		}
	}
}

// slowKernel makes the vector form of v.slow.
func (v *vop) slowKernel(in *gcn.Inst) func(w *wave, d, a, b, c *Vec) {
	if v.slow == nil {
		return func(w *wave, d, a, b, c *Vec) { v.k(d, a, b, c) }
	}
	lanes := lanewise(v.slow, in, v.dst)
	if !v.even {
		return lanes
	}
	f := map[floats]format{isF16: fmt16, isF32: fmt32, isF64: fmt64}[v.fl]
	return func(w *wave, d, a, b, c *Vec) {
		mode, in, out := f.env(&w.fp)
		if mode != roundEven {
			lanes(w, d, a, b, c)
			return
		}
		src := [3]*Vec{a, b, c}
		if in {
			for i := range v.srcs {
				src[i] = f.flushVector(&w.flushed[i], src[i])
			}
		}
		v.k(d, src[0], src[1], src[2])
		if out {
			f.flushVector((*[2]Vec)(unsafe.Pointer(d)), d)
		}
	}
}

// lanewise applies a function of one lane to all active lanes.
func lanewise(f func(e *fpEnv, a, b, c uint64) uint64, in *gcn.Inst, dst int) func(w *wave, d, a, b, c *Vec) {
	var wide [3]bool
	for i := range wide {
		wide[i] = in.Src[i].Width == 2
	}
	return func(w *wave, d, a, b, c *Vec) {
		load := func(v *Vec, i int, wide bool) uint64 {
			x := uint64(v[i])
			if wide {
				x |= uint64(upper(v)[i]) << 32
			}
			return x
		}
		for i := range d {
			r := f(&w.fp, load(a, i, wide[0]), load(b, i, wide[1]), load(c, i, wide[2]))
			d[i] = uint32(r)
			if dst == 2 {
				upper(d)[i] = uint32(r >> 32)
			}
		}
	}
}
