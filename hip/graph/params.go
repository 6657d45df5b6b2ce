package graph

import "github.com/rocwire/rocwire/hip"

// Params are the parameters of a node of one type. A Space keeps what it is
// given: slices in them must not change afterwards.
type Params interface {
	Type() hip.GraphNodeType
}

// Kernel is the launch of a kernel.
type Kernel struct {
	Func   uint64     // as the program named the kernel
	Name   string     // of the kernel
	Device int32      // that the function is on
	Extra  bool       // the arguments came as one buffer
	Launch hip.Launch // what is launched
}

// Form is by which function the parameters of a copy are set.
type Form uint8

// The forms of a copy.
const (
	Form1D   Form = iota // hipGraphAddMemcpyNode1D
	Form3D               // hipGraphAddMemcpyNode
	FormDrv              // hipDrvGraphAddMemcpyNode
	FormFrom             // hipGraphAddMemcpyNodeFromSymbol
	FormTo               // hipGraphAddMemcpyNodeToSymbol
)

// Memcpy is a copy: as the program described it, and what is executed.
type Memcpy struct {
	Form     Form
	Dst, Src hip.Ptr // of the forms but Form3D and FormDrv
	N        uint64
	Symbol   uint64
	Offset   uint64
	Kind     hip.MemcpyKind
	P        hip.Memcpy3DParms // of Form3D
	D        hip.DrvMEMCPY3D   // of FormDrv
	Op       hip.GraphCopy
}

// Memset fills memory. More than one slice comes from a capture only.
type Memset struct {
	P     hip.MemsetParams
	Depth uint64
	Slice uint64 // bytes from one slice to the next
}

// Host is a function of the program.
type Host struct {
	P    hip.HostNodeParams
	Call func()
}

// Child is a graph that is executed as one node. The node has a clone of it.
type Child struct {
	Graph ID
	graph *Graph
}

// Empty does nothing.
type Empty struct{}

// EventRecord and EventWait are nodes of one event.
type (
	EventRecord struct{ Event hip.Event }
	EventWait   struct{ Event hip.Event }
)

// Signal and Wait are nodes of external semaphores, of which there can be none.
type (
	Signal struct {
		P hip.ExternalSemaphoreSignalNodeParams
	}
	Wait struct {
		P hip.ExternalSemaphoreWaitNodeParams
	}
)

// MemAlloc is memory that a launch allocates. Its address, P.Dptr, is the same
// at every launch.
type MemAlloc struct {
	P      hip.MemAllocNodeParams
	Device int32
	memory *allocation
}

// MemFree frees memory: of a graph, or the program's.
type MemFree struct {
	Ptr    hip.Ptr
	memory *allocation // nil for the program's
}

// BatchMemOp is a batch of memory operations of a stream.
type BatchMemOp struct {
	P   hip.BatchMemOpNodeParams
	Ops []hip.StreamBatchMemOpParamsUnion
}

// Type is the node's type.
func (Kernel) Type() hip.GraphNodeType      { return hip.GraphNodeTypeKernel }
func (Memcpy) Type() hip.GraphNodeType      { return hip.GraphNodeTypeMemcpy }
func (Memset) Type() hip.GraphNodeType      { return hip.GraphNodeTypeMemset }
func (Host) Type() hip.GraphNodeType        { return hip.GraphNodeTypeHost }
func (Child) Type() hip.GraphNodeType       { return hip.GraphNodeTypeGraph }
func (Empty) Type() hip.GraphNodeType       { return hip.GraphNodeTypeEmpty }
func (EventRecord) Type() hip.GraphNodeType { return hip.GraphNodeTypeEventRecord }
func (EventWait) Type() hip.GraphNodeType   { return hip.GraphNodeTypeWaitEvent }
func (Signal) Type() hip.GraphNodeType      { return hip.GraphNodeTypeExtSemaphoreSignal }
func (Wait) Type() hip.GraphNodeType        { return hip.GraphNodeTypeExtSemaphoreWait }
func (MemAlloc) Type() hip.GraphNodeType    { return hip.GraphNodeTypeMemAlloc }
func (MemFree) Type() hip.GraphNodeType     { return hip.GraphNodeTypeMemFree }
func (BatchMemOp) Type() hip.GraphNodeType  { return hip.GraphNodeTypeBatchMemOp }
