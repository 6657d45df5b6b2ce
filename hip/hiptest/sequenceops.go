package hiptest

import (
	"fmt"
	"math"

	"github.com/rocwire/rocwire/hip"
)

// What operations there are. A kernel is as often as half of the others together.
const (
	setMemory = iota
	copyMemory
	copyPeer
	copyFromProgram
	copyToProgram
	callProgram
	copyRows
	copyBox
	copyByPool
	addMemory
	kinds = addMemory + 4
)

// planned is an operation on two pieces, or one, and what it does to the model when its turn comes.
type planned struct {
	kind          int
	a, b          *piece
	reads, writes bool // a; b
	sums          bool // what is there grows
	say           string
	do            func()
	issue         func(st *line) // tells a stream
	op            hip.GraphOp    // as a node; empty: it is more than one
	got           []byte         // memory that HIP knows nothing of, if it copies there
	want          []float32      // what is there afterwards
}

// operation makes up one of a kind for a device, from a to b; false if it cannot be of that kind.
func (s *sequence) operation(kind int, th hip.Thread, a, b *piece) (p planned, ok bool) {
	e := s.e
	kind = min(kind, addMemory)
	if !together(th, a, b) {
		return p, false
	}
	if a.grid != nil || b.grid != nil {
		p, ok = s.copyArray(planned{kind: copyBox, a: a, b: b, reads: true, writes: true})
		p.op.Device = th.Device
		return p, ok
	}
	x, y, n := s.part(a, b)
	to, from, size := b.at+hip.Ptr(4*y), a.at+hip.Ptr(4*x), uint64(4*n)
	p = planned{kind: kind, a: a, b: b, reads: true, writes: true, say: fmt.Sprintf("%s+%d = %s+%d, %d floats", b.name, y, a.name, x, n)}
	copied := func() { copy(b.want[y:][:n], a.want[x:]) }
	switch kind {
	case setMemory:
		if !b.here(th) {
			return p, false
		}
		v := float32(s.r.IntN(100))
		p.reads, p.say = false, fmt.Sprintf("%s+%d, %d floats = %v", b.name, y, n, v)
		p.issue = func(st *line) {
			s.ok("MemsetD32Async", e.MemsetD32Async(st.th, to, int32(math.Float32bits(v)), uint64(n), st.stream))
		}
		p.op = hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: to, Value: math.Float32bits(v), Element: 4, Width: uint64(n), Height: 1}}
		p.do = func() {
			for i := range n {
				b.want[y+i] = v
			}
		}
	case copyMemory:
		if a == b {
			return p, false
		}
		p.issue = func(st *line) {
			s.ok("MemcpyAsync", e.MemcpyAsync(st.th, to, from, size, hip.MemcpyDefault, st.stream))
		}
		p.op, p.do = copyOp(to, from, size, hip.MemcpyDefault), copied
	case copyPeer: // which names the devices
		if a == b || a.device < 0 || b.device < 0 {
			return p, false
		}
		p.issue = func(st *line) {
			s.ok("MemcpyPeerAsync", e.MemcpyPeerAsync(st.th, to, b.device, from, a.device, size, st.stream))
		}
		p.op, p.do = copyOp(to, from, size, hip.MemcpyDefault), copied
	case copyFromProgram: // from memory that HIP knows nothing of, and that stays as it is
		h, v := e.host(int(size)), make([]float32, n)
		copy(h, s.values(v))
		p.reads, p.say = false, fmt.Sprintf("%d floats to %s+%d", n, b.name, y)
		p.issue = func(st *line) {
			s.ok("MemcpyAsync", e.MemcpyAsync(st.th, to, ptr(h), size, hip.MemcpyHostToDevice, st.stream))
		}
		p.op, p.do = copyOp(to, ptr(h), size, hip.MemcpyHostToDevice), func() { copy(b.want[y:], v) }
	case copyToProgram: // and to such
		h, v := e.host(int(size)), make([]float32, n)
		p.writes, p.say, p.got, p.want = false, fmt.Sprintf("%d floats from %s+%d", n, a.name, x), h, v
		p.issue = func(st *line) {
			s.ok("MemcpyAsync", e.MemcpyAsync(st.th, ptr(h), from, size, hip.MemcpyDeviceToHost, st.stream))
		}
		p.op, p.do = copyOp(ptr(h), from, size, hip.MemcpyDeviceToHost), func() { copy(v, a.want[x:]) }
	case callProgram:
		if b.mem == nil {
			return p, false
		}
		v := make([]float32, n)
		bytes := s.values(v)
		write := func() { copy(b.mem[4*y:], bytes) }
		p.reads, p.say = false, fmt.Sprintf("the program writes %s+%d, %d floats", b.name, y, n)
		p.issue = func(st *line) { s.ok("LaunchHostFunc", e.LaunchHostFunc(st.th, st.stream, write)) }
		p.op, p.do = hip.GraphOp{Type: hip.GraphNodeTypeHost, Host: write}, func() { copy(b.want[y:], v) }
	case copyRows: // every other of one
		rows := n / 64
		if a == b || rows == 0 {
			return p, false
		}
		p.say = fmt.Sprintf("%s+%d = %s+%d, %d rows", b.name, y, a.name, x, rows)
		p.issue = func(st *line) {
			s.ok("Memcpy2DAsync", e.Memcpy2DAsync(st.th, to, 256, from, 256, 128, uint64(rows), hip.MemcpyDefault, st.stream))
		}
		p.op = hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{
			Dst: to, Src: from, DstPitch: 256, SrcPitch: 256, DstSlice: 256 * uint64(rows), SrcSlice: 256 * uint64(rows),
			Width: 128, Height: uint64(rows), Depth: 1, Kind: hip.MemcpyDefault}}
		p.do = func() {
			for i := range rows {
				copy(b.want[y+64*i:][:32], a.want[x+64*i:])
			}
		}
	case copyBox:
		const pitch, rows = 32, 4 // in floats
		depth := n / (pitch * rows)
		if a == b || depth == 0 {
			return p, false
		}
		of := func(p *piece, at hip.Ptr) volume { return volume{p.memoryType(), at, 0, 4 * pitch, rows} }
		d := box(of(b, to), 4, 0, 0, of(a, from), 16, 1, 0, 80, 3, uint64(depth))
		p.say = fmt.Sprintf("%s+%d = %s+%d, a box of %d slices", b.name, y, a.name, x, depth)
		s.copiesBox(&p, d)
		p.do = func() {
			for z := range depth {
				for i := range 3 {
					copy(b.want[y+(z*rows+i)*pitch+1:][:20], a.want[x+(z*rows+i+1)*pitch+4:])
				}
			}
		}
	case copyByPool: // by way of memory that is the stream's
		if a == b {
			return p, false
		}
		p.say += ", by way of a pool"
		get := s.anyPool(th).get
		p.issue = func(st *line) {
			m, _, err := get(size, st)
			s.ok("memory of a pool", err)
			s.ok("MemcpyAsync", e.MemcpyAsync(st.th, m, from, size, hip.MemcpyDefault, st.stream))
			s.ok("MemcpyAsync", e.MemcpyAsync(st.th, to, m, size, hip.MemcpyDefault, st.stream))
			s.ok("FreeAsync", e.FreeAsync(st.th, m, st.stream))
		}
		p.op, p.do = hip.GraphOp{Type: hip.GraphNodeTypeEmpty}, copied
	case addMemory:
		if !a.here(th) || !b.here(th) {
			return p, false
		}
		if a == b {
			y, to = x, from
		}
		k := s.saxpy(th, n, from, to)
		p.sums, p.say = true, fmt.Sprintf("%s+%d += %s+%d, %d floats", b.name, y, a.name, x, n)
		p.issue = func(st *line) {
			l := *k
			l.Stream = st.stream
			s.ok("LaunchKernel", e.LaunchKernel(st.th, &l))
		}
		p.op = hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: k}
		p.do = func() {
			for i := range n {
				b.want[y+i] += a.want[x+i]
			}
		}
	}
	p.op.Device = th.Device
	return p, true
}

// copiesBox makes p the copy of a box.
func (s *sequence) copiesBox(p *planned, d *hip.DrvMEMCPY3D) {
	p.op = hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: d}}
	p.issue = func(st *line) { s.ok("DrvMemcpy3DAsync", s.e.DrvMemcpy3DAsync(st.th, d, st.stream)) }
}

// another is an operation of the same kind on the same pieces, with other bytes of them or others to write.
func (s *sequence) another(p planned, th hip.Thread) planned {
	for {
		if q, ok := s.operation(p.kind, th, p.a, p.b); ok {
			return q
		}
	}
}
