//go:build linux

package hsaabi

/*
#include "queue.h"
*/
import "C"

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// gone is closed when the queue has been destroyed: one that is only inactive keeps its memory.
func (q *aql) gone() <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		for q.doorbell.s.kind != AMD_SIGNAL_KIND_INVALID {
			C.rw_hsa_wait(q.doorbell, HSA_SIGNAL_CONDITION_EQ, -1, C.uint64_t(time.Second), false)
		}
	}()
	return c
}

// process does what a packet says that is no kernel's.
func (q *aql) process(p unsafe.Pointer) status {
	header, begin := *(*uint16)(p), C.rw_hsa_now()
	switch header & 0xff {
	case HSA_PACKET_TYPE_BARRIER_AND:
		b := *(*barrierAndPacket)(p)
		for _, h := range b.depSignal {
			if !q.await(h, zero) {
				return HSA_STATUS_ERROR
			}
		}
		complete(b.completionSignal, begin)
		return HSA_STATUS_SUCCESS
	case HSA_PACKET_TYPE_BARRIER_OR:
		b := *(*barrierOrPacket)(p)
		if !q.awaitAny(b.depSignal[:]) {
			return HSA_STATUS_ERROR
		}
		complete(b.completionSignal, begin)
		return HSA_STATUS_SUCCESS
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		b := *(*amdBarrierValuePacket)(p)
		if b.header.amdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE {
			return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT
		}
		if !q.await(b.signal, func(v int64) bool { return holds(v&b.mask, b.cond, b.value) }) {
			return HSA_STATUS_ERROR
		}
		complete(b.completionSignal, begin)
		return HSA_STATUS_SUCCESS
	}
	return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT
}

func zero(v int64) bool { return v == 0 }

func holds(v int64, condition uint32, with int64) bool {
	return bool(C.rw_hsa_holds(C.int64_t(v), C.uint32_t(condition), C.int64_t(with)))
}

// patience is how long a processor waits for a signal before it looks whether its queue has ended.
const patience = 20 * time.Millisecond

// await waits until a signal's value suits, and is false if the queue ends before. No signal, or one that has ended, suits.
func (q *aql) await(h uint64, suits func(int64) bool) bool {
	for q.ctx.Err() == nil {
		s := signal(h)
		if h == 0 || s == nil {
			return true
		}
		v := int64(C.rw_hsa_wait(s, HSA_SIGNAL_CONDITION_NE, s.s.value, 0, false))
		if suits(v) {
			return true
		}
		C.rw_hsa_wait(s, HSA_SIGNAL_CONDITION_NE, C.int64_t(v), C.uint64_t(patience), false)
	}
	return false
}

// awaitAny waits until one of the signals is zero.
func (q *aql) awaitAny(handles []uint64) bool {
	var list []C.hsa_signal_t
	for _, h := range handles {
		if h != 0 {
			list = append(list, C.hsa_signal_t{handle: C.uint64_t(h)})
		}
	}
	if len(list) == 0 {
		return true
	}
	conditions, values := make([]C.hsa_signal_condition_t, len(list)), make([]C.hsa_signal_value_t, len(list))
	for q.ctx.Err() == nil {
		if C.hsa_amd_signal_wait_any(C.uint32_t(len(list)), &list[0], &conditions[0], &values[0], C.uint64_t(patience), C.HSA_WAIT_STATE_BLOCKED, nil) != ^C.uint32_t(0) {
			return true
		}
	}
	return false
}

// complete is what happens to a packet's signal when it is done. The time is taken of every packet: the HIP runtime's events are barriers.
func complete(h uint64, begin C.uint64_t) {
	if s := signal(h); s != nil {
		s.s.start_ts, s.s.end_ts = begin, C.rw_hsa_now()
		C.rw_hsa_subtract(s, 1)
	}
}

// dispatch executes a kernel.
func (q *aql) dispatch(runs *simgpu.PacketQueue, p *kernelDispatchPacket, at uint64) status {
	k := *p
	x := simgpu.Packet{
		Kernel: k.kernelObject, Kernarg: uint64(k.kernargAddress), LDS: k.groupSegmentSize, Scratch: k.privateSegmentSize,
		Grid:    [3]uint32{k.gridSizeX, k.gridSizeY, k.gridSizeZ},
		Group:   [3]uint32{uint32(k.workgroupSizeX), uint32(k.workgroupSizeY), uint32(k.workgroupSizeZ)},
		Address: address(unsafe.Pointer(p)), Queue: q.address(), ID: at, Units: q.units(), Cooperative: q.q.hsaQueue.type_ == HSA_QUEUE_TYPE_COOPERATIVE,
		Interrupts: func(msg uint16, _ uint32) {
			if msg == interruptMessage {
				C.rw_hsa_interrupt()
			}
		},
	}
	begin := C.rw_hsa_now()
	var err error
	if k.gridSizeX != 0 && k.gridSizeY != 0 && k.gridSizeZ != 0 { // an empty grid is nothing to do
		err = runs.Execute(q.ctx, &x)
	}
	if err == nil {
		complete(k.completionSignal, begin)
	}
	q.l.tell(q.card, err)
	return faultStatus(err)
}

const interruptMessage = 1 // s_sendmsg(MSG_INTERRUPT)

// faultStatus is what a queue reports of a kernel.
func faultStatus(err error) status {
	if err == nil {
		return HSA_STATUS_SUCCESS
	}
	if errors.Is(err, context.Canceled) {
		return HSA_STATUS_ERROR
	}
	say("HSA: %v", err)
	switch {
	case errors.Is(err, exec.ErrMemory):
		return HSA_STATUS_ERROR_MEMORY_FAULT
	case errors.Is(err, exec.ErrInstruction):
		return HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION
	case errors.Is(err, exec.ErrTrap):
		return HSA_STATUS_ERROR_EXCEPTION
	case errors.Is(err, exec.ErrConfiguration):
		return HSA_STATUS_ERROR_INVALID_ISA
	}
	return HSA_STATUS_ERROR
}
