package hipabi

import "C"

import (
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// The parameters of nodes as the C ABI has them, checked as HIP checks them.

func kernelNode(t hip.Thread, p *hip.KernelNodeParams) (graph.Params, hip.Error) {
	if p.Func == 0 {
		return nil, hip.ErrorInvalidValue
	}
	f, _, err := kernelOf(t, uintptr(p.Func))
	if err != hip.Success {
		return nil, hip.ErrorInvalidDeviceFunction
	}
	l := start(f)
	defer l.done()
	if countless(p.GridDim, p.BlockDim) {
		return nil, hip.ErrorInvalidValue // a launch says hipErrorInvalidConfiguration
	}
	if err = l.grid(p.GridDim, p.BlockDim, uint64(p.SharedMemBytes)); err != hip.Success {
		return nil, err
	}
	if err = l.args(pointer(uintptr(p.KernelParams)), pointer(uintptr(p.Extra))); err != hip.Success {
		return nil, err
	}
	k := graph.Kernel{Func: uint64(p.Func), Name: f.kernel.Name, Device: l.dev.number, Extra: p.Extra != 0, Launch: l.Launch}
	k.Launch.Args = slices.Clone(l.Args) // the memory is used again
	return k, hip.Success
}

// sized is what is known of an address: nothing if it is ordinary memory of the
// host. size is what lies behind it.
type sized struct {
	known  bool
	device bool // not of the host
	on     int32
	all    uint64 // bytes of the allocation
	left   uint64 // of them from the address on
}

func sizeOf(t hip.Thread, p hip.Ptr) (s sized) {
	a, err := bare().PointerGetAttributes(t, p)
	if err != hip.Success || a.Type == hip.MemoryTypeUnregistered {
		return s
	}
	s = sized{known: true, device: a.Type == hip.MemoryTypeDevice, on: a.Device, all: ^uint64(0), left: ^uint64(0)}
	if base, n, err := bare().MemGetAddressRange(t, p); err == hip.Success && p >= base && uint64(p-base) <= n {
		s.all, s.left = n, n-uint64(p-base)
	}
	return s
}

func setNode(t hip.Thread, p *hip.MemsetParams) (graph.Params, hip.Error) {
	e := uint64(p.ElementSize)
	if p.Height == 0 || p.Width == 0 || e != 1 && e != 2 && e != 4 || p.Width > 1<<46 || p.Height > 1<<46 {
		return nil, hip.ErrorInvalidValue
	}
	if p.Dst == 0 {
		return nil, hip.ErrorInvalidValue
	}
	m := sizeOf(t, p.Dst)
	if !m.known || p.Pitch > 0 && p.Height > m.all/p.Pitch {
		return nil, hip.ErrorInvalidValue
	}
	need := p.Width * e
	if p.Height > 1 {
		if p.Pitch < need {
			return nil, hip.ErrorInvalidValue
		}
		need += p.Pitch * (p.Height - 1) // no more than all, as checked
	}
	if need > m.left {
		return nil, hip.ErrorInvalidValue
	}
	return graph.Memset{P: *p, Depth: 1}, hip.Success
}

func hostNode(t hip.Thread, p *hip.HostNodeParams) (graph.Params, hip.Error) {
	if p.Fn == 0 {
		return nil, hip.ErrorInvalidValue
	}
	return graph.Host{P: *p, Call: hostCall(p.Fn, p.UserData)}, hip.Success
}

func signalNode(t hip.Thread, p *hip.ExternalSemaphoreSignalNodeParams) (graph.Params, hip.Error) {
	return graph.Signal{P: *p}, hip.Success
}

func waitNode(t hip.Thread, p *hip.ExternalSemaphoreWaitNodeParams) (graph.Params, hip.Error) {
	return graph.Wait{P: *p}, hip.Success
}

// maxBatch is the most memory operations of one batch.
const maxBatch = 256

func batchNode(t hip.Thread, p *hip.BatchMemOpNodeParams) (graph.Params, hip.Error) {
	if p.Count == 0 || p.Count > maxBatch || p.ParamArray == 0 || p.Flags != 0 || p.Ctx == 0 {
		return nil, hip.ErrorInvalidValue
	}
	ops := unsafe.Slice((*hip.StreamBatchMemOpParamsUnion)(pointer(uintptr(p.ParamArray))), p.Count)
	return graph.BatchMemOp{P: *p, Ops: slices.Clone(ops)}, hip.Success
}

// anyNode reads hipGraphNodeParams of the types whose nodes are no other objects.
func anyNode(t hip.Thread, u *hip.GraphNodeParams) (graph.Params, hip.Error) {
	switch at := unsafe.Pointer(&u.Anon); u.Type {
	case hip.GraphNodeTypeKernel:
		return kernelNode(t, (*hip.KernelNodeParams)(at))
	case hip.GraphNodeTypeMemcpy:
		return copyNode3D(t, &(*hip.MemcpyNodeParams)(at).CopyParams)
	case hip.GraphNodeTypeMemset:
		return setNode(t, (*hip.MemsetParams)(at))
	case hip.GraphNodeTypeHost:
		return hostNode(t, (*hip.HostNodeParams)(at))
	case hip.GraphNodeTypeGraph:
		c := graph.Child{Graph: *(*uint64)(at)}
		return plain(c, c.Graph != 0)(t)
	case hip.GraphNodeTypeWaitEvent:
		e := graph.EventWait{Event: *(*hip.Event)(at)}
		return plain(e, e.Event != 0)(t)
	case hip.GraphNodeTypeEventRecord:
		e := graph.EventRecord{Event: *(*hip.Event)(at)}
		return plain(e, e.Event != 0)(t)
	case hip.GraphNodeTypeExtSemaphoreSignal, hip.GraphNodeTypeExtSemaphoreWait, hip.GraphNodeTypeMemAlloc, hip.GraphNodeTypeMemFree:
		return nil, hip.ErrorNotSupported
	}
	return nil, hip.ErrorInvalidValue
}
