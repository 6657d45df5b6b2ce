package hip

// GraphDesc is an executable graph as plain data: what is executed, in which
// order, and nothing of the nodes that a program named it by.
type GraphDesc struct {
	Device int32     // that it was made on; a launch goes on behind its stream's work there
	Ops    []GraphOp // each behind those that it waits for
}

// GraphOp is one operation of an executable graph. Which of the operands count
// follows from its type; hipGraphNodeTypeEmpty only keeps an order.
type GraphOp struct {
	Type     GraphNodeType
	Device   int32
	After    []uint32 // operations before this one, each once
	Disabled bool     // as if it were empty, until it is enabled

	Kernel *Launch                       // its stream does not count
	Copy   *GraphCopy                    // of hipGraphNodeTypeMemcpy
	Set    *GraphSet                     // of hipGraphNodeTypeMemset
	Host   func()                        // of hipGraphNodeTypeHost
	Event  Event                         // recorded or waited for
	Ptr    Ptr                           // freed, if no operation of the graph allocates it
	Batch  []StreamBatchMemOpParamsUnion // of hipGraphNodeTypeBatchMemOp
}

// GraphCopy is a box of Width bytes, Height rows and Depth slices. Pitches and
// slices are the bytes from one row, or slice, to the next.
type GraphCopy struct {
	Dst, Src             Ptr
	DstPitch, SrcPitch   uint64
	DstSlice, SrcSlice   uint64
	Width, Height, Depth uint64
	Kind                 MemcpyKind
	Peer                 bool // between the devices below, which otherwise follow from the addresses
	DstDevice, SrcDevice int32
	General              *DrvMEMCPY3D // the whole copy, in place of all else
}

// GraphSet fills Height rows of Width elements of 1, 2 or 4 bytes.
type GraphSet struct {
	Dst     Ptr
	Pitch   uint64
	Value   uint32
	Element uint32
	Width   uint64
	Height  uint64
	Slice   uint64 // bytes from one slice of rows to the next, if there are more
	Depth   uint64
}

// slices checks what more than one slice demands: bytes, and that they do not overlap.
func (s *GraphSet) slices() bool {
	return s.Element == 1 && s.Depth <= 1<<46 && s.Slice <= 1<<46/s.Depth && s.Height > 0 && s.Pitch > 0 && s.Slice%s.Pitch == 0 && s.Slice/s.Pitch >= s.Height
}

// GraphChange gives one operation of an executable graph other operands, or
// enables or disables it. Its type and place stay.
type GraphChange struct {
	Index uint32
	Op    GraphOp // After does not count
}

// MaxGraphOps bounds the operations of one executable graph.
const MaxGraphOps = 1 << 20

// Check tells whether a description makes sense: what is executed is there, and
// each operation waits for earlier ones only.
func (d *GraphDesc) Check() Error {
	if len(d.Ops) > MaxGraphOps {
		return ErrorInvalidValue
	}
	for i := range d.Ops {
		op := &d.Ops[i]
		for _, a := range op.After {
			if int(a) >= i {
				return ErrorInvalidValue
			}
		}
		if err := op.Check(); err != Success {
			return err
		}
	}
	return Success
}

// Check tells whether an operation has the operands of its type.
func (op *GraphOp) Check() Error {
	ok := true
	switch op.Type {
	case GraphNodeTypeKernel:
		ok = op.Kernel != nil
	case GraphNodeTypeMemcpy:
		ok = op.Copy != nil
	case GraphNodeTypeMemset:
		s := op.Set
		ok = s != nil && (s.Element == 1 || s.Element == 2 || s.Element == 4) && s.Width <= 1<<46 && (s.Height == 0 || s.Width <= 1<<46/s.Height) &&
			(s.Height <= 1 || s.Pitch >= s.Width*uint64(s.Element)) && (s.Depth <= 1 || s.slices())
	case GraphNodeTypeHost:
		ok = op.Host != nil
	case GraphNodeTypeEventRecord, GraphNodeTypeWaitEvent:
		ok = op.Event != 0
	case GraphNodeTypeEmpty, GraphNodeTypeMemAlloc, GraphNodeTypeMemFree:
	case GraphNodeTypeBatchMemOp:
		ok = len(op.Batch) > 0
	default:
		return ErrorNotSupported
	}
	if !ok {
		return ErrorInvalidValue
	}
	return Success
}

// CheckChange tells whether a change makes sense for a description. Anything may
// become a function of the host and the other way round: so does what only
// another process can do.
func (d *GraphDesc) CheckChange(c *GraphChange) Error {
	if uint64(c.Index) >= uint64(len(d.Ops)) {
		return ErrorInvalidValue
	}
	if old := d.Ops[c.Index].Type; old != c.Op.Type && old != GraphNodeTypeHost && c.Op.Type != GraphNodeTypeHost {
		return ErrorInvalidValue
	}
	return c.Op.Check()
}

// Apply makes changes that CheckChange has taken. Each operation keeps its place.
func (d *GraphDesc) Apply(changes []GraphChange) {
	for i := range changes {
		op := changes[i].Op
		op.After = d.Ops[changes[i].Index].After
		d.Ops[changes[i].Index] = op
	}
}
