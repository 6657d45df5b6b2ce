package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// ofGraph is the device of a node that goes where its graph goes.
const ofGraph = -1

// addNode is every hipGraphAdd…Node: make gives the node's parameters.
func addNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, make func(t hip.Thread) (graph.Params, hip.Error)) int32 {
	after, ok := idsAt(deps, n)
	if out == nil || !ok || !graphs().Has(g) {
		return int32(hip.ErrorInvalidValue)
	}
	p, err := make(threadOf(thread))
	if err != hip.Success {
		return int32(err)
	}
	id, err := graphs().Add(g, after, ofGraph, p)
	return give(out, id, err)
}

// params is addNode's make for parameters that read makes of a struct.
func params[T any](p unsafe.Pointer, read func(t hip.Thread, p *T) (graph.Params, hip.Error)) func(t hip.Thread) (graph.Params, hip.Error) {
	return func(t hip.Thread) (graph.Params, hip.Error) {
		if p == nil {
			return nil, hip.ErrorInvalidValue
		}
		return read(t, (*T)(p))
	}
}

//export rw_hipGraphAddKernelNode
func rw_hipGraphAddKernelNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, kernelNode))
}

//export rw_hipGraphAddMemcpyNode
func rw_hipGraphAddMemcpyNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, copyNode3D))
}

//export rw_hipGraphAddMemcpyNode1D
func rw_hipGraphAddMemcpyNode1D(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, dst, src uintptr, count uint64, kind int32) int32 {
	return addNode(thread, out, g, deps, n, func(t hip.Thread) (graph.Params, hip.Error) {
		return copyNode1D(t, hip.Ptr(dst), hip.Ptr(src), count, hip.MemcpyKind(kind))
	})
}

//export rw_hipGraphAddMemcpyNodeFromSymbol
func rw_hipGraphAddMemcpyNodeFromSymbol(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, dst, symbol uintptr, count, offset uint64, kind int32) int32 {
	return addNode(thread, out, g, deps, n, func(t hip.Thread) (graph.Params, hip.Error) {
		return copyNodeSymbol(t, graph.FormFrom, symbol, hip.Ptr(dst), count, offset, hip.MemcpyKind(kind))
	})
}

//export rw_hipGraphAddMemcpyNodeToSymbol
func rw_hipGraphAddMemcpyNodeToSymbol(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, symbol, src uintptr, count, offset uint64, kind int32) int32 {
	return addNode(thread, out, g, deps, n, func(t hip.Thread) (graph.Params, hip.Error) {
		return copyNodeSymbol(t, graph.FormTo, symbol, hip.Ptr(src), count, offset, hip.MemcpyKind(kind))
	})
}

//export rw_hipDrvGraphAddMemcpyNode
func rw_hipDrvGraphAddMemcpyNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer, ctx unsafe.Pointer) int32 {
	if ctx == nil {
		return int32(hip.ErrorInvalidValue)
	}
	return addNode(thread, out, g, deps, n, params(p, copyNodeDrv))
}

//export rw_hipGraphAddMemsetNode
func rw_hipGraphAddMemsetNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, setNode))
}

// memsetParams are those of the driver API in the runtime's layout.
func memsetParams(p *hip.DrvMemsetNodeParams) *hip.MemsetParams {
	return &hip.MemsetParams{Dst: p.Dst, ElementSize: p.ElementSize, Height: p.Height, Pitch: p.Pitch, Value: p.Value, Width: p.Width}
}

//export rw_hipDrvGraphAddMemsetNode
func rw_hipDrvGraphAddMemsetNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer, ctx unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, func(t hip.Thread, p *hip.DrvMemsetNodeParams) (graph.Params, hip.Error) {
		return setNode(t, memsetParams(p))
	}))
}

//export rw_hipGraphAddHostNode
func rw_hipGraphAddHostNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, hostNode))
}

// plain is addNode's make for parameters that are there.
func plain(p graph.Params, ok bool) func(hip.Thread) (graph.Params, hip.Error) {
	return func(hip.Thread) (graph.Params, hip.Error) {
		if !ok {
			return nil, hip.ErrorInvalidValue
		}
		return p, hip.Success
	}
}

//export rw_hipGraphAddEmptyNode
func rw_hipGraphAddEmptyNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64) int32 {
	return addNode(thread, out, g, deps, n, plain(graph.Empty{}, true))
}

