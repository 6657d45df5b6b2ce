package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipGraphCreate
func rw_hipGraphCreate(thread uint64, out unsafe.Pointer, flags uint32) int32 {
	if out == nil || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	*(*uint64)(out) = graphs.create(threadOf(thread).Device, false).handle
	return int32(hip.Success)
}

//export rw_hipGraphDestroy
func rw_hipGraphDestroy(thread uint64, graph uint64) int32 { return int32(graphs.destroy(graph)) }

//export rw_hipGraphClone
func rw_hipGraphClone(thread uint64, out unsafe.Pointer, graph uint64) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	g, err := graphs.clone(graph)
	if err == hip.Success {
		*(*uint64)(out) = g.handle
	}
	return int32(err)
}

//export rw_hipGraphInstantiate
func rw_hipGraphInstantiate(thread uint64, out unsafe.Pointer, graph uint64, node, log unsafe.Pointer, size uint64) int32 {
	if node != nil {
		*(*uint64)(node) = 0
	}
	if log != nil && size > 0 {
		*(*byte)(log) = 0
	}
	return rw_hipGraphInstantiateWithFlags(thread, out, graph, 0)
}

//export rw_hipGraphInstantiateWithFlags
func rw_hipGraphInstantiateWithFlags(thread uint64, out unsafe.Pointer, graph uint64, flags uint64) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	e, err := graphs.instantiate(threadOf(thread), graph, flags)
	if err == hip.Success {
		*(*uint64)(out) = e.handle
	}
	return int32(err)
}

//export rw_hipGraphExecDestroy
func rw_hipGraphExecDestroy(thread uint64, exec uint64) int32 {
	return int32(graphs.destroyExec(threadOf(thread), exec))
}

//export rw_hipGraphExecGetFlags
func rw_hipGraphExecGetFlags(thread uint64, exec uint64, flags unsafe.Pointer) int32 {
	e := graphs.exec(exec)
	if e == nil || flags == nil {
		return int32(hip.ErrorInvalidValue)
	}
	*(*uint64)(flags) = e.flags
	return int32(hip.Success)
}

//export rw_hipGraphLaunch
func rw_hipGraphLaunch(thread uint64, exec uint64, stream uint64) int32 {
	e := graphs.exec(exec)
	if e == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	if watching.Load() != nil {
		if done, err := captures.inline(s, e); done {
			return int32(err)
		}
	}
	return int32(e.launch(t, s))
}

// rw_hipGraphUpload has nothing to do: what a launch needs is there since the
// graph was instantiated.
//
//export rw_hipGraphUpload
func rw_hipGraphUpload(thread uint64, exec uint64, stream uint64) int32 {
	if graphs.exec(exec) == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err == hip.Success && s != hip.StreamNull {
		_, err = bare().StreamGetDevice(t, s)
	}
	return int32(err)
}

// fill answers a question for a list of handles as all of them are asked: out
// nil asks for the length, what is longer than the list becomes 0.
func fill(hs []uint64, out, length unsafe.Pointer) hip.Error {
	if length == nil {
		return hip.ErrorInvalidValue
	}
	n := (*uint64)(length)
	if out != nil && *n > 0 {
		to := unsafe.Slice((*uint64)(out), *n)
		clear(to[copy(to, hs):])
		*n = min(*n, uint64(len(hs)))
	} else {
		*n = uint64(len(hs))
	}
	return hip.Success
}

//export rw_hipGraphGetNodes
func rw_hipGraphGetNodes(thread uint64, graph uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs.list(graph, func(*node) bool { return true })
	if err == hip.Success {
		err = fill(hs, nodes, length)
	}
	return int32(err)
}

//export rw_hipGraphGetRootNodes
func rw_hipGraphGetRootNodes(thread uint64, graph uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs.list(graph, func(n *node) bool { return len(n.after) == 0 })
	if err == hip.Success {
		err = fill(hs, nodes, length)
	}
	return int32(err)
}

//export rw_hipGraphNodeGetType
func rw_hipGraphNodeGetType(thread uint64, node uint64, kind unsafe.Pointer) int32 {
	n := graphs.node(node)
	if n == nil || kind == nil {
		return int32(hip.ErrorInvalidValue)
	}
	*(*hip.GraphNodeType)(kind) = n.kind
	return int32(hip.Success)
}

//export rw_hipGraphNodeGetDependencies
func rw_hipGraphNodeGetDependencies(thread uint64, node uint64, nodes, length unsafe.Pointer) int32 {
	n := graphs.node(node)
	if n == nil {
		return int32(hip.ErrorInvalidValue)
	}
	hs := make([]uint64, len(n.after))
	for i, d := range n.after {
		hs[i] = d.handle
	}
	return int32(fill(hs, nodes, length))
}
