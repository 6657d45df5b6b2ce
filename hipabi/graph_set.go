package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// paramsOf are a node's parameters, of the type that is asked for.
func paramsOf[P graph.Params](node uint64, out unsafe.Pointer) (p P, err hip.Error) {
	if out == nil {
		return p, hip.ErrorInvalidValue
	}
	q, err := graphs().Params(node)
	if err != hip.Success {
		return p, err
	}
	p, ok := q.(P)
	if !ok {
		return p, hip.ErrorInvalidValue
	}
	return p, hip.Success
}

// setNodeParams is every hipGraph…NodeSetParams.
func setNodeParams(thread, node uint64, want hip.GraphNodeType, make func(t hip.Thread) (graph.Params, hip.Error)) int32 {
	if t, err := graphs().Type(node); err != hip.Success || t != want {
		return int32(hip.ErrorInvalidValue)
	}
	p, err := make(threadOf(thread))
	if err == hip.Success {
		err = graphs().SetParams(node, p)
	}
	return int32(err)
}

// setExecParams is every hipGraphExec…NodeSetParams: check compares with what
// the executable graph has.
func setExecParams(thread, exec, node uint64, make func(t hip.Thread) (graph.Params, hip.Error), check func(t hip.Thread, old, new graph.Params) hip.Error) int32 {
	old, err := graphs().ExecParams(exec, node)
	if err != hip.Success {
		return int32(err)
	}
	t := threadOf(thread)
	p, err := make(t)
	if err == hip.Success && p.Type() != old.Type() {
		err = hip.ErrorInvalidValue
	}
	if err == hip.Success && check != nil {
		err = check(t, old, p)
	}
	if err != hip.Success {
		return int32(err)
	}
	h, changes, err := graphs().ExecSetParams(exec, node, p)
	return changed(t, h, changes, err)
}

// changed tells the Runtime what became different.
func changed(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange, err hip.Error) int32 {
	if err == hip.Success && len(changes) > 0 {
		err = bare().GraphExecUpdate(t, h, changes)
	}
	return int32(err)
}

//export rw_hipGraphKernelNodeGetParams
func rw_hipGraphKernelNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	k, err := paramsOf[graph.Kernel](node, out)
	if err != hip.Success {
		return int32(err)
	}
	l := &k.Launch
	p := hip.KernelNodeParams{BlockDim: l.Block, GridDim: l.Grid, Func: hip.Ptr(k.Func), SharedMemBytes: l.SharedMem}
	showArgs(node, &k, &p)
	*(*hip.KernelNodeParams)(out) = p
	return int32(hip.Success)
}

// showArgs gives out a kernel node's arguments in the form in which they came.
func showArgs(node uint64, k *graph.Kernel, p *hip.KernelNodeParams) {
	args := k.Launch.Args
	f := modules.function(k.Launch.Function)
	shown := &graphing.Load().shown
	if k.Extra { // five words, the size, the segment
		at := shown.keep(node, 6*8+len(args))
		words := unsafe.Slice((*uintptr)(at), 6)
		words[0], words[1], words[2], words[3], words[4], words[5] = extraPointer, uintptr(at)+6*8, extraSize, uintptr(at)+5*8, extraEnd, uintptr(len(args))
		copy(memory(unsafe.Add(at, 6*8), uint64(len(args))), args)
		p.Extra = hip.Ptr(uintptr(at))
		return
	}
	if f == nil || len(f.kernel.Args) == 0 {
		return
	}
	n := len(f.kernel.Args)
	room := (n*8 + 63) &^ 63 // arguments are aligned in the segment
	at := shown.keep(node, room+len(args))
	copy(memory(unsafe.Add(at, room), uint64(len(args))), args)
	words := unsafe.Slice((*uintptr)(at), n)
	for i := range f.kernel.Args {
		words[i] = uintptr(at) + uintptr(room) + uintptr(f.kernel.Args[i].Offset)
	}
	p.KernelParams = hip.Ptr(uintptr(at))
}

