package rocm

/*
#include "graph.h"
*/
import "C"

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// native is an executable graph of the library's, with the graph that it was
// made of: the library names the nodes by that one's.
type native struct {
	r      *Runtime
	device int32
	graph  C.uint64_t
	exec   C.uint64_t
	nodes  []node
	cost   int64 // of a launch, for queued
}

// node is an operation in the library's graph.
type node struct {
	id   C.uint64_t
	kind C.int32_t
	off  bool
}

// switched says whether the library can disable a node. Others are made such that they do nothing.
func switched(kind C.int32_t) bool {
	switch kind {
	case C.ROCM_NODE_KERNEL, C.ROCM_NODE_COOPERATIVE, C.ROCM_NODE_COPY, C.ROCM_NODE_COPY_BOX, C.ROCM_NODE_COPY_ARRAY:
		return true
	}
	return false
}

// newNative builds a graph. ErrorNotSupported: the library's have not all that it takes, or its operations are not one after another. Those that are side by
// side AMD's library launches one by one as well, on streams of its own, of which it leaves out those that share the launch's hardware queue: with two of them it
// reads past the end of its list (Graph::UpdateStreams of its 6.4), and launches on whatever that is.
func (r *Runtime) newNative(t hip.Thread, d *hip.GraphDesc) (n *native, err hip.Error) {
	for i := range d.Ops {
		if op := &d.Ops[i]; op.Device != d.Device || i > 0 && !slices.Contains(op.After, uint32(i-1)) || r.formOf(op) == foreign {
			return nil, hip.ErrorNotSupported
		}
	}
	n = &native{r: r, device: d.Device}
	if err = hip.Error(C.rocm_graph_create(r.table, C.int32_t(d.Device), &n.graph)); err != hip.Success {
		return nil, err
	}
	defer func() {
		if err != hip.Success {
			n.destroy(t)
			n = nil
		}
	}()
	n.nodes = make([]node, 0, len(d.Ops))
	for i := range d.Ops {
		op := &d.Ops[i]
		var after []C.uint64_t
		if i > 0 {
			after = []C.uint64_t{n.nodes[i-1].id}
		}
		n.nodes = append(n.nodes, node{})
		v := &n.nodes[i]
		err = n.with(v, op, func(kind C.int32_t, params unsafe.Pointer) hip.Error {
			v.kind = kind
			return hip.Error(C.rocm_graph_add(r.table, C.int32_t(d.Device), n.graph, unsafe.SliceData(after), C.size_t(len(after)), kind, params, &v.id))
		})
		if err != hip.Success {
			return n, err
		}
	}
	n.cost = queuedCost
	for i := range d.Ops {
		n.cost += queuedCost
		if k := d.Ops[i].Kernel; k != nil {
			n.cost += launchCost(k) - queuedCost
		}
	}
	if err = hip.Error(C.rocm_graph_instantiate(r.table, C.int32_t(d.Device), n.graph, &n.exec)); err != hip.Success {
		return n, err
	}
	for i := range d.Ops {
		if err = n.enable(&n.nodes[i], !d.Ops[i].Disabled); err != hip.Success {
			return n, err
		}
	}
	return n, hip.Success
}

// with calls f with the parameters of an operation as the library has them. What
// they point to stays where it is meanwhile.
func (n *native) with(v *node, op *hip.GraphOp, f func(kind C.int32_t, params unsafe.Pointer) hip.Error) hip.Error {
	var pins runtime.Pinner
	defer pins.Unpin()
	switch form := n.r.formOf(op); form {
	case C.ROCM_NODE_KERNEL, C.ROCM_NODE_COOPERATIVE:
		offsets, err := n.r.arguments(op.Kernel)
		if err != hip.Success {
			return err
		}
		k := C.struct_rocm_kernel_node{launch: cLaunch(op.Kernel), count: C.size_t(len(offsets))}
		if len(offsets) > 0 {
			pins.Pin(&op.Kernel.Args[0])
			pins.Pin(&offsets[0])
			k.args, k.offsets = unsafe.Pointer(&op.Kernel.Args[0]), (*C.uint32_t)(&offsets[0])
		}
		return f(form, unsafe.Pointer(&k))
	case C.ROCM_NODE_COPY, C.ROCM_NODE_COPY_BOX:
		p := boxOf(op.Copy)
		return f(form, unsafe.Pointer(&p))
	case C.ROCM_NODE_COPY_ARRAY:
		return f(form, unsafe.Pointer(n.r.box(op.Copy.General)))
	case C.ROCM_NODE_RECORD, C.ROCM_NODE_WAIT:
		event := op.Event
		return f(form, unsafe.Pointer(&event))
	default:
		return f(form, nil)
	}
}

// enable switches a node on or off, if the library can.
func (n *native) enable(v *node, on bool) hip.Error {
	if v.off != on || !switched(v.kind) {
		return hip.Success
	}
	var c C.int32_t
	if on {
		c = 1
	}
	err := hip.Error(C.rocm_graph_enable(n.r.table, C.int32_t(n.device), n.exec, v.id, c))
	if err == hip.Success {
		v.off = !on
	}
	return err
}

// update changes nodes. Any error: not all were changed, and the graph has to be
// built again.
func (n *native) update(t hip.Thread, changes []hip.GraphChange) hip.Error {
	for i := range changes {
		op, v := &changes[i].Op, &n.nodes[changes[i].Index]
		if n.r.formOf(op) != v.kind {
			return hip.ErrorNotSupported
		}
		err := n.with(v, op, func(kind C.int32_t, params unsafe.Pointer) hip.Error {
			return hip.Error(C.rocm_graph_set(n.r.table, C.int32_t(n.device), n.exec, v.id, kind, params))
		})
		if err == hip.Success {
			err = n.enable(v, !op.Disabled)
		}
		if err != hip.Success {
			return err
		}
	}
	return hip.Success
}

// launch issues the graph on a stream of its device.
func (n *native) launch(t hip.Thread, s hip.Stream) hip.Error {
	return n.r.tell(t, s, n.cost, func(at hip.Stream) hip.Error {
		return hip.Error(C.rocm_graph_launch(n.r.table, C.int32_t(t.Device), n.exec, C.uint64_t(at)))
	})
}

// destroy gives the library's graph back. What was launched goes on.
func (n *native) destroy(hip.Thread) {
	if n.exec != 0 {
		C.rocm_graph_exec_destroy(n.r.table, C.int32_t(n.device), n.exec)
	}
	C.rocm_graph_destroy(n.r.table, C.int32_t(n.device), n.graph)
}
