package rocm

/*
#include "graph.h"
*/
import "C"

import "github.com/rocwire/rocwire/hip"

// foreign is the form of what a graph of the library's does not do, or not as
// hip.GraphDesc has it: a launch with events, rows that are no multiple of their
// pitch, a copy between devices or of memory of another, memory to set, memory that is no node's, operations on
// memory one after another, see StreamBatchMemOp, functions of the host, see
// LaunchHostFunc.
//
// What memory is set to AMD's library of 6.4 keeps, from when the graph is made, where
// it puts the arguments of its next kernels (ROCm/rocm-systems, pull request 1068).
const foreign C.int32_t = -1

// formOf is what an operation is in a graph of the library's: one of ROCM_NODE_….
// A node keeps its form as long as there is the graph.
func (r *Runtime) formOf(op *hip.GraphOp) C.int32_t {
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		l := op.Kernel
		if l.Start != 0 || l.Stop != 0 || l.GlobalSize != (hip.Dim3{}) {
			return foreign
		}
		if l.Flags&hip.LaunchCooperative != 0 {
			return C.ROCM_NODE_COOPERATIVE
		}
		return C.ROCM_NODE_KERNEL
	case hip.GraphNodeTypeMemcpy:
		if r.copiesAbroad(op.Copy, op.Device) {
			return foreign
		}
		return copyForm(op.Copy)
	case hip.GraphNodeTypeMemset:
		if op.Set.Width == 0 || op.Set.Height == 0 {
			return C.ROCM_NODE_EMPTY
		}
		return foreign
	case hip.GraphNodeTypeHost:
		return foreign
	case hip.GraphNodeTypeMemFree:
		if op.Ptr != 0 {
			return foreign
		}
		return C.ROCM_NODE_EMPTY // only an order to keep, as with memory that a node allocates
	}
	if op.Disabled {
		return C.ROCM_NODE_EMPTY // the library does not switch these off
	}
	switch op.Type {
	case hip.GraphNodeTypeEventRecord:
		return C.ROCM_NODE_RECORD
	case hip.GraphNodeTypeWaitEvent:
		return C.ROCM_NODE_WAIT
	case hip.GraphNodeTypeBatchMemOp:
		return foreign
	}
	return C.ROCM_NODE_EMPTY
}

func copyForm(c *hip.GraphCopy) C.int32_t {
	switch {
	case c.General != nil:
		return C.ROCM_NODE_COPY_ARRAY
	case c.Width == 0 || c.Height == 0 || c.Depth == 0:
		return C.ROCM_NODE_EMPTY
	case c.Peer && c.DstDevice != c.SrcDevice:
		return foreign
	case c.Peer || c.Height == 1 && c.Depth == 1:
		return C.ROCM_NODE_COPY
	case c.Depth > 1 && (c.DstPitch == 0 || c.SrcPitch == 0 || c.DstSlice%c.DstPitch != 0 || c.SrcSlice%c.SrcPitch != 0):
		return foreign
	}
	return C.ROCM_NODE_COPY_BOX
}

// boxOf is a copy as HIP describes it: slices are so many rows apart.
func boxOf(c *hip.GraphCopy) hip.Memcpy3DParms {
	rows := func(slice, pitch uint64) uint64 {
		if c.Depth > 1 {
			return slice / pitch
		}
		return c.Height
	}
	p := hip.Memcpy3DParms{Kind: c.Kind, Extent: hip.Extent{Width: c.Width, Height: c.Height, Depth: c.Depth}}
	p.DstPtr = hip.PitchedPtr{Ptr: c.Dst, Pitch: c.DstPitch, Xsize: c.Width}
	p.SrcPtr = hip.PitchedPtr{Ptr: c.Src, Pitch: c.SrcPitch, Xsize: c.Width}
	if c.Peer {
		p.Kind = hip.MemcpyDeviceToDevice
		return p
	}
	p.DstPtr.Ysize, p.SrcPtr.Ysize = rows(c.DstSlice, c.DstPitch), rows(c.SrcSlice, c.SrcPitch)
	return p
}