//export rw_hipGraphKernelNodeSetParams
func rw_hipGraphKernelNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeKernel, params(p, kernelNode))
}

//export rw_hipGraphExecKernelNodeSetParams
func rw_hipGraphExecKernelNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, kernelNode), sameDevice)
}

// sameDevice refuses a kernel of another device.
func sameDevice(t hip.Thread, old, new graph.Params) hip.Error {
	if old.(graph.Kernel).Device != new.(graph.Kernel).Device {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

//export rw_hipGraphMemsetNodeGetParams
func rw_hipGraphMemsetNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.Memset](node, out)
	return give(out, p.P, err)
}

//export rw_hipGraphMemsetNodeSetParams
func rw_hipGraphMemsetNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeMemset, params(p, setNode))
}

//export rw_hipGraphExecMemsetNodeSetParams
func rw_hipGraphExecMemsetNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, setNode), sameRows)
}

//export rw_hipDrvGraphExecMemsetNodeSetParams
func rw_hipDrvGraphExecMemsetNodeSetParams(thread uint64, exec, node uint64, p, ctx unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, func(t hip.Thread, p *hip.DrvMemsetNodeParams) (graph.Params, hip.Error) {
		return setNode(t, memsetParams(p))
	}), sameRows)
}

// sameRows refuses rows of another size, and memory of another device.
func sameRows(t hip.Thread, old, new graph.Params) hip.Error {
	o, n := old.(graph.Memset), new.(graph.Memset)
	if n.P.Height > 1 && (o.P.Width*uint64(o.P.ElementSize) != n.P.Width*uint64(n.P.ElementSize) || o.P.Height != n.P.Height || o.Depth != n.Depth) {
		return hip.ErrorInvalidValue
	}
	return sameHome(t, o.P.Dst, n.P.Dst)
}

// sameHome refuses memory of another device than that which was used before.
func sameHome(t hip.Thread, old, new hip.Ptr) hip.Error {
	if a, b := sizeOf(t, old), sizeOf(t, new); a.known && b.known && a.on != b.on {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

//export rw_hipGraphMemcpyNodeGetParams
func rw_hipGraphMemcpyNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	m, err := paramsOf[graph.Memcpy](node, out)
	return give(out, shown(&m), err)
}

//export rw_hipGraphMemcpyNodeSetParams
func rw_hipGraphMemcpyNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeMemcpy, params(p, copyNode3D))
}

// sameKind refuses another direction.
func sameKind(t hip.Thread, old, new graph.Params) hip.Error {
	o, n := old.(graph.Memcpy), new.(graph.Memcpy)
	if o.Kind != n.Kind {
		return hip.ErrorInvalidValue
	}
	if n.Form == graph.FormFrom || n.Form == graph.FormTo {
		if err := symbolSides(t, n); err != hip.Success {
			return err
		}
		if o.Form == n.Form {
			return sameHome(t, o.Dst+o.Src, n.Dst+n.Src) // one of them is 0
		}
	}
	return hip.Success
}

//export rw_hipGraphExecMemcpyNodeSetParams
func rw_hipGraphExecMemcpyNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, wrong(params(p, copyNode3D)), sameKind)
}

// wrong is make where AMD's library has one answer for all that is wrong with a copy.
func wrong(make func(t hip.Thread) (graph.Params, hip.Error)) func(t hip.Thread) (graph.Params, hip.Error) {
	return func(t hip.Thread) (graph.Params, hip.Error) {
		p, err := make(t)
		if err != hip.Success {
			err = hip.ErrorInvalidValue
		}
		return p, err
	}
}

// copyAgain are the parameters of a copy of bytes, which must be two addresses.
func copyAgain(dst, src uintptr, n uint64, kind int32) func(t hip.Thread) (graph.Params, hip.Error) {
	return func(t hip.Thread) (graph.Params, hip.Error) {
		if dst == src {
			return nil, hip.ErrorInvalidValue
		}
		return copyNode1D(t, hip.Ptr(dst), hip.Ptr(src), n, hip.MemcpyKind(kind))
	}
}

