package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Which instructions a wave may give way at: an s_waitcnt that is the first one after the kernel's
// beginning, or after a barrier, on some path on which it waits for a load. A kernel without
// a barrier has none. Code that is only reached by addresses that the kernel computes, as functions
// are that it calls, is not looked at; behind a call there may have been a barrier.

const (
	mostWaitInsts = 1 << 16 // instructions of a kernel that are looked at
	mostWaits     = 1 << 18 // of all kernels, that are kept
)

// underWay is what may be at a place in a kernel, on any path to it. It only grows while it is computed.
type underWay struct {
	gives    waitFor // waits that have not been since the last barrier
	loads    waitFor // where loads have been begun whose results nobody has waited for
	vm, lgkm uint8   // accesses that have not been waited for, at most
}

// join adds what may be on another path. It reports whether that is more.
func (u *underWay) join(o underWay) bool {
	was := *u
	u.gives |= o.gives
	u.loads |= o.loads
	u.vm, u.lgkm = max(u.vm, o.vm), max(u.lgkm, o.lgkm)
	return *u != was
}

const mostLGKM = 15 // that an s_waitcnt can tell

// pass is what an instruction makes of it, and what a wave may give way at there.
func (u underWay) pass(in *gcn.Inst) (behind underWay, at waitFor) {
	switch in.Op {
	case gcn.S_BARRIER, gcn.S_SWAPPC_B64, gcn.S_CALL_B64, gcn.S_SETPC_B64:
		u.gives = waitsAll
		return u, 0
	case gcn.S_WAITCNT:
		vm, lgkm := waitcnt(in)
		if uint32(u.vm) > vm {
			at |= u.loads & waitsVM
			u.vm = uint8(vm)
		}
		if uint32(u.lgkm) > lgkm {
			at |= u.loads & waitsLDS
			u.lgkm = uint8(lgkm)
		}
		if u.vm == 0 {
			u.loads &^= waitsVM
		}
		if u.lgkm == 0 {
			u.loads &^= waitsLDS
		}
		at &= u.gives
		u.gives &^= at
		return u, at
	}
	access := in.Info.Flags&(gcn.IsLoad|gcn.IsStore|gcn.IsAtomic) != 0
	loads := in.Info.Flags&(gcn.IsLoad|gcn.IsAtomic) != 0 && in.Dst.Kind != gcn.None
	var of waitFor
	switch in.Enc {
	case gcn.FLAT:
		of = waitsAll
	case gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF, gcn.MTBUF, gcn.MIMG:
		of = waitsVM
	case gcn.DS:
		of, access = waitsLDS, true
	case gcn.SMEM:
		of, loads = waitsLDS, false
	}
	if !access {
		return u, 0
	}
	if loads && in.Enc != gcn.SCRATCH { // that is the wave's own
		u.loads |= of
	}
	if of&waitsVM != 0 {
		u.vm = min(u.vm+1, mostVM)
	}
	if of&waitsLDS != 0 {
		u.lgkm = min(u.lgkm+1, mostLGKM)
	}
	return u, 0
}

// findWaits finds where waves of the kernel at entry may give way. mu is held.
func (p *Program) findWaits(entry uint64) {
	found := map[uint64]*foundInst{}
	queue := []uint64{entry}
	barrier := false
	for len(queue) > 0 && len(found) < mostWaitInsts {
		pc := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if found[pc] != nil {
			continue
		}
		in, _, err := p.instAt(pc)
		if err != nil {
			continue
		}
		f := &foundInst{in: in}
		found[pc] = f
		barrier = barrier || in.Op == gcn.S_BARRIER
		f.next(func(pc uint64) { queue = append(queue, pc) })
	}
	if !barrier || found[entry] == nil {
		return
	}
	found[entry].before.gives, found[entry].seen = waitsAll, true
	for queue = append(queue[:0], entry); len(queue) > 0; {
		f := found[queue[len(queue)-1]]
		queue = queue[:len(queue)-1]
		behind, at := f.before.pass(&f.in)
		if at != 0 && (p.waits[f.in.PC] != 0 || len(p.waits) < mostWaits) {
			p.waits[f.in.PC] |= at
		}
		f.next(func(pc uint64) {
			n := found[pc]
			if n == nil {
				return
			}
			if n.before.join(behind) || !n.seen {
				n.seen = true
				queue = append(queue, pc)
			}
		})
	}
}

// foundInst is an instruction of a kernel.
type foundInst struct {
	in     gcn.Inst
	before underWay
	seen   bool // before is known
}

// next calls f for the instructions that may follow.
func (i *foundInst) next(f func(pc uint64)) {
	in := &i.in
	end := in.PC + uint64(in.Len)
	if in.Info.Flags&gcn.IsBranch != 0 {
		f(in.Target())
	}
	switch in.Op {
	case gcn.S_SWAPPC_B64, gcn.S_CALL_B64: // what is called returns
	case gcn.S_SETPC_B64: // within a kernel that is a branch that goes far; what is behind it is reached by others
	default:
		if in.Info.Flags&gcn.IsTerm != 0 {
			return
		}
	}
	f(end)
}
