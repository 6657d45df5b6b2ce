package exec

import (
	"fmt"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sref is a 32-bit scalar source: a register or a constant, without a branch.
type sref struct {
	reg       uint8
	mask, val uint32
}

func (s *sref) get(w *wave) uint32 { return w.S[s.reg]&s.mask | s.val }

// sref64 is a 64-bit scalar source.
type sref64 struct {
	reg       uint8
	mask, val uint64
}

func (s *sref64) get(w *wave) uint64 {
	return (uint64(w.S[s.reg])|uint64(w.S[s.reg+1])<<32)&s.mask | s.val
}

// badOperand is why an instruction cannot be bound.
type badOperand struct{ o gcn.Operand }

func (e *badOperand) Error() string {
	return fmt.Sprintf("operand (kind %d, register %d, %d dwords) is not possible here", e.o.Kind, e.o.Index, e.o.Width)
}

// aperture returns the 64-bit value of a special source that is an aperture.
func aperture(index uint16) (uint64, bool) {
	switch index {
	case gcn.SrcSharedBase:
		return sharedBase, true
	case gcn.SrcSharedLimit:
		return sharedBase | 0xffffffff, true
	case gcn.SrcPrivateBase:
		return privateBase, true
	case gcn.SrcPrivateLimit:
		return privateBase | 0xffffffff, true
	case gcn.SrcPopsExitingWave:
		return 0, true
	}
	return 0, false
}

// scalar binds a 32-bit scalar source.
func scalar(o *gcn.Operand) (sref, error) {
	switch o.Kind {
	case gcn.SGPR:
		return sref{reg: uint8(o.Index & 127), mask: ^uint32(0)}, nil
	case gcn.Inline, gcn.Literal:
		return sref{val: uint32(o.Value)}, nil
	case gcn.Special:
		if v, ok := aperture(o.Index); ok {
			return sref{val: uint32(v)}, nil
		}
		switch o.Index {
		case regSCC, regVCCZ, regEXECZ:
			return sref{reg: uint8(o.Index), mask: ^uint32(0)}, nil
		case gcn.SrcNull:
			return sref{}, nil
		}
	case gcn.None, gcn.Off:
		return sref{}, nil
	}
	return sref{}, &badOperand{*o}
}

// scalar64 binds a 64-bit scalar source.
func scalar64(o *gcn.Operand) (sref64, error) {
	switch o.Kind {
	case gcn.SGPR:
		if o.Index > 126 {
			return sref64{}, &badOperand{*o}
		}
		return sref64{reg: uint8(o.Index), mask: ^uint64(0)}, nil
	case gcn.Inline, gcn.Literal:
		return sref64{val: o.Value}, nil
	case gcn.Special:
		if v, ok := aperture(o.Index); ok {
			return sref64{val: v}, nil
		}
		switch o.Index {
		case regSCC, regVCCZ, regEXECZ:
			return sref64{reg: uint8(o.Index), mask: 0xffffffff}, nil
		case gcn.SrcNull:
			return sref64{}, nil
		}
	}
	return sref64{}, &badOperand{*o}
}

// regLost is where is written what is lost, a pair that nothing reads.
const regLost = 254

// sdst binds a scalar destination of n dwords.
func sdst(o *gcn.Operand, n int) (uint8, error) {
	if o.Kind == gcn.Special && o.Index == gcn.SrcNull && n <= 2 {
		return regLost, nil
	}
	if o.Kind != gcn.SGPR || int(o.Index)+n > 128 {
		return 0, &badOperand{*o}
	}
	return uint8(o.Index), nil
}

// mdst is a lane mask as a destination: a pair of scalar registers, one of them where waves have 32 lanes.
type mdst struct {
	reg  uint8
	wide bool
}

// mask binds a lane mask as a destination.
func mask(o *gcn.Operand) (mdst, error) {
	n := max(1, int(o.Width))
	reg, err := sdst(o, n)
	return mdst{reg, n == 2}, err
}

func (d mdst) set(w *wave, m uint64) {
	w.S[d.reg] = uint32(m)
	if d.wide {
		w.S[d.reg+1] = uint32(m >> 32)
	}
}

// usesZ reports whether an instruction reads VCCZ or EXECZ, which are not kept
// but computed when they are wanted.
func usesZ(in *gcn.Inst) bool {
	z := func(o *gcn.Operand) bool {
		return o.Kind == gcn.Special && (o.Index == regVCCZ || o.Index == regEXECZ)
	}
	return z(&in.Src[0]) || z(&in.Src[1]) || z(&in.Src[2]) || z(&in.SOffset)
}

func (w *wave) computeZ() {
	w.S[regVCCZ], w.S[regEXECZ] = 0, 0
	if w.condition() == 0 {
		w.S[regVCCZ] = 1
	}
	if w.active() == 0 {
		w.S[regEXECZ] = 1
	}
}

// vkind says where the vector of a source comes from.
type vkind uint8

const (
	fromVGPR vkind = iota
	fromAcc
	fromConst
	fromSGPR    // broadcast
	fromIndexed // VGPR relative to M0
)

// vsrc is a vector source: n consecutive registers, or the same scalar or
// constant in all lanes, and what is done to it before it is used.
type vsrc struct {
	kind vkind
	wide bool // two registers
	reg  uint16
	con  *[2]Vec
	slot uint8                         // of wave.tmp, for prep
	prep func(w *wave, d, s *Vec) *Vec // modifiers; nil if none
}

// get returns the first register of the source.
func (s *vsrc) get(w *wave) *Vec {
	var v *Vec
	switch s.kind {
	case fromVGPR:
		v = &w.V[s.reg]
	case fromConst:
		v = &s.con[0]
	case fromAcc:
		v = &w.A[s.reg]
	case fromIndexed:
		v = w.indexedReg(s.reg, s.regs())
	default:
		v = w.broadcast(uint8(s.reg))
		if s.wide {
			w.broadcast(uint8(s.reg + 1))
		}
	}
	if s.prep != nil {
		return s.prep(w, &w.tmp[s.slot*2], v)
	}
	return v
}

func (s *vsrc) regs() int {
	if s.wide {
		return 2
	}
	return 1
}

// vector binds a vector source of one or two registers.
func (b *binder) vector(o *gcn.Operand, slot int) (vsrc, error) {
	s := vsrc{slot: uint8(slot), wide: o.Width == 2, reg: o.Index}
	switch o.Kind {
	case gcn.VGPR, gcn.AccVGPR:
		s.kind = fromVGPR
		if o.Kind == gcn.AccVGPR {
			s.kind = fromAcc
		} else if b.indexed>>slot&1 != 0 {
			s.kind = fromIndexed
		}
		b.need(o)
	case gcn.SGPR:
		s.kind = fromSGPR
		if int(o.Index)+int(o.Width) > 128 {
			return s, &badOperand{*o}
		}
	case gcn.Inline, gcn.Literal:
		s.kind = fromConst
		s.con = b.constant(o.Value)
	case gcn.Special:
		if v, ok := aperture(o.Index); ok {
			if !s.wide {
				v = uint64(uint32(v))
			}
			s.kind = fromConst
			s.con = b.constant(v)
			break
		}
		switch o.Index {
		case gcn.SrcNull:
			s.kind, s.con = fromConst, b.constant(0)
		case regSCC, regVCCZ, regEXECZ:
			s.kind = fromSGPR
			s.wide = false
			if o.Width == 2 {
				return s, &badOperand{*o}
			}
		default:
			return s, &badOperand{*o}
		}
	default:
		return s, &badOperand{*o}
	}
	return s, nil
}

// vdst is a vector destination of up to 4 registers, vector or accumulation.
type vdst struct {
	acc     bool
	indexed bool // relative to M0
	reg     uint16
	n       uint8
}

func (d vdst) get(w *wave) *Vec {
	if d.acc {
		return &w.A[d.reg]
	}
	if d.indexed {
		return w.indexedReg(d.reg, int(d.n))
	}
	return &w.V[d.reg]
}

// dest binds a vector destination.
func (b *binder) dest(o *gcn.Operand) (vdst, error) {
	if o.Kind != gcn.VGPR && o.Kind != gcn.AccVGPR {
		return vdst{}, &badOperand{*o}
	}
	b.need(o)
	acc := o.Kind == gcn.AccVGPR
	return vdst{acc, !acc && b.indexed&indexDst != 0, o.Index, o.Width}, nil
}

// constant returns the value in all lanes of two registers, shared by all
// instructions that use it.
func (b *binder) constant(v uint64) *[2]Vec {
	b.blk.cost += constantCost // whoever uses it keeps it
	if c := b.p.consts[v]; c != nil {
		return c
	}
	c := new([2]Vec)
	for i := range c[0] {
		c[0][i] = uint32(v)
		c[1][i] = uint32(v >> 32)
	}
	b.p.consts[v] = c
	return c
}

// need notes how many registers the block uses, so that a wave with fewer is
// stopped before it executes it.
func (b *binder) need(o *gcn.Operand) {
	n := int(o.Index) + max(1, int(o.Width))
	if o.Kind == gcn.AccVGPR {
		b.blk.needA = max(b.blk.needA, n)
	} else {
		b.blk.needV = max(b.blk.needV, n)
	}
}