//export rw_hipGraphMemcpyNodeSetParams1D
func rw_hipGraphMemcpyNodeSetParams1D(thread uint64, node uint64, dst, src uintptr, n uint64, kind int32) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeMemcpy, copyAgain(dst, src, n, kind))
}

//export rw_hipGraphExecMemcpyNodeSetParams1D
func rw_hipGraphExecMemcpyNodeSetParams1D(thread uint64, exec, node uint64, dst, src uintptr, n uint64, kind int32) int32 {
	return setExecParams(thread, exec, node, copyAgain(dst, src, n, kind), sameKind)
}

// symbolAgain are the parameters of a copy between a symbol and other memory.
func symbolAgain(form graph.Form, symbol, other uintptr, n, offset uint64, kind int32, check bool) func(t hip.Thread) (graph.Params, hip.Error) {
	return func(t hip.Thread) (graph.Params, hip.Error) {
		if symbol == other {
			return nil, hip.ErrorInvalidValue
		}
		p, err := copyNodeSymbol(t, form, symbol, hip.Ptr(other), n, offset, hip.MemcpyKind(kind))
		if err == hip.Success && check {
			err = symbolSides(t, p.(graph.Memcpy))
		}
		return p, err
	}
}

// setSymbol is hipGraphMemcpyNodeSetParamsFromSymbol and …ToSymbol.
func setSymbol(thread, node uint64, form graph.Form, symbol, other uintptr, n, offset uint64, kind int32) int32 {
	if symbol == 0 {
		return int32(hip.ErrorInvalidSymbol)
	}
	return setNodeParams(thread, node, hip.GraphNodeTypeMemcpy, symbolAgain(form, symbol, other, n, offset, kind, true))
}

//export rw_hipGraphMemcpyNodeSetParamsFromSymbol
func rw_hipGraphMemcpyNodeSetParamsFromSymbol(thread uint64, node uint64, dst, symbol uintptr, n, offset uint64, kind int32) int32 {
	return setSymbol(thread, node, graph.FormFrom, symbol, dst, n, offset, kind)
}

//export rw_hipGraphMemcpyNodeSetParamsToSymbol
func rw_hipGraphMemcpyNodeSetParamsToSymbol(thread uint64, node uint64, symbol, src uintptr, n, offset uint64, kind int32) int32 {
	return setSymbol(thread, node, graph.FormTo, symbol, src, n, offset, kind)
}

// setExecSymbol is the same in an executable graph.
func setExecSymbol(thread, exec, node uint64, form graph.Form, symbol, other uintptr, n, offset uint64, kind int32) int32 {
	if symbol == 0 {
		return int32(hip.ErrorInvalidSymbol)
	}
	return setExecParams(thread, exec, node, symbolAgain(form, symbol, other, n, offset, kind, false), sameKind)
}

//export rw_hipGraphExecMemcpyNodeSetParamsFromSymbol
func rw_hipGraphExecMemcpyNodeSetParamsFromSymbol(thread uint64, exec, node uint64, dst, symbol uintptr, n, offset uint64, kind int32) int32 {
	return setExecSymbol(thread, exec, node, graph.FormFrom, symbol, dst, n, offset, kind)
}

//export rw_hipGraphExecMemcpyNodeSetParamsToSymbol
func rw_hipGraphExecMemcpyNodeSetParamsToSymbol(thread uint64, exec, node uint64, symbol, src uintptr, n, offset uint64, kind int32) int32 {
	return setExecSymbol(thread, exec, node, graph.FormTo, symbol, src, n, offset, kind)
}

//export rw_hipDrvGraphMemcpyNodeGetParams
func rw_hipDrvGraphMemcpyNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	m, err := paramsOf[graph.Memcpy](node, out)
	return give(out, shownDrv(&m), err)
}

//export rw_hipDrvGraphMemcpyNodeSetParams
func rw_hipDrvGraphMemcpyNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeMemcpy, params(p, copyNodeDrv))
}

