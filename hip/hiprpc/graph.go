package hiprpc

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// An executable graph is the bulk of the message that makes it or changes it: operations in their order, each as small as its type allows.
// A function of the program is a number: when an operation comes to it the worker sends NoticeGraphFunc.

// MaxGraph bounds the bytes of an executable graph's description.
const MaxGraph = 256 << 20

// MaxAfter bounds what one operation waits for.
const MaxAfter = 1 << 16

// GraphCall says that a stream has come to a function of a graph: run it, then answer OpHostFuncDone with Call.
type GraphCall struct {
	Func uint64 // the client's number of it
	Call uint64 // the worker's number of this execution
}

// Append encodes c.
func (c GraphCall) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.U64(c.Func)
	e.U64(c.Call)
	return e.B
}

// Decode reads what Append wrote; false if b is anything else.
func (c *GraphCall) Decode(b []byte) bool {
	d := wire.NewDec(b)
	c.Func, c.Call = d.U64(), d.U64()
	return d.Done()
}

// AppendGraph encodes a description. funcs are the numbers of its host operations, by their places.
func AppendGraph(b []byte, d *hip.GraphDesc, funcs []uint64) []byte {
	e := wire.Enc{B: b}
	e.I32(d.Device)
	e.U32(uint32(len(d.Ops)))
	for i := range d.Ops {
		op := &d.Ops[i]
		e.U32(uint32(len(op.After)))
		for _, a := range op.After {
			e.U32(a)
		}
		appendOp(&e, op, funcs[i])
	}
	return e.B
}

// DecodeGraph reads what AppendGraph wrote. Arguments of launches lie in b; host operations have no function yet.
func DecodeGraph(b []byte) (g *hip.GraphDesc, funcs []uint64, ok bool) {
	d := wire.NewDec(b)
	g = &hip.GraphDesc{Device: d.I32()}
	n := int(d.U32())
	if n > hip.MaxGraphOps || n*smallestOp > d.Len() {
		return nil, nil, false
	}
	g.Ops, funcs = make([]hip.GraphOp, n), make([]uint64, n)
	for i := range g.Ops {
		op := &g.Ops[i]
		k := int(d.U32())
		if k > MaxAfter || k*4 > d.Len() {
			return nil, nil, false
		}
		if k > 0 {
			op.After = make([]uint32, k)
			for j := range op.After {
				if op.After[j] = d.U32(); int(op.After[j]) >= i {
					return nil, nil, false
				}
			}
		}
		if funcs[i], ok = takeOp(&d, op); !ok {
			return nil, nil, false
		}
	}
	return g, funcs, d.Done()
}

// AppendChanges encodes changes of an executable graph. funcs are as for AppendGraph.
func AppendChanges(b []byte, changes []hip.GraphChange, funcs []uint64) []byte {
	e := wire.Enc{B: b}
	e.U32(uint32(len(changes)))
	for i := range changes {
		e.U32(changes[i].Index)
		appendOp(&e, &changes[i].Op, funcs[i])
	}
	return e.B
}

// DecodeChanges reads what AppendChanges wrote, like DecodeGraph.
func DecodeChanges(b []byte) (changes []hip.GraphChange, funcs []uint64, ok bool) {
	d := wire.NewDec(b)
	n := int(d.U32())
	if n > hip.MaxGraphOps || n*smallestOp > d.Len() {
		return nil, nil, false
	}
	changes, funcs = make([]hip.GraphChange, n), make([]uint64, n)
	for i := range changes {
		changes[i].Index = d.U32()
		if funcs[i], ok = takeOp(&d, &changes[i].Op); !ok {
			return nil, nil, false
		}
	}
	return changes, funcs, d.Done()
}

// GraphOps is how many operations an encoded graph announces, as far as its bytes can hold them.
func GraphOps(b []byte) uint64 { return announced(b, 4) }

// ChangedOps is GraphOps for changes.
func ChangedOps(b []byte) uint64 { return announced(b, 0) }

func announced(b []byte, at int) uint64 {
	if len(b) < at+4 {
		return 0
	}
	return min(uint64(binary.LittleEndian.Uint32(b[at:])), uint64(len(b)/smallestOp))
}

// smallestOp is the bytes of the smallest operation with what stands before it.
const smallestOp = 4 + 1 + 1 + 4

