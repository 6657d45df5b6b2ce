package exec

import (
	"slices"
	"unsafe"
)

// Where most time is spent: vector operations on plain registers, scalars and
// constants, without modifiers of the sources or the result.

// vplace is where a vector lies: at a fixed address (a constant), or in a wave.
type vplace struct {
	con  *Vec
	base placeBase
	off  uintptr // bytes
}

// placeBase is a part of the wave; see wave.bases.
type placeBase uint8

const (
	inV     placeBase = iota // vector registers
	inA                      // accumulation registers
	inBcast                  // scalar registers as vectors
	numBases
)

// at returns the vector. That the wave has as many registers was checked when
// its block was entered.
func (p vplace) at(w *wave) *Vec {
	if p.con != nil {
		return p.con
	}
	return (*Vec)(unsafe.Add(w.bases[p.base], p.off))
}

func placeOf(base placeBase, reg int) vplace {
	return vplace{base: base, off: uintptr(reg) * unsafe.Sizeof(Vec{})}
}

// setBases notes where the wave's registers lie.
func (w *wave) setBases() {
	w.bases = [numBases]unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(w.V)), unsafe.Pointer(unsafe.SliceData(w.A)), unsafe.Pointer(&w.bcast)}
}

// plain are the operands of an operation that are found without a call.
type plain struct {
	d, a, b, c vplace
	bcast      []uint8 // scalar registers among them
}

// plainOperands binds the operands as plain ones, if they are that.
func plainOperands(d vdst, s *[3]vsrc) (p plain, ok bool) {
	if d.indexed {
		return p, false
	}
	p.d = placeOf(inV, int(d.reg))
	if d.acc {
		p.d.base = inA
	}
	for i, at := range []*vplace{&p.a, &p.b, &p.c} {
		v := &s[i]
		if v.prep != nil {
			return p, false
		}
		switch v.kind {
		case fromVGPR:
			*at = placeOf(inV, int(v.reg))
		case fromAcc:
			*at = placeOf(inA, int(v.reg))
		case fromConst:
			at.con = &v.con[0]
		case fromSGPR:
			*at = placeOf(inBcast, int(v.reg))
			for r := range v.regs() {
				if n := uint8(int(v.reg) + r); !slices.Contains(p.bcast, n) {
					p.bcast = append(p.bcast, n)
				}
			}
		default:
			return p, false
		}
	}
	return p, true
}

// plainValu binds an operation on plain operands. general does the same for
// modes of floating-point arithmetic that the kernels do not know.
func (v *vop) plainValu(p plain, general func(*wave)) func(*wave) {
	fl := v.fl
	if v.slow == nil {
		fl = notFloat
	}
	k, n, d := v.k, v.dst, p.d
	return func(w *wave) {
		if fl != notFloat && w.isSlow(fl) {
			general(w)
			return
		}
		for _, r := range p.bcast {
			w.broadcast(r)
		}
		if w.full {
			k(d.at(w), p.a.at(w), p.b.at(w), p.c.at(w))
			return
		}
		k(&w.out[0], p.a.at(w), p.b.at(w), p.c.at(w))
		dv := d.at(w)
		for i := range n {
			w.merge(dv, &w.out[i], w.exec)
			if i+1 < n {
				dv = upper(dv)
			}
		}
	}
}

// refresh makes the scalar registers among the operands vectors.
func (w *wave) refresh(regs []uint8) {
	for _, n := range regs {
		if w.bcast[n][0] != w.S[n] {
			w.broadcast(n)
		}
	}
}

// compare binds a comparison of plain operands. general does the same for modes
// that flush denormal sources.
func (p plain) compare(r relation, o *ordering, out mdst, general func(*wave)) func(*wave) {
	isFloat, wide := o.un != nil, o.flush.bits != 32
	return func(w *wave) {
		if isFloat && (wide && w.fp.flushIn64 || !wide && w.fp.flushIn32) {
			general(w)
			return
		}
		w.refresh(p.bcast)
		out.set(w, r(p.a.at(w), p.b.at(w))&w.exec)
	}
}
