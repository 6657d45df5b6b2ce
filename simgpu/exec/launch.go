package exec

import (
	"runtime/debug"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// launchState is what all waves of a dispatch start with.
type launchState struct {
	user    int // user SGPRs; the system's follow
	scratch int // bytes of a wave
	nv, na  int // registers

	scalars [128]uint32 // what is the same for all waves: user SGPRs, FLAT_SCRATCH
	size    [3]uint32   // work-items of a whole workgroup
	ids     []Vec       // their ids, by wave
	mode    uint32      // MODE
	fp      fpEnv       // likewise
	memory  *Memory
	lds     int // bytes
}

// entry is the address of the first instruction that is executed: code that
// preloads kernel arguments by itself is skipped, the "hardware" did that.
func (d *Dispatch) entry() uint64 {
	if d.Desc.KernargPreload&0x7f != 0 {
		return d.Entry + 256
	}
	return d.Entry
}

// architectedScratch: the target presets FLAT_SCRATCH and has no scratch SGPRs.
func (d *Dispatch) architectedScratch() bool { return d.Program.arch.Has(gcn.ArchitectedScratch) }

// prepare computes the user SGPRs.
func (d *Dispatch) prepare() (l launchState, err error) {
	// It reads kernel arguments, which may be anywhere.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			addr, ok := faultAddr(e)
			if !ok {
				panic(e)
			}
			err = &Fault{Kind: MemoryFault, Addr: addr, Lane: -1, Kernel: d.Kernel, Detail: "kernel arguments to preload"}
		}
	}()
	desc := &d.Desc
	l.user, l.scratch = desc.userSGPRs(), int(d.scratch())*WaveSize
	l.nv = desc.vgprs(d.Program.arch)
	if a := desc.accumOffset(); a < l.nv && !d.Program.arch.Has(gcn.RDNA) {
		l.na = l.nv - a
		l.nv = a
	}
	n := 0
	put := func(v ...uint32) {
		for _, x := range v {
			if n < l.user {
				l.scalars[n] = x
			}
			n++
		}
	}
	put64 := func(v uint64) { put(uint32(v), uint32(v>>32)) }
	has := func(bit uint16) bool { return desc.Properties&bit != 0 }
	if has(propPrivateSegmentBuffer) && !d.architectedScratch() {
		put64(scratchWindow | 1<<63) // base, swizzle enable
		put(uint32(l.scratch))       // num_records
		put(1<<23 | 3<<21 | 1<<19)   // add tid, index stride 64, element size 4
	}
	if has(propDispatchPtr) {
		put64(d.DispatchPtr)
	}
	if has(propQueuePtr) {
		put64(d.QueuePtr)
	}
	if has(propKernargPtr) {
		put64(d.Kernarg)
	}
	if has(propDispatchID) {
		put64(d.DispatchID)
	}
	if has(propFlatScratchInit) {
		put64(scratchWindow)
	}
	for i := range uint64(desc.KernargPreload & 0x7f) {
		addr := d.Kernarg + (uint64(desc.KernargPreload>>7)+i)*4
		if n >= l.user {
			break
		}
		if !d.memory().Contains(addr, 4) {
			return l, &Fault{Kind: MemoryFault, Addr: addr, Lane: -1, Kernel: d.Kernel, Detail: "kernel arguments to preload"}
		}
		put(*(*uint32)(d.memory().at(addr)))
	}
	if has(propPrivateSegmentSize) {
		put(uint32(d.scratch()))
	}
	if !d.Program.arch.Has(gcn.RDNA) { // there it is no scalar register
		l.scalars[regFlatScratch], l.scalars[regFlatScratch+1] = uint32(scratchWindow&0xffffffff), uint32(scratchWindow>>32)
	}
	l.size = d.workgroupSize([3]uint32{})
	items := int(l.size[0]) * int(l.size[1]) * int(l.size[2])
	l.ids = make([]Vec, d.waves(items))
	for i := range l.ids {
		d.workItems(&l.ids[i], l.size, i*d.waveSize(), items)
	}
	l.mode = desc.mode()
	l.fp = newFPEnv(l.mode)
	l.memory, l.lds = d.memory(), d.lds()
	return l, nil
}

// workgroupSize is how many work-items the workgroup has, which may be fewer
// than others at the end of a dimension.
func (d *Dispatch) workgroupSize(id [3]uint32) (size [3]uint32) {
	for i := range size {
		size[i] = min(d.Group[i], d.Grid[i]-id[i]*d.Group[i])
	}
	return size
}

// workItems writes the ids of the work-items from first on as v0 has them: X, Y
// and Z of 10 bits each.
func (d *Dispatch) workItems(v *Vec, size [3]uint32, first, items int) {
	kind := d.Desc.Rsrc2 >> 11 & 3
	sx, sy := size[0], size[1]
	x, y, z := uint32(first)%sx, uint32(first)/sx%sy, uint32(first)/sx/sy
	for i := range min(d.waveSize(), items-first) {
		id := x
		if kind >= 1 {
			id |= y << 10
		}
		if kind >= 2 {
			id |= z << 20
		}
		v[i] = id
		if x++; x == sx {
			x = 0
			if y++; y == sy {
				y = 0
				z++
			}
		}
	}
}

// start puts a wave into the state in which a kernel begins.
func (w *wave) start(s *scheduler, items int) {
	d, l := s.d, &s.init
	w.d, w.mem = d, l.memory
	w.V = registers(w.V, l.nv)
	w.A = registers(w.A, l.na)
	w.setBases()
	copy(w.S[:], l.scalars[:])
	w.S[regSCC] = 0 // of the others, all are computed where they are used
	n := l.user
	for i := range 3 {
		if d.Desc.workgroupID(i) {
			w.S[n] = w.wg.id[i]
			n++
		}
	}
	if d.Desc.workgroupInfo() {
		w.S[n] = uint32(w.wg.count)
		if w.id == 0 {
			w.S[n] |= 1 << 31
		}
		n++
	}
	if d.Desc.enablePrivateSegment() && !d.architectedScratch() {
		w.S[n] = 0 // every wave has its own scratch window
	}
	if cap(w.scratch) < l.scratch {
		w.scratch = make([]byte, l.scratch)
	}
	w.scratch = w.scratch[:l.scratch]

	size := d.waveSize()
	first := w.id * size
	lanes := min(size, items-first)
	w.ones = ^uint64(0) >> (WaveSize - size)
	w.setS64(regEXEC, ^uint64(0)>>(WaveSize-lanes))
	if w.wg.size == l.size {
		w.V[0] = l.ids[w.id]
	} else {
		d.workItems(&w.V[0], w.wg.size, first, items)
	}
	w.mode, w.fp = l.mode, l.fp
	w.priority, w.traps = 0, 0
	w.unchain()
	w.chain.region, w.chain.other = nil, 1 // nobody has prepared what follows
	w.ldsOwner, w.left, w.meet = nil, 0, waveMeet{}
	w.blk, w.idx, w.status = nil, 0, running
	w.spin.at = nil
	w.gives = w.wg.mayGive()
	w.watched = d.Program.watch.wave(w, n, lanes)
}

// registers returns n registers, reusing r if it is large enough.
func registers(r []Vec, n int) []Vec {
	if cap(r) < n {
		r = make([]Vec, n+4) // the rest is slack for operands of several registers
	}
	return r[:n]
}
