//go:build linux && amd64

package exec

import (
	"maps"
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Reads of the LDS that are not made. A block in a loop that reads the LDS at addresses which are rows, or the same in each
// quarter, has code of its own for that. In it a read only notes where in the LDS the register's contents are, its place, and the
// arithmetic that wants it takes it from there. The read is made after all before the LDS may change, before anybody else
// looks at the register, and at the end of the block where it matters behind it.

// ldsForm is what is known, in the code of a block, of the addresses in a register that keeps a slot.
type ldsForm uint8

const (
	formAny  ldsForm = iota
	formSame         // in each quarter
	formRow          // of dwords in each quarter
	formRows         // the same row in all quarters
)

// ldsPlace is where in the LDS the contents of a vector register are: at the addresses of a slot, and so many bytes behind.
type ldsPlace struct {
	slot, imm int
}

const (
	mostFormed   = 2   // registers whose addresses' form a block has code for
	mostFormsOps = 200 // instructions of a block that has code for the forms of more than one
)

// formed are the slots whose addresses' form a block is to have code for: those that it reads most from.
func (g *nativeGen) formed(i int) (slots []int) {
	if g.depth[i] == 0 || len(g.kept) == 0 {
		return nil
	}
	nb := &g.blocks[i]
	reads := make([]int, len(g.kept))
	var changed [ldsKept]bool
	for j := range nb.b.ops {
		in := &nb.ins[j]
		if !nb.can[j] { // Go may change the registers
			break
		}
		if slot, ok := g.ldsKeeps(&in.Addr); ok && in.Enc == gcn.DS && !changed[slot] && isLDSRead(in) {
			reads[slot] += len(ldsOffsets[in.Op.String()](in))
		}
		for s := range g.kept {
			changed[s] = changed[s] || g.kept[s].written(in)
		}
	}
	for s := range reads {
		if reads[s] > 1 {
			slots = append(slots, s)
		}
	}
	slices.SortStableFunc(slots, func(a, b int) int { return reads[b] - reads[a] })
	most := mostFormed
	if len(nb.b.ops) > mostFormsOps {
		most = 1
	}
	return slots[:min(len(slots), most)]
}

// byForm goes to code of the block for what the addresses in slots are now, and generates that. The code behind it is for any.
func (g *nativeGen) byForm(nb *nativeBlock, slots []int) {
	if len(slots) == 0 {
		return
	}
	a, other := &g.a, g.a.Label()
	for _, s := range slots {
		find, known := a.Label(), a.Label()
		a.OpImm(x64.CMP, false, x64.At(rW, waveKind+4*s), ldsUnknown)
		a.JumpIf(x64.E, find)
		a.Bind(known)
		g.later(func() {
			a.Bind(find)
			a.LoadAddress(x64.R10, known)
			a.Jump(g.keptAt[s])
		})
	}
	var leaves []func()
	var choose func(rest []int, forms map[int]ldsForm)
	choose = func(rest []int, forms map[int]ldsForm) {
		if len(rest) == 0 {
			l := a.Label()
			a.Jump(l)
			leaves = append(leaves, func() {
				a.Bind(l)
				g.forms = forms
				g.body(nb)
				g.forms, g.places = nil, nil
			})
			return
		}
		with := func(f ldsForm) {
			more := maps.Clone(forms)
			more[rest[0]] = f
			choose(rest[1:], more)
		}
		same, row := a.Label(), a.Label()
		a.Load(false, x64.RAX, x64.At(rW, waveKind+4*rest[0]))
		a.OpImm(x64.CMP, false, x64.RAX, ldsSame)
		a.JumpIf(x64.E, same)
		a.OpImm(x64.CMP, false, x64.RAX, ldsRow)
		a.JumpIf(x64.NE, other)
		base := waveBase + 16*rest[0]
		a.Load(g.wide(), x64.RAX, x64.At(rW, base))
		if g.wide() {
			a.Op(x64.CMP, true, x64.RAX, x64.At(rW, base+8))
			a.JumpIf(x64.NE, row)
		}
		a.Op(x64.CMP, false, x64.RAX, x64.At(rW, base+4))
		a.JumpIf(x64.NE, row)
		with(formRows)
		a.Bind(row)
		with(formRow)
		a.Bind(same)
		with(formSame)
	}
	choose(slots, map[int]ldsForm{})
	for _, leaf := range leaves {
		leaf()
	}
	a.Bind(other)
}

// isLDSRead reports whether an instruction reads dwords from the LDS and does nothing else.
func isLDSRead(in *gcn.Inst) bool {
	return ldsOffsets[in.Op.String()] != nil && in.Dst.Kind != gcn.None
}

// placed says where in the LDS the contents of a register are, if they are not in the register.
func (g *nativeGen) placed(o *gcn.Operand, reg int) (ldsPlace, bool) {
	if o.Kind != gcn.VGPR {
		return ldsPlace{}, false
	}
	p, ok := g.places[int(o.Index)+reg]
	return p, ok
}

// fromPlace is the operand for quarter q of what is at a place: a Mem or a Bcast. r is used for the address.
func (g *nativeGen) fromPlace(p ldsPlace, q int, r x64.Reg) any {
	g.a.LoadSigned(r, x64.At(rW, waveBase+16*p.slot+4*q))
	m := x64.AtIndex(rLDS, r, p.imm)
	if g.forms[p.slot] == formSame {
		return x64.Bcast{Mem: m}
	}
	return m
}

// isRows reports whether an operand is at a place that is the same for all quarters.
func (g *nativeGen) isRows(o *gcn.Operand) bool {
	p, ok := g.placed(o, 0)
	return ok && g.forms[p.slot] == formRows
}

// read makes the read of a register that has a place.
func (g *nativeGen) read(reg int) {
	p := g.places[reg]
	delete(g.places, reg)
	for q := range g.quarterCount() {
		if q == 0 || g.forms[p.slot] != formRows {
			g.to(0, g.fromPlace(p, q, x64.RAX))
		}
		g.a.VStore(memoryOf(reg, q), 0, 0)
	}
}

// readAll makes the reads of those registers that which is true for.
func (g *nativeGen) readAll(which func(reg int) bool) {
	for _, reg := range slices.Sorted(maps.Keys(g.places)) {
		if which(reg) {
			g.read(reg)
		}
	}
}

// beforeInst makes the reads that have to be made before an instruction, and forgets the forms of addresses that it writes.
func (g *nativeGen) beforeInst(in *gcn.Inst) {
	if g.forms == nil {
		return
	}
	slot, keeps := g.ldsKeeps(&in.Addr)
	formed := keeps && isLDSRead(in) && g.forms[slot] != formAny
	if !leavesLDS(in) || endsLive && !holdsMasks(in) && !formed {
		g.readAll(allRegs.has)
	}
	needsRead(in, func(reg, n int) { g.readAll(func(r int) bool { return r >= reg && r < reg+n }) })
	for s := range g.kept {
		if g.kept[s].written(in) {
			g.readAll(func(r int) bool { return g.places[r].slot == s })
			delete(g.forms, s)
		}
	}
}

// needsRead calls f for the registers whose contents an instruction needs in them, and not where they are.
func needsRead(in *gcn.Inst, f func(reg, n int)) {
	takes, whole := takesPlaces(in), writesWhole(in)
	vectorUses(in, func(reg, n int, write bool) {
		if write && !whole || !write && !takes {
			f(reg, n)
		}
	})
}

// afterInst forgets the places of what an instruction has written. Reads of the LDS do that themselves.
func (g *nativeGen) afterInst(in *gcn.Inst) {
	if isLDSRead(in) {
		return
	}
	vectorUses(in, func(reg, n int, write bool) {
		if write {
			g.unplace(reg, n)
		}
	})
}

func (g *nativeGen) unplace(reg, n int) {
	for r := reg; r < reg+n; r++ {
		delete(g.places, r)
	}
}

// leavesLDS reports whether nothing that an instruction does, or Go for it, changes the LDS.
func leavesLDS(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.SMEM, gcn.GLOBAL, gcn.MUBUF:
		return !in.LDS
	case gcn.DS:
		return isLDSRead(in)
	}
	return holdsMasks(in)
}

