package worker

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hip/memop"
	"github.com/rocwire/rocwire/wire"
)

// graphs are what a session must know of its executable graphs beyond what the runtime does: which memory each touches by itself. A real
// runtime would take an address of this process for one of the client's.
type graphs struct {
	mu   sync.Mutex
	open map[hip.GraphExec]*sessionGraph
	call uint64 // executions of functions
}

type sessionGraph struct {
	touched map[uint32][]area // by operation
	sizes   []uint64          // of the operations, as they are accounted for
}

// size is what is kept of a graph.
func (g *sessionGraph) size() (n uint64) {
	for _, x := range g.sizes {
		n += x
	}
	return n
}

// area is memory that an operation reads or writes: slices of rows, or an array.
type area struct {
	array                hip.Array // null: the memory below
	at                   hip.Ptr
	pitch, slice         uint64
	width, height, depth uint64
}

func (s *session) doGraphInstantiate(r *wire.Request) {
	var q hiprpc.GraphLaunch
	if !q.Decode(r.Fixed) || r.BulkLen == 0 || r.BulkLen > hiprpc.MaxGraph {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(q.Thread.Device)) || !s.room(r, hip.HandleGraphExec) {
		return
	}
	b, room, ok := s.readGraph(r, hiprpc.GraphOps)
	if !ok {
		return
	}
	kept := uint64(0)
	defer func() { s.mem.Give(room - kept) }()
	d, funcs, ok := hiprpc.DecodeGraph(b)
	if !ok {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(d.Device)) {
		return
	}
	g := &sessionGraph{touched: map[uint32][]area{}, sizes: make([]uint64, len(d.Ops))}
	for i := range d.Ops {
		if !s.checked(r, s.admit(g, uint32(i), &d.Ops[i], funcs[i])) {
			return
		}
		g.sizes[i] = graphSize(&d.Ops[i])
	}
	h, code := s.rt.GraphInstantiate(q.Thread, d)
	if code == hip.Success {
		kept = g.size()
		s.handles.AddSized(hip.HandleGraphExec, uint64(h), d.Device, kept)
		s.graphs.mu.Lock()
		if s.graphs.open == nil {
			s.graphs.open = map[hip.GraphExec]*sessionGraph{}
		}
		s.graphs.open[h] = g
		s.graphs.mu.Unlock()
	}
	s.replyU64(r, uint64(h), code)
}

// admit judges one operation, and gives a function of the client's its call.
func (s *session) admit(g *sessionGraph, i uint32, op *hip.GraphOp, fn uint64) hip.Error {
	if code := s.device(op.Device); code != hip.Success {
		return code
	}
	delete(g.touched, i)
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		l := op.Kernel
		l.Args = slices.Clone(l.Args) // the message's memory holds all the others
		if code := s.handles.check(hip.HandleFunction, uint64(l.Function)); code != hip.Success {
			return code
		}
		for _, e := range [...]hip.Event{l.Start, l.Stop} {
			if e != 0 {
				if code := s.handles.check(hip.HandleEvent, uint64(e)); code != hip.Success {
					return code
				}
			}
		}
	case hip.GraphNodeTypeMemcpy:
		return s.admitCopy(g, i, op.Copy)
	case hip.GraphNodeTypeMemset:
		m := op.Set
		if code := op.Check(); code != hip.Success {
			return code
		}
		g.touched[i] = []area{{0, m.Dst, m.Pitch, m.Slice, m.Width * uint64(m.Element), m.Height, max(m.Depth, 1)}}
	case hip.GraphNodeTypeHost:
		op.Host = s.graphFunc(fn)
	case hip.GraphNodeTypeEventRecord, hip.GraphNodeTypeWaitEvent:
		return s.handles.check(hip.HandleEvent, uint64(op.Event))
	case hip.GraphNodeTypeBatchMemOp:
		for j := range op.Batch {
			o, ok := memop.Of(&op.Batch[j])
			if !ok {
				return hip.ErrorInvalidValue
			}
			g.touched[i] = append(g.touched[i], area{at: o.Ptr, width: o.Size(), height: 1, depth: 1})
		}
	case hip.GraphNodeTypeMemFree:
		if op.Ptr != 0 {
			return hip.ErrorInvalidValue
		}
	}
	return op.Check()
}

