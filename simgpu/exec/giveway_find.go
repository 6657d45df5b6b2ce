package exec

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Which instructions a wave may give way at: an s_waitcnt that waits for a load on some path, if
// on some path from there to the next barrier something is stored where the wave has loaded from since the last one;
// or, for device memory, loaded where it has stored since the last one.
// Of several such waits one after the other it is the last. A kernel without
// a barrier has none. Functions that it calls are looked at by themselves when they are called first: who calls them may have
// loaded and stored anything, and may afterwards. Other code that is only reached by addresses that the kernel computes is not.

const (
	mostFound = 1 << 16 // instructions of a kernel that are looked at
	mostWaits = 1 << 18 // of all kernels, that are kept
)

// underWay is what may be at a place in a kernel, on any path to it. It only grows while it is computed.
type underWay struct {
	since    touched // the last barrier or wait
	loads    spaces  // loaded from since then, and nobody has waited for the result: by counter, VM and LGKM
	vm, lgkm uint8   // accesses that have not been waited for, at most
}

const mostLGKM = 63 // that an s_waitcnt can tell, on RDNA

var anyUnderWay = underWay{touched{spaceAll, spaceAll}, spaceAll, mostVM, mostLGKM}

// join adds what may be on another path. It reports whether that is more.
func (u *underWay) join(o underWay) bool {
	was := *u
	u.since = u.since.or(o.since)
	u.loads |= o.loads
	u.vm, u.lgkm = max(u.vm, o.vm), max(u.lgkm, o.lgkm)
	return *u != was
}

// foundInst is an instruction of a kernel, as far as it matters.
type foundInst struct {
	pc            uint64
	op            gcn.Op
	vm, lgkm      uint8  // of s_waitcnt
	counts        spaces // the counters of what it accesses, VM and LGKM
	reads, writes spaces // scalar memory is read once for a wave, and scratch is its own: they do not count
	next          [2]int // those that may follow, -1: none
	seen          bool   // before is known
	before        underWay
	at            touched // before it, if it may have to wait
	behind        touched // behind it, before the next barrier and the next wait of the kind
}

// touched is what was loaded from and stored to.
type touched struct{ loads, stores spaces }

func (a touched) or(b touched) touched { return touched{a.loads | b.loads, a.stores | b.stores} }

// foundOf takes down what matters of an instruction.
func foundOf(in *gcn.Inst) foundInst {
	f := foundInst{pc: in.PC, op: in.Op, next: [2]int{-1, -1}}
	if in.Op == gcn.S_WAITCNT {
		vm, lgkm := waitcnt(in)
		if lgkm == 15 && !in.Arch.Has(gcn.RDNA) { // all that CDNA counts
			lgkm = mostLGKM
		}
		f.vm, f.lgkm = uint8(vm), uint8(lgkm)
	}
	if in.Info.Flags&(gcn.IsLoad|gcn.IsStore|gcn.IsAtomic) != 0 {
		var of spaces
		switch in.Enc {
		case gcn.FLAT:
			f.counts, of = spaceAll, spaceAll
		case gcn.GLOBAL, gcn.MUBUF, gcn.MTBUF, gcn.MIMG:
			f.counts, of = spaceDevice, spaceDevice
		case gcn.SCRATCH:
			f.counts = spaceDevice
		case gcn.DS:
			f.counts, of = spaceLDS, spaceLDS
		case gcn.SMEM:
			f.counts = spaceLDS
			if in.Info.Flags&gcn.IsLoad == 0 {
				of = spaceDevice
			}
		}
		if in.Info.Flags&(gcn.IsStore|gcn.IsAtomic) != 0 {
			f.writes = of
		}
		if in.Info.Flags&(gcn.IsLoad|gcn.IsAtomic) != 0 && (in.Dst.Kind != gcn.None || in.LDS) && in.Enc != gcn.SMEM {
			f.reads = of
		}
		if in.LDS {
			f.writes |= spaceLDS
		}
	} else if in.Enc == gcn.DS {
		f.counts = spaceLDS
	}
	return f
}

// pass is what an instruction makes of what was before it, and what that was if it may have to wait. Stores matter where it waits for device memory, which
// takes others long enough to store as well.
func (f *foundInst) pass() (u underWay, at touched) {
	u = f.before
	switch f.op {
	case gcn.S_BARRIER:
		u.since = touched{}
	case gcn.S_SWAPPC_B64, gcn.S_CALL_B64, gcn.S_SETPC_B64:
		return anyUnderWay, touched{}
	case gcn.S_WAITCNT:
		device := u.vm > f.vm && u.loads&spaceDevice != 0
		if device || u.lgkm > f.lgkm && u.loads&spaceLDS != 0 {
			at.loads, u.since.loads = u.since.loads, 0
		}
		if device {
			at.stores = u.since.stores & spaceDevice
			u.since.stores &^= spaceDevice
		}
		u.vm, u.lgkm = min(u.vm, f.vm), min(u.lgkm, f.lgkm)
		if u.vm == 0 {
			u.loads &^= spaceDevice
		}
		if u.lgkm == 0 {
			u.loads &^= spaceLDS
		}
	default:
		u.since = u.since.or(touched{f.reads, f.writes})
		if f.reads != 0 {
			u.loads |= f.counts
		}
		if f.counts&spaceDevice != 0 {
			u.vm = min(u.vm+1, mostVM)
		}
		if f.counts&spaceLDS != 0 {
			u.lgkm = min(u.lgkm+1, mostLGKM)
		}
	}
	return u, at
}

