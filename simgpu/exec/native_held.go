//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Lane masks that stay in mask registers.
//
// K1 to K4 have nothing to say where all lanes are active. There they hold the mask that was
// computed last, for carries and selections that follow it. What nobody else reads before it is
// written again is not made a scalar register.

// fate says what is to become of the mask that the current instruction computes for a
// scalar register pair: whether memory has to have it, and whether it is to be held.
func (g *nativeGen) fate(pair int) (stored, held bool) {
	if g.nb == nil {
		return true, false
	}
	holds, b := g.full, g.nb.b
	for i := g.idx + 1; i < len(b.ops); i++ {
		in := &g.nb.ins[i]
		if !g.nb.can[i] || endsLive && !holdsMasks(in) {
			return true, held
		}
		holds = holds && holdsMasks(in)
		if reads, selects := readsMask(in, pair, g.maskRegs()); reads {
			if !selects || !holds {
				return true, held
			}
			held = true
		}
		for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
			switch {
			case o.Kind != gcn.SGPR:
			case overlap(o, max(1, int(o.Width)), &gcn.Operand{Kind: gcn.SGPR, Index: uint16(pair)}, g.maskRegs()):
				return !isVALU(in) || int(o.Index) != pair || int(o.Width) != g.maskRegs(), held
			default: // it may be held then
				holds = false
			}
		}
	}
	if pair == regVCC {
		return g.readsVCC(g.nb), held
	}
	return endName(b, g.nb.ins) != "s_endpgm" || endsLive, held
}

// holdsMasks reports whether an instruction leaves K1 to K4 as they are where all lanes are active:
// Go executes none of it.
func holdsMasks(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK, gcn.SOPP:
		return true
	}
	return isVALU(in) && !mayLeave[in.Op.String()]
}

// readsMask reports whether an instruction reads one of n scalar registers, those of a lane mask, and whether all that
// it does is to select by the mask.
func readsMask(in *gcn.Inst, reg, n int) (reads, selects bool) {
	if in.Dual != nil {
		one := *in
		one.Dual = nil
		reads, selects = readsMask(&one, reg, n)
		also, picks := readsMask(in.Dual, reg, n)
		return reads || also, (selects || !reads) && (picks || !also) && (reads || also)
	}
	mask := gcn.Operand{Kind: gcn.SGPR, Index: uint16(reg)}
	if in.Info.Flags&gcn.ReadsVCC != 0 && overlap(&mask, n, &gcn.Operand{Kind: gcn.SGPR, Index: regVCC}, n) {
		if o := &in.Src[2]; o.Kind != gcn.SGPR || o.Index != regVCC { // it is not named: v_div_fmas
			return true, false
		}
	}
	for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Base, &in.SOffset, &in.Addr, &in.Data, &in.Data1} {
		if o.Kind == gcn.Special || overlap(o, max(1, int(o.Width)), &mask, n) {
			return true, false
		}
	}
	switch o := &in.Src[2]; {
	case o.Kind == gcn.Special:
		return true, false
	case overlap(o, max(1, int(o.Width)), &mask, n):
		return true, isVALU(in) && selecting[in.Op.String()] && int(o.Index) == reg
	}
	return !isVALU(in) && overlap(&in.Dst, max(1, int(in.Dst.Width)), &mask, n), false // s_cmov reads it
}

// writesScalars reports whether an instruction writes one of n scalar registers, where it names them.
func writesScalars(in *gcn.Inst, reg, n int) bool {
	mask := gcn.Operand{Kind: gcn.SGPR, Index: uint16(reg)}
	return overlap(&in.Dst, max(1, int(in.Dst.Width)), &mask, n) || overlap(&in.SDst, max(1, int(in.SDst.Width)), &mask, n)
}

// selecting are the instructions whose third source is a lane mask.
var selecting = map[string]bool{"v_cndmask_b32": true, "v_cndmask_b16": true, "v_addc_co_u32": true, "v_subb_co_u32": true, "v_subbrev_co_u32": true}

// hold makes the lanes in k part of the mask that is held, those of quarter q.
func (g *nativeGen) hold(pair, q int, k x64.K) {
	if k != x64.K(1+q) {
		g.a.KMov(x64.K(1+q), k)
	}
	g.holds = pair + 1
}

// heldBehind is held behind an instruction that holds no other mask: 0 if it may change the one that is.
func (g *nativeGen) heldBehind(in *gcn.Inst, held int) int {
	if held == 0 || !holdsMasks(in) || writesScalars(in, held-1, g.maskRegs()) {
		return 0
	}
	return held
}
