package exec

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Results that have not come yet. Loads write their registers some time later;
// s_waitcnt waits until no more than a number of them are under way. Here they
// are there at once, so only counting shows that an s_waitcnt is missing.
//
// Vector memory is counted by vmcnt and comes in order; the LDS by lgkmcnt, in
// order; scalar memory by lgkmcnt, in any order, so that only a wait for none says
// anything; flat accesses by both.

// pending is which load a register waits for: its number, 0 for none.
type pending struct {
	v, a       []loadNumber
	s          [128]loadNumber
	vm, vmDone uint32 // vector memory: begun, and known to be done
	lgkm       uint32 // likewise
	lgkmDone   uint32
	lastScalar uint32 // the last of lgkm that may come in any order
}

// loadNumber is the number of a register's load among those of each counter.
type loadNumber struct{ vm, lgkm uint32 }

func newPending(v, a int) pending {
	return pending{v: make([]loadNumber, v+slack), a: make([]loadNumber, a+slack)}
}

const mostVM = 63 // under way; the next one waits

// registersUsed are the operands that an instruction reads or writes.
func registersUsed(in *gcn.Inst) (list []gcn.Operand) {
	for _, o := range []gcn.Operand{in.Dst, in.SDst, in.Src[0], in.Src[1], in.Src[2], in.Addr, in.Data, in.Data1, in.Base, in.SOffset} {
		if o.Kind == gcn.VGPR || o.Kind == gcn.AccVGPR || o.Kind == gcn.SGPR && o.Index < 108 {
			list = append(list, o)
		}
	}
	if in.Image&gcn.NSA != 0 {
		for i := 1; i < int(in.Addresses); i++ {
			list = append(list, gcn.Operand{Kind: gcn.VGPR, Type: gcn.I32, Width: 1, Index: uint16(in.ImageAddress(i))})
		}
	}
	return list
}

func (p *pending) of(o *gcn.Operand) []loadNumber {
	from, to := int(o.Index), int(o.Index)+max(1, int(o.Width))
	switch o.Kind {
	case gcn.VGPR:
		return p.v[min(from, len(p.v)):min(to, len(p.v))]
	case gcn.AccVGPR:
		return p.a[min(from, len(p.a)):min(to, len(p.a))]
	}
	return p.s[min(from, 128):min(to, 128)]
}

// waits binds the check of an instruction, and its own effect on the counters.
func waits(in *gcn.Inst) before {
	if in.Op.String() == "s_waitcnt" {
		vm, lgkm := waitcnt(in)
		return func(w *wave) { w.watched.pending.wait(vm, lgkm) }
	}
	used := registersUsed(in)
	load := in.Info.Flags&(gcn.IsLoad|gcn.IsAtomic) != 0 || strings.HasPrefix(in.Op.String(), "s_mem")
	memory := load || in.Info.Flags&gcn.IsStore != 0
	vm := memory && (in.Enc == gcn.FLAT || in.Enc == gcn.GLOBAL || in.Enc == gcn.SCRATCH || in.Enc == gcn.MUBUF || in.Enc == gcn.MTBUF || in.Enc == gcn.MIMG)
	lgkm := memory && (in.Enc == gcn.DS || in.Enc == gcn.SMEM || in.Enc == gcn.FLAT) || in.Enc == gcn.DS
	returns := in.Dst.Kind != gcn.None && (load || in.Enc == gcn.DS)
	// Loads from device memory come in their order, so that one may go where another one is still to come. On RDNA what is sampled has an order of its own.
	ordered := returns && vm && in.Enc != gcn.FLAT && !(in.Enc == gcn.MIMG && in.SOffset.Kind == gcn.SGPR)
	return func(w *wave) {
		p := &w.watched.pending
		for i := range used {
			regs := p.of(&used[i])
			for k := range regs {
				r := &regs[k]
				if r.lgkm <= p.lgkmDone && (r.vm <= p.vmDone || ordered && used[i] == in.Dst) {
					continue
				}
				*r = loadNumber{}
				w.find(CheckWait, -1, Finding{Detail: fmt.Sprintf("%s%d is used before s_waitcnt has waited for what is loaded into it", filePrefix(&used[i]), int(used[i].Index)+k)})
			}
		}
		if vm {
			if p.vm++; p.vm > mostVM {
				p.vmDone = max(p.vmDone, p.vm-mostVM)
			}
		}
		if lgkm {
			p.lgkm++
			if in.Enc == gcn.SMEM {
				p.lastScalar = p.lgkm
			}
		}
		if !returns || w.exec == 0 && in.Enc != gcn.SMEM {
			return
		}
		n := loadNumber{}
		switch {
		case in.Enc == gcn.FLAT && p.flatLDS(w, in):
			n.lgkm = p.lgkm
		case vm:
			n.vm = p.vm
		default:
			n.lgkm = p.lgkm
		}
		regs := p.of(&in.Dst)
		for k := range regs {
			regs[k] = n
		}
	}
}

// flatLDS reports whether the first active lane's flat address is in the LDS.
func (p *pending) flatLDS(w *wave, in *gcn.Inst) bool {
	i := bits.TrailingZeros64(w.exec) & 63
	r := int(in.Addr.Index)
	return in.Addr.Kind == gcn.VGPR && r+1 < len(w.V) && w.V[r+1][i] == uint32(sharedBase>>32)
}

func (p *pending) wait(vm, lgkm uint32) {
	if p.vm > vm {
		p.vmDone = max(p.vmDone, p.vm-vm)
	}
	if lgkm == 0 {
		p.lgkmDone = p.lgkm
	} else if p.lastScalar <= p.lgkmDone && p.lgkm > lgkm && lgkm < 15 {
		p.lgkmDone = max(p.lgkmDone, p.lgkm-lgkm)
	}
}

func filePrefix(o *gcn.Operand) string {
	switch o.Kind {
	case gcn.VGPR:
		return "v"
	case gcn.AccVGPR:
		return "a"
	}
	return "s"
}