// from is what may be loaded from and stored to from the instruction on; see behind. Where a wave gives way for what it has loaded, those
// behind do not store before it does, and so on.
func (f *foundInst) from() touched {
	switch f.op {
	case gcn.S_BARRIER:
		return touched{}
	case gcn.S_SWAPPC_B64, gcn.S_CALL_B64, gcn.S_SETPC_B64:
		return touched{spaceAll, spaceAll}
	}
	return touched{f.behind.loads&^f.at.stores | f.reads, f.behind.stores&^f.at.loads | f.writes}
}

// instructionsOf finds the instructions of the kernel or function at entry, by their addresses, and whether there is a barrier.
func (p *Program) instructionsOf(entry uint64, function bool) (list []foundInst, barrier bool) {
	type follower struct{ next [2]uint64 }
	places := map[uint64]follower{}
	for queue := []uint64{entry}; len(queue) > 0 && len(places) < mostFound; {
		pc := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, ok := places[pc]; ok {
			continue
		}
		in, _, err := p.instAt(pc)
		if err != nil {
			continue
		}
		f := follower{}
		if in.Info.Flags&gcn.IsBranch != 0 {
			f.next[1] = in.Target()
			queue = append(queue, f.next[1])
		}
		switch {
		case function && in.Op == gcn.S_SETPC_B64: // it returns
		case in.Info.Flags&gcn.IsTerm == 0, in.Op == gcn.S_SWAPPC_B64, in.Op == gcn.S_CALL_B64, // what is called returns
			in.Op == gcn.S_SETPC_B64: // a branch that goes far, in a kernel; what is behind it is reached by others
			f.next[0] = pc + uint64(in.Len)
			queue = append(queue, f.next[0])
		}
		places[pc] = f
		list = append(list, foundOf(&in))
		barrier = barrier || in.Op == gcn.S_BARRIER
	}
	if !barrier {
		return nil, false
	}
	slices.SortFunc(list, func(a, b foundInst) int { return cmp.Compare(a.pc, b.pc) })
	index := make(map[uint64]int, len(list))
	for i := range list {
		index[list[i].pc] = i
	}
	for i := range list {
		for k, pc := range places[list[i].pc].next {
			if n, ok := index[pc]; ok && pc != 0 {
				list[i].next[k] = n
			}
		}
	}
	return list, true
}

// findWaits finds where waves of the kernel or function at entry may give way. mu is held.
func (p *Program) findWaits(entry uint64, function bool) {
	list, barrier := p.instructionsOf(entry, function)
	if !barrier {
		return
	}
	queue := []int{slices.IndexFunc(list, func(f foundInst) bool { return f.pc == entry })}
	if function {
		list[queue[0]].before = anyUnderWay
	}
	for len(queue) > 0 {
		f := &list[queue[len(queue)-1]]
		queue = queue[:len(queue)-1]
		f.seen = true
		var behind underWay
		behind, f.at = f.pass()
		for _, i := range f.next {
			if i >= 0 && (list[i].before.join(behind) || !list[i].seen) {
				queue = append(queue, i)
			}
		}
	}
	findBehind(list)
	for i := range list {
		f := &list[i]
		if gives := f.at.loads&f.behind.stores | f.at.stores&f.behind.loads; gives != 0 && (p.waits[f.pc] != 0 || len(p.waits) < mostWaits) {
			p.waits[f.pc] |= gives
		}
	}
}

// findBehind computes what may be loaded from and stored to behind each instruction.
func findBehind(list []foundInst) {
	// The instructions before each one, as lists: edge 2×i+k goes to next[k] of i.
	first, others := make([]int, len(list)), make([]int, 2*len(list))
	for i := range first {
		first[i] = -1
	}
	queue := make([]int, len(list))
	for i := range list {
		queue[i] = i // the last first
		for k, n := range list[i].next {
			if n >= 0 {
				others[2*i+k], first[n] = first[n], 2*i+k
			}
		}
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		before := list[i].from()
		for e := first[i]; e >= 0; e = others[e] {
			f := &list[e/2]
			if all := f.behind.or(before); all != f.behind {
				f.behind = all
				queue = append(queue, e/2)
			}
		}
	}
}
