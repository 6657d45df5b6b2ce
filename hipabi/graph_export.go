package hipabi

import "C"

import (
	"os"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

//export rw_hipGraphCreate
func rw_hipGraphCreate(thread uint64, out unsafe.Pointer, flags uint32) int32 {
	if out == nil || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	*(*graph.ID)(out) = graphs().Create(threadOf(thread).Device)
	return int32(hip.Success)
}

//export rw_hipGraphDestroy
func rw_hipGraphDestroy(thread uint64, g uint64) int32 { return int32(graphs().Destroy(g)) }

//export rw_hipGraphClone
func rw_hipGraphClone(thread uint64, out unsafe.Pointer, g uint64) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	c, err := graphs().Clone(g)
	return give(out, c, err)
}

//export rw_hipGraphNodeFindInClone
func rw_hipGraphNodeFindInClone(thread uint64, out unsafe.Pointer, node, clone uint64) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	n, err := graphs().FindInClone(node, clone)
	return give(out, n, err)
}

//export rw_hipGraphGetNodes
func rw_hipGraphGetNodes(thread uint64, g uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs().Nodes(g)
	return list(hs, err, nodes, length)
}

//export rw_hipGraphGetRootNodes
func rw_hipGraphGetRootNodes(thread uint64, g uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs().Roots(g)
	return list(hs, err, nodes, length)
}

//export rw_hipGraphNodeGetType
func rw_hipGraphNodeGetType(thread uint64, node uint64, kind unsafe.Pointer) int32 {
	if kind == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t, err := graphs().Type(node)
	return give(kind, t, err)
}

//export rw_hipGraphNodeGetDependencies
func rw_hipGraphNodeGetDependencies(thread uint64, node uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs().Dependencies(node)
	return list(hs, err, nodes, length)
}

//export rw_hipGraphNodeGetDependentNodes
func rw_hipGraphNodeGetDependentNodes(thread uint64, node uint64, nodes, length unsafe.Pointer) int32 {
	hs, err := graphs().Dependents(node)
	return list(hs, err, nodes, length)
}

//export rw_hipGraphDestroyNode
func rw_hipGraphDestroyNode(thread uint64, node uint64) int32 {
	return int32(graphs().DestroyNode(node))
}

//export rw_hipGraphGetEdges
func rw_hipGraphGetEdges(thread uint64, g uint64, from, to, length unsafe.Pointer) int32 {
	if length == nil || (from == nil) != (to == nil) {
		return int32(hip.ErrorInvalidValue)
	}
	fs, ts, err := graphs().Edges(g)
	if err != hip.Success {
		return int32(err)
	}
	n := *(*uint64)(length)
	if err = fill(fs, from, length); err == hip.Success && from != nil {
		*(*uint64)(length) = n
		err = fill(ts, to, length)
	}
	return int32(err)
}

// edges takes the two lists of hipGraphAddDependencies.
func edges(g uint64, from, to unsafe.Pointer, n uint64, do func(from, to []graph.ID) hip.Error) int32 {
	if !graphs().Has(g) {
		return int32(hip.ErrorInvalidValue)
	}
	fs, ok := idsAt(from, n)
	ts, also := idsAt(to, n)
	if !ok || !also {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(do(fs, ts))
}

//export rw_hipGraphAddDependencies
func rw_hipGraphAddDependencies(thread uint64, g uint64, from, to unsafe.Pointer, n uint64) int32 {
	return edges(g, from, to, n, func(from, to []graph.ID) hip.Error { return graphs().AddDependencies(g, from, to) })
}

//export rw_hipGraphRemoveDependencies
func rw_hipGraphRemoveDependencies(thread uint64, g uint64, from, to unsafe.Pointer, n uint64) int32 {
	return edges(g, from, to, n, func(from, to []graph.ID) hip.Error { return graphs().RemoveDependencies(g, from, to) })
}

//export rw_hipGraphDebugDotPrint
func rw_hipGraphDebugDotPrint(thread uint64, g uint64, path unsafe.Pointer, flags uint32) int32 {
	if path == nil {
		return int32(hip.ErrorInvalidValue)
	}
	text, err := graphs().Dot(g, hip.GraphDebugDotFlags(flags))
	if err != hip.Success {
		return int32(err)
	}
	if e := os.WriteFile(goString(path), []byte(text), 0o666); e != nil {
		Log("hipGraphDebugDotPrint: %v", e)
		return int32(hip.ErrorOperatingSystem)
	}
	return int32(hip.Success)
}