func appendOp(e *wire.Enc, op *hip.GraphOp, fn uint64) {
	e.U8(uint8(op.Type))
	e.Bool(op.Disabled)
	e.I32(op.Device)
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		e.Bytes(AppendLaunch(nil, op.Device, op.Kernel))
	case hip.GraphNodeTypeMemcpy:
		c := op.Copy
		e.Bool(c.General != nil)
		if c.General != nil {
			appendStruct(e, c.General)
			return
		}
		for _, v := range [...]uint64{uint64(c.Dst), uint64(c.Src), c.DstPitch, c.SrcPitch, c.DstSlice, c.SrcSlice, c.Width, c.Height, c.Depth} {
			e.U64(v)
		}
		e.I32(int32(c.Kind))
		e.Bool(c.Peer)
		e.I32(c.DstDevice)
		e.I32(c.SrcDevice)
	case hip.GraphNodeTypeMemset:
		s := op.Set
		e.U64(uint64(s.Dst))
		e.U64(s.Pitch)
		e.U32(s.Value)
		e.U32(s.Element)
		e.U64(s.Width)
		e.U64(s.Height)
		e.U64(s.Slice)
		e.U64(s.Depth)
	case hip.GraphNodeTypeHost:
		e.U64(fn)
	case hip.GraphNodeTypeEventRecord, hip.GraphNodeTypeWaitEvent:
		e.U64(uint64(op.Event))
	case hip.GraphNodeTypeBatchMemOp:
		appendList(e, op.Batch)
	}
}

func takeOp(d *wire.Dec, op *hip.GraphOp) (fn uint64, ok bool) {
	op.Type, op.Disabled, op.Device = hip.GraphNodeType(d.U8()), d.Bool(), d.I32()
	ok = true
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		op.Kernel = new(hip.Launch)
		_, ok = DecodeLaunch(d.Bytes(), op.Kernel)
	case hip.GraphNodeTypeMemcpy:
		c := new(hip.GraphCopy)
		op.Copy = c
		if d.Bool() {
			c.General = new(hip.DrvMEMCPY3D)
			takeStruct(d, c.General)
			break
		}
		c.Dst, c.Src = hip.Ptr(d.U64()), hip.Ptr(d.U64())
		for _, v := range [...]*uint64{&c.DstPitch, &c.SrcPitch, &c.DstSlice, &c.SrcSlice, &c.Width, &c.Height, &c.Depth} {
			*v = d.U64()
		}
		c.Kind, c.Peer, c.DstDevice, c.SrcDevice = hip.MemcpyKind(d.I32()), d.Bool(), d.I32(), d.I32()
	case hip.GraphNodeTypeMemset:
		s := new(hip.GraphSet)
		op.Set = s
		s.Dst, s.Pitch, s.Value, s.Element, s.Width, s.Height = hip.Ptr(d.U64()), d.U64(), d.U32(), d.U32(), d.U64(), d.U64()
		s.Slice, s.Depth = d.U64(), d.U64()
	case hip.GraphNodeTypeHost:
		fn = d.U64()
	case hip.GraphNodeTypeEventRecord, hip.GraphNodeTypeWaitEvent:
		op.Event = hip.Event(d.U64())
	case hip.GraphNodeTypeBatchMemOp:
		op.Batch = takeList[hip.StreamBatchMemOpParamsUnion](d)
	case hip.GraphNodeTypeEmpty, hip.GraphNodeTypeMemAlloc, hip.GraphNodeTypeMemFree:
	default:
		return 0, false
	}
	return fn, ok && !d.Bad()
}

// GraphLaunch is the launch of an executable graph, and, without a stream, whatever else is about one.
type GraphLaunch struct {
	Thread hip.Thread
	Exec   hip.GraphExec
	Stream hip.Stream
}

// Append encodes g.
func (g GraphLaunch) Append(b []byte) []byte {
	e := wire.Enc{B: b}
	e.I32(g.Thread.Device)
	e.U32(g.Thread.ID)
	e.U64(uint64(g.Exec))
	e.U64(uint64(g.Stream))
	return e.B
}

// Decode reads what Append wrote; false if b is anything else.
func (g *GraphLaunch) Decode(b []byte) bool {
	d := wire.NewDec(b)
	g.Thread = hip.Thread{Device: d.I32(), ID: d.U32()}
	g.Exec, g.Stream = hip.GraphExec(d.U64()), hip.Stream(d.U64())
	return d.Done()
}