//export rw_hipDrvGraphExecMemcpyNodeSetParams
func rw_hipDrvGraphExecMemcpyNodeSetParams(thread uint64, exec, node uint64, p, ctx unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, wrong(params(p, func(t hip.Thread, p *hip.DrvMEMCPY3D) (graph.Params, hip.Error) {
		if p.SrcArray == 0 && p.SrcHost == 0 && p.SrcDevice == 0 || p.DstArray == 0 && p.DstHost == 0 && p.DstDevice == 0 {
			return nil, hip.ErrorInvalidValue
		}
		return copyNodeDrv(t, p)
	})), nil) // what is where may change, as in AMD's library
}

//export rw_hipGraphHostNodeGetParams
func rw_hipGraphHostNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.Host](node, out)
	return give(out, p.P, err)
}

//export rw_hipGraphHostNodeSetParams
func rw_hipGraphHostNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeHost, params(p, hostNode))
}

//export rw_hipGraphExecHostNodeSetParams
func rw_hipGraphExecHostNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, hostNode), nil)
}

//export rw_hipGraphChildGraphNodeGetGraph
func rw_hipGraphChildGraphNodeGetGraph(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.Child](node, out)
	return give(out, p.Graph, err)
}

//export rw_hipGraphExecChildGraphNodeSetParams
func rw_hipGraphExecChildGraphNodeSetParams(thread uint64, exec, node, child uint64) int32 {
	return setExecParams(thread, exec, node, plain(graph.Child{Graph: child}, child != 0), nil)
}

//export rw_hipGraphEventRecordNodeGetEvent
func rw_hipGraphEventRecordNodeGetEvent(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.EventRecord](node, out)
	return give(out, p.Event, err)
}

//export rw_hipGraphEventRecordNodeSetEvent
func rw_hipGraphEventRecordNodeSetEvent(thread uint64, node, event uint64) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeEventRecord, plain(graph.EventRecord{Event: hip.Event(event)}, event != 0))
}

//export rw_hipGraphExecEventRecordNodeSetEvent
func rw_hipGraphExecEventRecordNodeSetEvent(thread uint64, exec, node, event uint64) int32 {
	return setExecParams(thread, exec, node, plain(graph.EventRecord{Event: hip.Event(event)}, event != 0), nil)
}

//export rw_hipGraphEventWaitNodeGetEvent
func rw_hipGraphEventWaitNodeGetEvent(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.EventWait](node, out)
	return give(out, p.Event, err)
}

//export rw_hipGraphEventWaitNodeSetEvent
func rw_hipGraphEventWaitNodeSetEvent(thread uint64, node, event uint64) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeWaitEvent, plain(graph.EventWait{Event: hip.Event(event)}, event != 0))
}

//export rw_hipGraphExecEventWaitNodeSetEvent
func rw_hipGraphExecEventWaitNodeSetEvent(thread uint64, exec, node, event uint64) int32 {
	return setExecParams(thread, exec, node, plain(graph.EventWait{Event: hip.Event(event)}, event != 0), nil)
}

//export rw_hipGraphMemAllocNodeGetParams
func rw_hipGraphMemAllocNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.MemAlloc](node, out)
	return give(out, p.P, err)
}

//export rw_hipGraphMemFreeNodeGetParams
func rw_hipGraphMemFreeNodeGetParams(thread uint64, node uint64, out uintptr) int32 {
	p, err := paramsOf[graph.MemFree](node, pointer(out))
	return give(pointer(out), p.Ptr, err)
}

//export rw_hipGraphExternalSemaphoresSignalNodeGetParams
func rw_hipGraphExternalSemaphoresSignalNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.Signal](node, out)
	return give(out, p.P, err)
}

//export rw_hipGraphExternalSemaphoresSignalNodeSetParams
func rw_hipGraphExternalSemaphoresSignalNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeExtSemaphoreSignal, params(p, signalNode))
}

//export rw_hipGraphExecExternalSemaphoresSignalNodeSetParams
func rw_hipGraphExecExternalSemaphoresSignalNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, signalNode), nil)
}