// admitCopy takes copies within the device only: any other is the client's to make.
func (s *session) admitCopy(g *sessionGraph, i uint32, c *hip.GraphCopy) hip.Error {
	if x := c.General; x != nil {
		var areas []area
		for _, side := range [...]struct {
			kind          hip.MemoryType
			array         hip.Array
			at            hip.Ptr
			place         [3]uint64
			pitch, height uint64
		}{
			{x.SrcMemoryType, x.SrcArray, x.SrcDevice, [3]uint64{x.SrcXInBytes, x.SrcY, x.SrcZ}, x.SrcPitch, x.SrcHeight},
			{x.DstMemoryType, x.DstArray, x.DstDevice, [3]uint64{x.DstXInBytes, x.DstY, x.DstZ}, x.DstPitch, x.DstHeight},
		} {
			if side.pitch == 0 { // rows follow each other closely
				side.pitch = x.WidthInBytes
			}
			switch side.kind {
			case hip.MemoryTypeArray:
				if code := s.handles.check(hip.HandleArray, uint64(side.array)); code != hip.Success {
					return code
				}
				areas = append(areas, area{array: side.array})
			case hip.MemoryTypeDevice: // a client says where the box begins
				if side.place != [3]uint64{} || side.height < max(x.Height, 1) || side.pitch > 1<<46/side.height {
					return hip.ErrorInvalidValue
				}
				areas = append(areas, area{at: side.at, pitch: side.pitch, slice: side.pitch * side.height, width: x.WidthInBytes, height: x.Height, depth: x.Depth})
			default:
				return hip.ErrorNotSupported
			}
		}
		g.touched[i] = areas
		return hip.Success
	}
	if c.Peer {
		for _, d := range [...]int32{c.DstDevice, c.SrcDevice} {
			if code := s.device(d); code != hip.Success {
				return code
			}
		}
	}
	c.Kind = hip.MemcpyDeviceToDevice
	g.touched[i] = []area{{0, c.Dst, c.DstPitch, c.DstSlice, c.Width, c.Height, c.Depth}, {0, c.Src, c.SrcPitch, c.SrcSlice, c.Width, c.Height, c.Depth}}
	return hip.Success
}

// whole answers whether an area still is device memory, or an array, of the session. Whether it may be written is the runtime's to say.
func (s *session) whole(t hip.Thread, a *area) hip.Error {
	if a.array != 0 {
		return s.handles.check(hip.HandleArray, uint64(a.array))
	}
	if a.width == 0 || a.height == 0 || a.depth == 0 {
		return hip.Success
	}
	if a.depth == 1 {
		return s.owned(t, a.at, a.pitch, a.width, a.height, false)
	}
	if a.depth-1 > 1<<46/max(a.slice, 1) {
		return hip.ErrorInvalidValue
	}
	for _, z := range [...]uint64{0, a.depth - 1} {
		if code := s.owned(t, a.at+hip.Ptr(z*a.slice), a.pitch, a.width, a.height, false); code != hip.Success {
			return code
		}
	}
	n, ok := extentOf(a.pitch, a.width, a.height)
	if !ok {
		return hip.ErrorInvalidValue
	}
	return s.owned(t, a.at, 0, (a.depth-1)*a.slice+n, 1, false) // nothing of others between
}

// graphOf is an executable graph of this session.
func (s *session) graphOf(h hip.GraphExec) *sessionGraph {
	s.graphs.mu.Lock()
	defer s.graphs.mu.Unlock()
	return s.graphs.open[h]
}

