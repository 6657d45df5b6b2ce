//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Vector registers that are the same in all lanes. Compilers move a scalar register to a vector register, because an instruction cannot
// read it beside a mask, and add that to something. The sum takes the scalar register, and nothing is moved, where all lanes are active
// and nobody else reads the vector register before something else is in it.

// skips reports whether there is nothing to do for an instruction: what it moves is taken from where it is. It notes that.
func (g *nativeGen) skips(in *gcn.Inst) bool {
	from := &in.Src[0]
	if !g.full || endsLive || in.Dual != nil || in.Op.String() != "v_mov_b32" || !isPlain(in) || in.Dst.Kind != gcn.VGPR || !isUniform(from) {
		return false
	}
	changed, b := false, g.nb.b
	for i := g.idx + 1; i < len(b.ops); i++ {
		next := &g.nb.ins[i]
		if !g.nb.can[i] || next.Dual != nil {
			return false
		}
		carries := carrying[next.Op.String()]
		if readsVector(next, &in.Dst) && (changed || !carries) {
			return false
		}
		if overlap(&next.Dst, max(1, int(next.Dst.Width)), &in.Dst, 1) {
			if !carries && !loadsDwords(next) && !(plainWrites[next.Op.String()] && isPlain(next)) {
				return false
			}
			g.uniform[int(in.Dst.Index)] = from
			return true
		}
		for _, o := range []*gcn.Operand{&next.Dst, &next.SDst} {
			changed = changed || overlap(o, max(1, int(o.Width)), from, 1)
		}
		changed = changed || from.Index >= regVCC && from.Index < regVCC+2 && next.Info.Flags&gcn.WritesVCC != 0
	}
	return false
}

// isUniform reports whether an operand is a scalar register that only what names it changes, or a constant.
func isUniform(o *gcn.Operand) bool {
	return o.IsConst() || o.Kind == gcn.SGPR && o.Index < regEXEC
}

// readsVector reports whether an instruction reads a vector register.
func readsVector(in *gcn.Inst, reg *gcn.Operand) bool {
	for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Src[2], &in.Addr, &in.Data, &in.Data1} {
		if overlap(o, max(1, int(o.Width)), reg, 1) {
			return true
		}
	}
	return false
}

// carrying are the instructions that take what was skipped from where it is, and read nothing of what they write.
var carrying = map[string]bool{
	"v_add_co_u32": true, "v_addc_co_u32": true, "v_sub_co_u32": true, "v_subb_co_u32": true, "v_subrev_co_u32": true, "v_subbrev_co_u32": true,
}

// plainWrites are instructions that often write the register next, and read nothing of what they write unless it is a source.
var plainWrites = map[string]bool{
	"v_mov_b32": true, "v_add_u32": true, "v_sub_u32": true, "v_and_b32": true, "v_or_b32": true, "v_lshlrev_b32": true, "v_lshrrev_b32": true,
	"v_ashrrev_i32": true, "v_add_f32": true, "v_sub_f32": true, "v_mul_f32": true, "v_max_f32": true, "v_min_f32": true,
}

// loadsDwords reports whether an instruction loads whole dwords to all of its destination.
func loadsDwords(in *gcn.Inst) bool {
	return in.Enc != gcn.DS && writeWhole[in.Op.String()] && in.Info.Flags&gcn.IsLoad != 0
}

// notUniform forgets what was noted of registers that are written.
func (g *nativeGen) notUniform(in *gcn.Inst) {
	vectorUses(in, func(reg, n int, write bool) {
		for r := reg; write && r < reg+n; r++ {
			delete(g.uniform, r)
		}
	})
}
