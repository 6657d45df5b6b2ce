//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Two operations in one instruction (VOPD of RDNA): both read their sources before either writes. One after the other
// does the same if the one that goes first writes nothing that the other one reads.

// dual translates such an instruction.
func (g *nativeGen) dual(in *gcn.Inst) bool {
	first, second := *in, in.Dual
	first.Dual = nil
	switch {
	case !readsVGPR(second, first.Dst.Index):
		return g.inst(&first) && g.inst(second)
	case !readsVGPR(&first, second.Dst.Index):
		return g.inst(second) && g.inst(&first)
	}
	return false
}