//export rw_hipGraphAddChildGraphNode
func rw_hipGraphAddChildGraphNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, child uint64) int32 {
	return addNode(thread, out, g, deps, n, plain(graph.Child{Graph: child}, child != 0))
}

//export rw_hipGraphAddEventRecordNode
func rw_hipGraphAddEventRecordNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, event uint64) int32 {
	return addNode(thread, out, g, deps, n, plain(graph.EventRecord{Event: hip.Event(event)}, event != 0))
}

//export rw_hipGraphAddEventWaitNode
func rw_hipGraphAddEventWaitNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, event uint64) int32 {
	return addNode(thread, out, g, deps, n, plain(graph.EventWait{Event: hip.Event(event)}, event != 0))
}

//export rw_hipGraphAddExternalSemaphoresSignalNode
func rw_hipGraphAddExternalSemaphoresSignalNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, signalNode))
}

//export rw_hipGraphAddExternalSemaphoresWaitNode
func rw_hipGraphAddExternalSemaphoresWaitNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, waitNode))
}

//export rw_hipGraphAddBatchMemOpNode
func rw_hipGraphAddBatchMemOpNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	return addNode(thread, out, g, deps, n, params(p, batchNode))
}

//export rw_hipGraphAddMemAllocNode
func rw_hipGraphAddMemAllocNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	after, ok := idsAt(deps, n)
	if out == nil || !ok || p == nil || !graphs().Has(g) {
		return int32(hip.ErrorInvalidValue)
	}
	return addAlloc(threadOf(thread), out, g, after, (*hip.MemAllocNodeParams)(p))
}

// addAlloc adds the node of memory, which is there from now on: its address is
// part of the answer.
func addAlloc(t hip.Thread, out unsafe.Pointer, g uint64, after []graph.ID, p *hip.MemAllocNodeParams) int32 {
	p.Dptr = 0
	at := p.PoolProps.Location
	if p.Bytesize == 0 || p.PoolProps.AllocType != hip.MemAllocationTypePinned || at.Type != hip.MemLocationTypeDevice || valid(at.Id) != hip.Success {
		return int32(hip.ErrorInvalidValue)
	}
	t.Device = at.Id
	memory, err := bare().Malloc(t, p.Bytesize)
	if err != hip.Success {
		return int32(err)
	}
	node := graph.MemAlloc{P: *p, Device: at.Id}
	node.P.Dptr = memory
	id, err := graphs().Add(g, after, at.Id, node)
	if err != hip.Success {
		bare().Free(t, memory)
		return int32(err)
	}
	graphing.Load().watch()
	p.Dptr = memory
	return give(out, id, hip.Success)
}

//export rw_hipGraphAddMemFreeNode
func rw_hipGraphAddMemFreeNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, ptr uintptr) int32 {
	if deps != nil && n == 0 || !graphs().Allocated(hip.Ptr(ptr)) {
		return int32(hip.ErrorInvalidValue)
	}
	return addNode(thread, out, g, deps, n, plain(graph.MemFree{Ptr: hip.Ptr(ptr)}, true))
}

//export rw_hipDrvGraphAddMemFreeNode
func rw_hipDrvGraphAddMemFreeNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, ptr uintptr) int32 {
	return rw_hipGraphAddMemFreeNode(thread, out, g, deps, n, ptr)
}

//export rw_hipGraphAddNode
func rw_hipGraphAddNode(thread uint64, out unsafe.Pointer, g uint64, deps unsafe.Pointer, n uint64, p unsafe.Pointer) int32 {
	if p == nil {
		return int32(hip.ErrorInvalidValue)
	}
	u := (*hip.GraphNodeParams)(p)
	switch at := unsafe.Pointer(&u.Anon); u.Type {
	case hip.GraphNodeTypeMemAlloc:
		return rw_hipGraphAddMemAllocNode(thread, out, g, deps, n, at)
	case hip.GraphNodeTypeMemFree:
		return rw_hipGraphAddMemFreeNode(thread, out, g, deps, n, uintptr((*hip.MemFreeNodeParams)(at).Dptr))
	case hip.GraphNodeTypeGraph:
		return rw_hipGraphAddChildGraphNode(thread, out, g, deps, n, *(*uint64)(at))
	case hip.GraphNodeTypeEmpty:
		return rw_hipGraphAddEmptyNode(thread, out, g, deps, n)
	}
	return addNode(thread, out, g, deps, n, func(t hip.Thread) (graph.Params, hip.Error) { return anyNode(t, u) })
}