// graphRequest decodes what is about an executable graph, which must be there.
func (s *session) graphRequest(r *wire.Request, q *hiprpc.GraphLaunch) *sessionGraph {
	if !q.Decode(r.Fixed) {
		s.malformed(r)
		return nil
	}
	if !s.checked(r, s.device(q.Thread.Device)) || !s.checked(r, s.handles.check(hip.HandleGraphExec, uint64(q.Exec))) {
		return nil
	}
	g := s.graphOf(q.Exec)
	if g == nil {
		s.reply(r, hip.ErrorInvalidValue, nil)
	}
	return g
}

func (s *session) doGraphExecUpdate(r *wire.Request) {
	var q hiprpc.GraphLaunch
	if r.BulkLen == 0 || r.BulkLen > hiprpc.MaxGraph {
		s.malformed(r)
		return
	}
	g := s.graphRequest(r, &q)
	if g == nil {
		return
	}
	b, room, ok := s.readGraph(r, hiprpc.ChangedOps)
	if !ok {
		return
	}
	more := uint64(0)
	defer func() { s.mem.Give(room - more) }()
	changes, funcs, ok := hiprpc.DecodeChanges(b)
	if !ok {
		s.malformed(r)
		return
	}
	next := &sessionGraph{touched: map[uint32][]area{}}
	for i := range changes {
		if int(changes[i].Index) >= len(g.sizes) {
			s.reply(r, hip.ErrorInvalidValue, nil)
			return
		}
		if !s.checked(r, s.admit(next, changes[i].Index, &changes[i].Op, funcs[i])) {
			return
		}
	}
	code := s.rt.GraphExecUpdate(q.Thread, q.Exec, changes)
	if code == hip.Success {
		for i := range changes {
			delete(g.touched, changes[i].Index)
		}
		for i, as := range next.touched {
			g.touched[i] = as
		}
		was := g.size()
		for i := range changes {
			n := &g.sizes[changes[i].Index] // what comes before an operation does not change, and is not said again
			*n = max(*n, graphSize(&changes[i].Op))
		}
		more = g.size() - was
		s.handles.Grow(hip.HandleGraphExec, uint64(q.Exec), more)
	}
	s.reply(r, code, nil)
}

func (s *session) doGraphLaunch(r *wire.Request) {
	var q hiprpc.GraphLaunch
	g := s.graphRequest(r, &q)
	if g == nil || !s.checked(r, s.handles.check(hip.HandleStream, uint64(q.Stream))) {
		return
	}
	for _, as := range g.touched {
		for i := range as {
			if !s.checked(r, s.whole(q.Thread, &as[i])) {
				return
			}
		}
	}
	s.reply(r, s.rt.GraphLaunch(q.Thread, q.Exec, q.Stream), nil)
}

func (s *session) doGraphExecDestroy(r *wire.Request) {
	var q hiprpc.GraphLaunch
	if s.graphRequest(r, &q) == nil {
		return
	}
	x, ok := s.ending(r, hip.HandleGraphExec, uint64(q.Exec))
	if !ok {
		return
	}
	code := s.rt.GraphExecDestroy(q.Thread, q.Exec)
	if code == hip.Success {
		s.graphs.mu.Lock()
		delete(s.graphs.open, q.Exec)
		s.graphs.mu.Unlock()
	} else {
		s.restore(x)
	}
	s.reply(r, code, nil)
}

// ownCall marks numbers of calls that the session has given, beside those of the client's functions.
const ownCall = 1 << 63

// graphFunc is a function of the client's as an operation of a graph: the stream waits until the client has answered.
func (s *session) graphFunc(fn uint64) func() {
	return func() {
		s.printed()
		s.graphs.mu.Lock()
		s.graphs.call++
		c := hiprpc.GraphCall{Func: fn, Call: ownCall | s.graphs.call}
		s.graphs.mu.Unlock()
		done := make(chan struct{})
		s.funcs.mu.Lock()
		s.funcs.open[c.Call] = done
		s.funcs.mu.Unlock()
		s.callClient(hiprpc.NoticeGraphFunc, c.Append(nil), done)
	}
}
