//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Blocks that few lanes execute. What one thread of a workgroup does for all of them, at a kernel's end most often, is
// done for the quarter that it is in, and not for four.
//
// What is in a lane that is not active matters also where nothing of it is kept: of numbers that are denormal, as most are that were
// something else than floats, some processors compute sums and products in a hundred times the time. So code of some lanes computes
// with zeros in the others, or with none.

// leastOfFew is how many instructions of a block are worth code of its own for few lanes. Tests set it.
var leastOfFew = 3

// laneByLane reports whether an instruction does to each lane what it does, whatever is in others.
func laneByLane(in *gcn.Inst) bool { return isVALU(in) && !crossesLanes(in) }

// worthFew reports whether a block has code for few lanes.
func (g *nativeGen) worthFew(nb *nativeBlock) bool {
	n := 0
	for j := range nb.b.ops {
		if nb.can[j] && laneByLane(&nb.ins[j]) {
			n++
		}
	}
	return n >= leastOfFew
}

// fewLanes goes to that code if no lane is active but some of the first quarter.
func (g *nativeGen) fewLanes(nb *nativeBlock) {
	a, b, few := &g.a, g.blk, g.a.Label()
	g.r.few++
	a.Load(g.wide(), x64.RAX, rExec)
	a.ShiftImm(x64.SHR, g.wide(), x64.RAX, 16)
	a.JumpIf(x64.E, few)
	g.stubs = append(g.stubs, func() {
		a.Bind(few)
		g.blk, g.full, g.few = b, false, true
		g.body(nb)
		g.few = false
	})
}

// fewTurns is how many turns a strip takes.
func (g *nativeGen) fewTurns() int {
	if g.few {
		return 1
	}
	return g.quarterCount()
}

// onlyActive is rm, of quarter q, with zeros in the lanes that are not active: in z, if it has others.
func (g *nativeGen) onlyActive(z x64.Z, rm any, q int) any {
	if _, same := rm.(x64.Bcast); same || g.full {
		return rm
	}
	g.a.V1Zero(x64.VMOVDQU32, z, rm, g.lanes(q))
	return z
}

// underMask are the operations on numbers whose arithmetic is all under the mask of its result.
var underMask = map[string]bool{
	"v_add_f32": true, "v_sub_f32": true, "v_subrev_f32": true, "v_mul_f32": true, "v_fma_f32": true, "v_fmac_f32": true, "v_fmamk_f32": true,
	"v_fmaak_f32": true, "v_floor_f32": true, "v_ceil_f32": true, "v_trunc_f32": true, "v_rndne_f32": true,
}