// takesPlaces reports whether an instruction takes its sources from where they are.
func takesPlaces(in *gcn.Inst) bool {
	return taking[in.Op.String()] && in.Form != gcn.FormSDWA && in.Form != gcn.FormDPP && (in.Dual == nil || takesPlaces(in.Dual))
}

// taking are the instructions that can.
var taking = map[string]bool{}

// readFormed reads the passes' dwords from addresses of a known form, or notes their places.
func (g *nativeGen) readFormed(slot int, addr, dst *gcn.Operand, passes []ldsPass) {
	a := &g.a
	lasting := dst.Kind == gcn.VGPR && !overlap(addr, 1, dst, len(passes))
	var now []ldsPass
	for _, p := range passes {
		reg := int(dst.Index) + p.reg
		if _, pinned := g.pins.at(reg, 0); !lasting || pinned {
			now = append(now, p)
			continue
		}
		g.places[reg] = ldsPlace{slot, p.imm}
	}
	if len(now) == 0 {
		return
	}
	form := g.forms[slot]
	for q := range g.quarterCount() {
		a.LoadSigned(x64.RAX, x64.At(rW, waveBase+16*slot+4*q))
		for _, p := range now {
			d, k, done := g.target(dst, p.reg, q)
			if at := x64.AtIndex(rLDS, x64.RAX, p.imm); form == formSame {
				a.V1(x64.VPBCASTD, d, at, k)
			} else {
				a.V1(x64.VMOVDQU32, d, at, k)
			}
			done()
		}
	}
}