//export rw_hipGraphExternalSemaphoresWaitNodeGetParams
func rw_hipGraphExternalSemaphoresWaitNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	p, err := paramsOf[graph.Wait](node, out)
	return give(out, p.P, err)
}

//export rw_hipGraphExternalSemaphoresWaitNodeSetParams
func rw_hipGraphExternalSemaphoresWaitNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeExtSemaphoreWait, params(p, waitNode))
}

//export rw_hipGraphExecExternalSemaphoresWaitNodeSetParams
func rw_hipGraphExecExternalSemaphoresWaitNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, waitNode), nil)
}

//export rw_hipGraphBatchMemOpNodeGetParams
func rw_hipGraphBatchMemOpNodeGetParams(thread uint64, node uint64, out unsafe.Pointer) int32 {
	b, err := paramsOf[graph.BatchMemOp](node, out)
	if err == hip.Success {
		const size = uint64(unsafe.Sizeof(hip.StreamBatchMemOpParamsUnion{}))
		at := graphing.Load().shown.keep(node, len(b.Ops)*int(size))
		copy(unsafe.Slice((*hip.StreamBatchMemOpParamsUnion)(at), len(b.Ops)), b.Ops)
		b.P.ParamArray = hip.Ptr(uintptr(at))
	}
	return give(out, b.P, err)
}

//export rw_hipGraphBatchMemOpNodeSetParams
func rw_hipGraphBatchMemOpNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	return setNodeParams(thread, node, hip.GraphNodeTypeBatchMemOp, params(p, batchNode))
}

//export rw_hipGraphExecBatchMemOpNodeSetParams
func rw_hipGraphExecBatchMemOpNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	return setExecParams(thread, exec, node, params(p, batchNode), nil)
}

//export rw_hipGraphNodeSetParams
func rw_hipGraphNodeSetParams(thread uint64, node uint64, p unsafe.Pointer) int32 {
	if p == nil {
		return int32(hip.ErrorInvalidValue)
	}
	u := (*hip.GraphNodeParams)(p)
	return setNodeParams(thread, node, u.Type, func(t hip.Thread) (graph.Params, hip.Error) { return anyNode(t, u) })
}

//export rw_hipGraphExecNodeSetParams
func rw_hipGraphExecNodeSetParams(thread uint64, exec, node uint64, p unsafe.Pointer) int32 {
	if p == nil {
		return int32(hip.ErrorInvalidValue)
	}
	u := (*hip.GraphNodeParams)(p)
	return setExecParams(thread, exec, node, func(t hip.Thread) (graph.Params, hip.Error) { return anyNode(t, u) }, sameShape)
}

// sameShape is the check of the node's type.
func sameShape(t hip.Thread, old, new graph.Params) hip.Error {
	switch new.(type) {
	case graph.Kernel:
		return sameDevice(t, old, new)
	case graph.Memset:
		return sameRows(t, old, new)
	case graph.Memcpy:
		return sameKind(t, old, new)
	}
	return hip.Success
}

//export rw_hipGraphKernelNodeSetAttribute
func rw_hipGraphKernelNodeSetAttribute(thread uint64, node uint64, attribute int32, value unsafe.Pointer) int32 {
	if value == nil {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(graphs().SetAttribute(node, hip.LaunchAttributeID(attribute), *(*hip.LaunchAttributeValue)(value)))
}

//export rw_hipGraphKernelNodeGetAttribute
func rw_hipGraphKernelNodeGetAttribute(thread uint64, node uint64, attribute int32, value unsafe.Pointer) int32 {
	if value == nil {
		return int32(hip.ErrorInvalidValue)
	}
	v, err := graphs().Attribute(node, hip.LaunchAttributeID(attribute))
	return give(value, v, err)
}

//export rw_hipGraphKernelNodeCopyAttributes
func rw_hipGraphKernelNodeCopyAttributes(thread uint64, src, dst uint64) int32 {
	return int32(graphs().CopyAttributes(src, dst))
}
