//go:build linux && amd64

package exec

import (
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Instructions that compute affine numbers from others: with scalar instructions, on what the first lane has.

// affineTerm is a number of 32 bits that is the same in all lanes.
type affineTerm struct {
	o *gcn.Operand // a constant or a scalar register
	affineReg
}

// term is an operand that is one.
func (p *affinePlanner) term(o *gcn.Operand) (affineTerm, bool) {
	if o.Kind == gcn.VGPR {
		r, ok := p.regs[int(o.Index)]
		return affineTerm{affineReg: r}, ok && r.root == nil && r.part != affineSign
	}
	_, con := constOf(o)
	return affineTerm{o: o}, o.Width <= 1 && (con || o.Kind == gcn.SGPR && o.Index < regEXEC)
}

// made are the instructions that have computed it.
func (t *affineTerm) by() []int {
	if t.affine == nil {
		return nil
	}
	return t.made
}

// lowOf is what is in the register that an operand names, if it is the lower half of an affine number.
func (p *affinePlanner) lowOf(o *gcn.Operand) (affineReg, bool) {
	if o.Kind != gcn.VGPR {
		return affineReg{}, false
	}
	r := p.low(int(o.Index))
	return r, r.affine != nil
}

// oneOfTwo are those of two operands that are an affine number and a term, in any order.
func (p *affinePlanner) oneOfTwo(x, y *gcn.Operand) (affineReg, affineTerm, bool) {
	for range 2 {
		if t, ok := p.term(y); ok {
			if r, ok := p.lowOf(x); ok {
				return r, t, true
			}
		}
		x, y = y, x
	}
	return affineReg{}, affineTerm{}, false
}

// instead decides whether code that computes affine numbers stands for an instruction.
func (p *affinePlanner) instead(i int) bool {
	in := &p.nb.ins[i]
	if sum, ok := p.pairs[i]; ok {
		p.plan.steps[i].stale = p.unwritten()
		delete(p.pairs, i)
		done := p.addHigh(i, sum)
		p.failed = p.failed || !done && p.only != nil
		return done
	}
	if in.Dst.Kind != gcn.VGPR || in.Dual != nil || !isPlain(in) {
		return false
	}
	s, x, y, z := &p.plan.steps[i], &in.Src[0], &in.Src[1], &in.Src[2]
	// on32 is for those that compute 32 bits in EAX.
	on32 := func(r affineReg, shift int, by []int, f func(g *nativeGen)) bool {
		v := p.value(false)
		if v == nil || !v.from(r, shift, i, by) {
			return false
		}
		s.make = func(g *nativeGen) {
			g.a.Load(false, x64.RAX, affineAt(r.slot))
			f(g)
			g.a.Store(false, affineAt(v.slot), x64.RAX)
		}
		p.set(&in.Dst, v)
		return true
	}
	switch in.Op {
	case gcn.V_MOV_B32:
		if x.Kind == gcn.VGPR {
			r, ok := p.regs[int(x.Index)]
			if !ok {
				r, ok = p.lowOf(x)
			}
			if !ok {
				return false
			}
			r.made, r.stale = append(r.made, i), true
			s.make = func(*nativeGen) {}
			p.gained()
			p.put(int(in.Dst.Index), r)
			return true
		}
		t, ok := p.term(x)
		v := p.value(false)
		if !ok || v == nil {
			return false
		}
		v.made = []int{i}
		s.make = func(g *nativeGen) {
			g.term(x64.RAX, t)
			g.a.Store(false, affineAt(v.slot), x64.RAX)
		}
		p.set(&in.Dst, v)
		return true
	case gcn.V_ASHRREV_I32:
		n, con := constOf(x)
		r, ok := p.lowOf(y)
		if !con || n&31 != 31 || !ok {
			return false
		}
		r.made = append(r.made, i)
		s.make = func(*nativeGen) {}
		p.gained()
		p.put(int(in.Dst.Index), affineReg{r.affine, affineSign, true})
		return true
	case gcn.V_ADD_U32:
		r, t, ok := p.oneOfTwo(x, y)
		return ok && on32(r, 0, t.by(), func(g *nativeGen) { g.withTerm(x64.ADD, t) })
	case gcn.V_SUB_U32, gcn.V_SUBREV_U32:
		if in.Op == gcn.V_SUBREV_U32 {
			x, y = y, x
		}
		r, affine := p.lowOf(x)
		t, ok := p.term(y)
		return affine && ok && on32(r, 0, t.by(), func(g *nativeGen) { g.withTerm(x64.SUB, t) })
	case gcn.V_ADD3_U32:
		for range 3 {
			x, y, z = y, z, x
			if t, ok := p.term(x); ok {
				if r, u, ok := p.oneOfTwo(y, z); ok {
					return on32(r, 0, slices.Concat(t.by(), u.by()), func(g *nativeGen) {
						g.withTerm(x64.ADD, t)
						g.withTerm(x64.ADD, u)
					})
				}
			}
		}
	case gcn.V_LSHLREV_B32:
		n, con := constOf(x)
		r, ok := p.lowOf(y)
		return con && ok && on32(r, int(n&31), nil, func(g *nativeGen) { g.a.ShiftImm(x64.SHL, false, x64.RAX, byte(n&31)) })
	case gcn.V_LSHL_ADD_U32:
		n, con := constOf(y)
		r, affine := p.lowOf(x)
		t, ok := p.term(z)
		return con && affine && ok && on32(r, int(n&31), t.by(), func(g *nativeGen) {
			g.a.ShiftImm(x64.SHL, false, x64.RAX, byte(n&31))
			g.withTerm(x64.ADD, t)
		})
	case gcn.V_ADD_LSHL_U32:
		n, con := constOf(z)
		r, t, ok := p.oneOfTwo(x, y)
		return con && ok && on32(r, int(n&31), t.by(), func(g *nativeGen) {
			g.withTerm(x64.ADD, t)
			g.a.ShiftImm(x64.SHL, false, x64.RAX, byte(n&31))
		})
	case gcn.V_LSHLREV_B64:
		n, con := constOf(x)
		from, ok := p.wide(y)
		return con && ok && p.on64(i, from, int(n&63), nil, func(g *nativeGen) { g.a.ShiftImm(x64.SHL, true, x64.RAX, byte(n&63)) })
	case gcn.V_LSHL_ADD_U64:
		n, con := constOf(y)
		if !con || n&7 > 4 {
			return false
		}
		shift := byte(n & 7)
		if plus := scalarPair(z); plus != nil {
			from, ok := p.wide(x)
			return ok && p.on64(i, from, int(shift), nil, func(g *nativeGen) {
				g.a.ShiftImm(x64.SHL, true, x64.RAX, shift)
				g.scalarTo(x64.RCX, plus)
				g.a.Op(x64.ADD, true, x64.RAX, x64.RCX)
			})
		}
		if plus := scalarPair(x); plus != nil {
			from, ok := p.wide(z)
			return ok && p.on64(i, from, 0, nil, func(g *nativeGen) {
				g.scalarTo(x64.RCX, plus)
				g.a.ShiftImm(x64.SHL, true, x64.RCX, shift)
				g.a.Op(x64.ADD, true, x64.RAX, x64.RCX)
			})
		}
	case gcn.V_ADD_CO_U32:
		return p.addLow(i)
	}
	return false
}

// scalarPair is an operand that is a pair of scalar registers, nil for others.
func scalarPair(o *gcn.Operand) *gcn.Operand {
	if o.Kind == gcn.SGPR && o.Width == 2 && o.Index+1 < regEXEC {
		return o
	}
	return nil
}

// from makes v what is computed from r, shifted. It reports whether v is not too large for this.
func (v *affine) from(r affineReg, shift, i int, by []int) bool {
	if shift > 12 {
		return false
	}
	v.root, v.scale, v.stride = r.root, r.scale<<shift, r.stride<<shift
	v.made = slices.Concat(r.made, by, []int{i})
	return v.scale <= mostAffine && v.stride <= mostAffine
}

// set makes v what is in the destination.
func (p *affinePlanner) set(dst *gcn.Operand, v *affine) {
	reg := int(dst.Index)
	p.gained()
	p.put(reg, affineReg{v, affineLow, true})
	if v.wide {
		p.put(reg+1, affineReg{v, affineHigh, true})
	}
}

// put notes what is in a register now.
func (p *affinePlanner) put(reg int, r affineReg) {
	p.lost(reg, 1, true)
	p.regs[reg] = r
}

func (p *affinePlanner) gained() { p.gain += affineInstead }

// affineWide is where 64 bits come from.
type affineWide struct {
	affineReg
	signed bool        // its lower half, with its sign
	high   *affineTerm // its lower half, and this one; nil: all of it
}

// wide is an operand of two registers.
func (p *affinePlanner) wide(o *gcn.Operand) (from affineWide, ok bool) {
	if o.Kind != gcn.VGPR || o.Width != 2 {
		return from, false
	}
	reg := int(o.Index)
	if v := p.pair(reg); v != nil {
		return affineWide{affineReg: affineReg{affine: v}}, true
	}
	hi, ok := p.regs[reg+1]
	if !ok {
		return from, false
	}
	lo := p.low(reg)
	if lo.affine == nil {
		return from, false
	}
	if hi.part == affineSign && hi.affine == lo.affine {
		return affineWide{affineReg: lo, signed: true}, true
	}
	t, ok := p.term(&gcn.Operand{Kind: gcn.VGPR, Index: o.Index + 1})
	return affineWide{affineReg: lo, high: &t}, ok
}

// on64 is for instructions that compute 64 bits in RAX.
func (p *affinePlanner) on64(i int, from affineWide, shift int, by []int, f func(g *nativeGen)) bool {
	v, in := p.value(true), &p.nb.ins[i]
	if from.high != nil {
		by = slices.Concat(by, from.high.by())
	}
	if v == nil || !v.from(from.affineReg, shift, i, by) {
		return false
	}
	s := &p.plan.steps[i]
	s.stale = p.unwritten()
	s.make = func(g *nativeGen) {
		g.wideTo(&from)
		f(g)
		g.a.Store(true, affineAt(v.slot), x64.RAX)
	}
	p.set(&in.Dst, v)
	return true
}

// addLow decides about a sum's lower half, if the upper one follows.
func (p *affinePlanner) addLow(i int) bool {
	in, n := &p.nb.ins[i], p.g.maskRegs()
	carries, err := mask(&in.SDst)
	r, t, ok := p.oneOfTwo(&in.Src[0], &in.Src[1])
	if err != nil || !ok || carries.wide != p.g.wide() || carries.reg == regLost {
		return false
	}
	sum := pairSum{src: r, term: t, reg: int(in.Dst.Index), mask: carries, at: i}
	if t.o != nil && t.o.Kind == gcn.SGPR { // that may be written before the upper half is added
		v := p.value(false)
		if v == nil {
			return false
		}
		v.made, sum.term = []int{i}, affineTerm{affineReg: affineReg{affine: v}}
	}
	j := p.upper(i, sum.reg, int(carries.reg), n)
	if j < 0 || p.only != nil && !p.only[j] {
		return false
	}
	p.pairs[j] = sum
	p.plan.steps[i].make = func(g *nativeGen) {
		if sum.term != t {
			g.term(x64.RAX, t)
			g.a.Store(false, affineAt(sum.term.slot), x64.RAX)
		}
	}
	p.lost(sum.reg, 1, true)
	return true
}

// upper is the instruction that adds the upper half to the lower one in reg, which instruction i adds, if nobody else sees that or the carries before. It is -1
// if there is none.
func (p *affinePlanner) upper(i, reg, carries, n int) int {
	for j := i + 1; j < len(p.nb.b.ops); j++ {
		next := &p.nb.ins[j]
		touched := !p.nb.can[j] || next.Dual != nil
		vectorUses(next, func(first, n int, _ bool) { touched = touched || reg >= first && reg < first+n })
		if touched {
			return -1
		}
		if next.Op == gcn.V_ADDC_CO_U32 && next.Src[2].Kind == gcn.SGPR && int(next.Src[2].Index) == carries && isPlain(next) && next.Dst.Kind == gcn.VGPR {
			return j
		}
		if reads, _ := readsMask(next, carries, n); reads || writesScalars(next, carries, n) {
			return -1
		}
	}
	return -1
}

// addHigh decides about the upper half.
func (p *affinePlanner) addHigh(i int, sum pairSum) bool {
	in, g := &p.nb.ins[i], p.g
	mask, err := sdst(&in.SDst, g.maskRegs())
	if err != nil || int(in.Dst.Index) == sum.reg {
		return false
	}
	nb, idx, full := g.nb, g.idx, g.full
	g.nb, g.idx, g.full = p.nb, i, true
	stored, held := g.fate(int(mask))
	g.nb, g.idx, g.full = nb, idx, full
	if stored && mask != regLost || held {
		return false
	}
	from, x, y := affineWide{affineReg: sum.src}, &in.Src[0], &in.Src[1]
	isHigh := func(o *gcn.Operand) bool {
		r, ok := p.regs[int(o.Index)]
		return o.Kind == gcn.VGPR && ok && r.affine == sum.src.affine && r.part == affineHigh
	}
	if isHigh(x) {
		x, y = y, x
	}
	t, ok := p.term(x)
	high, also := affineTerm{}, false
	switch {
	case !ok:
		return false
	case isHigh(y):
	default:
		if high, also = p.term(y); !also {
			return false
		}
		from.high = &high
	}
	v := p.value(true)
	by := slices.Concat(t.by(), sum.term.by(), []int{sum.at})
	if from.high != nil {
		by = slices.Concat(by, high.by())
	}
	if v == nil || !v.from(sum.src, 0, i, by) {
		return false
	}
	p.plan.steps[i].make = func(g *nativeGen) {
		a := &g.a
		g.wideTo(&from)
		g.term(x64.R9, t)
		a.ShiftImm(x64.SHL, true, x64.R9, 32)
		g.term(x64.RCX, sum.term)
		a.Op(x64.ADD, true, x64.RAX, x64.R9)
		a.Op(x64.ADD, true, x64.RAX, x64.RCX)
		a.Store(true, affineAt(v.slot), x64.RAX)
	}
	p.gained()
	p.gained()
	for j, reg := range []int{sum.reg, int(in.Dst.Index)} {
		p.put(reg, affineReg{v, affinePart(j), true})
	}
	return true
}
