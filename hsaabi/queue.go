//go:build linux

package hsaabi

/*
#include "queue.h"
*/
import "C"

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// queues are those that live.
type queues struct {
	queuesMu sync.Mutex
	live     map[uint64]*aql // by the address of the amd_queue_t
	made     uint64
}

// aql is a queue of packets and its processor.
type aql struct {
	l        *library
	card     *card
	q        *amdQueue
	ring     uint64 // address of the packets
	doorbell *C.struct_rw_signal
	flights

	callback, data unsafe.Pointer

	ctx      context.Context // ends with the queue
	cancel   context.CancelFunc
	done     chan struct{} // closed when the processor has ended
	calling  atomic.Bool   // the callback is running
	inactive atomic.Bool

	maskMu sync.Mutex
	mask   []uint32
}

const (
	packetSize = 64
	queueRoom  = 4096 // for the amd_queue_t, before the ring
)

// Apertures of LDS and scratch in the flat address space, high halves: simgpu's.
const (
	groupAperture   = 1 << 16
	privateAperture = 2 << 16
)

// hsaQueueCreate makes a queue. Cooperative ones are like others: all work of a queue is done in turn.
func hsaQueueCreate(h uint64, size, kind uint32, callback, data unsafe.Pointer, _, _ uint32, out *unsafe.Pointer) status {
	l := current.Load()
	c, st := l.card(h)
	if st != HSA_STATUS_SUCCESS {
		if h == agentBase {
			return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION
		}
		return st
	}
	switch {
	case size == 0 || size&(size-1) != 0 || kind > HSA_QUEUE_TYPE_COOPERATIVE:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case size > queueMax:
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION
	}
	size = max(size, queueMin)
	q, st := l.newQueue(c, size, kind)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	q.callback, q.data = callback, data
	l.queuesMu.Lock()
	defer l.queuesMu.Unlock()
	if len(l.queues.live) >= queuesMost*len(l.cards) {
		C.rw_hsa_signal_end(q.doorbell)
		C.rw_hsa_signal_leave(q.doorbell)
		q.free()
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	if l.queues.live == nil {
		l.queues.live = map[uint64]*aql{}
	}
	l.made++
	q.q.hsaQueue.id = l.made
	l.queues.live[q.address()] = q
	go q.run(0)
	*out = unsafe.Pointer(q.q)
	return HSA_STATUS_SUCCESS
}

func (l *library) newQueue(c *card, size, kind uint32) (*aql, status) {
	base, e := l.sim.HostMalloc(c.thread(), queueRoom+uint64(size)*packetSize, 0)
	if e != hip.Success {
		return nil, statusOf(e)
	}
	q := &aql{l: l, card: c, ring: uint64(base) + queueRoom, q: (*amdQueue)(pointer(uint64(base))), done: make(chan struct{})}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	if q.doorbell = l.newSignal(0, AMD_SIGNAL_KIND_DOORBELL); q.doorbell == nil {
		_ = l.sim.FreeNow(c.thread(), base)
		return nil, HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	C.rw_hsa_signal_enter(q.doorbell) // the processor leaves
	q.doorbell.s.queue_ptr = unsafe.Pointer(q.q)
	q.settled.L = &q.flightMu
	if e = q.moreRuns(); e != hip.Success {
		C.rw_hsa_signal_end(q.doorbell)
		C.rw_hsa_signal_leave(q.doorbell)
		_ = l.sim.FreeNow(c.thread(), base)
		return nil, statusOf(e)
	}
	for i := range uint64(size) {
		*(*uint16)(pointer(q.ring + i*packetSize)) = HSA_PACKET_TYPE_INVALID
	}
	*q.q = amdQueue{
		hsaQueue: queue{
			type_: kind, features: HSA_QUEUE_FEATURE_KERNEL_DISPATCH, baseAddress: uintptr(q.ring),
			doorbellSignal: address(unsafe.Pointer(q.doorbell)), size: size,
		},
		groupSegmentApertureBaseHi: groupAperture, privateSegmentApertureBaseHi: privateAperture,
		maxCUID: uint32(c.props.MultiProcessorCount) - 1, maxWaveID: wavesOfUnit - 1,
		readDispatchIDFieldBaseByteOffset: uint32(unsafe.Offsetof(amdQueue{}.readDispatchID)),
		queueProperties:                   AMD_QUEUE_PROPERTIES_IS_PTR64,
	}
	return q, HSA_STATUS_SUCCESS
}

func (q *aql) address() uint64 { return address(unsafe.Pointer(q.q)) }

// free gives back what the queue was made of. Nothing is executing.
func (q *aql) free() {
	for _, r := range q.runs {
		r.Close()
	}
	_ = q.l.sim.FreeNow(q.card.thread(), hip.Ptr(q.address()))
}

func (l *library) queue(p unsafe.Pointer) *aql {
	l.queuesMu.Lock()
	defer l.queuesMu.Unlock()
	return l.queues.live[address(p)]
}

// stop ends what the queue executes. It waits until it has, unless that is what calls.
func (q *aql) stop() {
	q.cancel()
	C.rw_hsa_signal_end(q.doorbell)
	if !q.calling.Load() {
		<-q.done
	}
}

// hsaQueueDestroy ends a queue, whatever is in it.
func hsaQueueDestroy(p *queue) status {
	l := current.Load()
	l.queuesMu.Lock()
	q := l.queues.live[address(unsafe.Pointer(p))]
	delete(l.queues.live, address(unsafe.Pointer(p)))
	l.queuesMu.Unlock()
	if q == nil {
		return HSA_STATUS_ERROR_INVALID_QUEUE
	}
	q.stop()
	return HSA_STATUS_SUCCESS
}

// hsaQueueInactivate has a queue execute nothing any more.
func hsaQueueInactivate(p *queue) status {
	q := current.Load().queue(unsafe.Pointer(p))
	if q == nil {
		return HSA_STATUS_ERROR_INVALID_QUEUE
	}
	q.inactive.Store(true)
	q.cancel()
	return HSA_STATUS_SUCCESS
}

// end ends all queues.
func (l *queues) end() {
	l.queuesMu.Lock()
	list := l.live
	l.live = nil
	l.queuesMu.Unlock()
	for _, q := range list {
		q.stop()
	}
}

// hsaAMDQueueSetPriority is a hint.
func hsaAMDQueueSetPriority(p *queue, priority uint32) status {
	switch {
	case current.Load().queue(unsafe.Pointer(p)) == nil:
		return HSA_STATUS_ERROR_INVALID_QUEUE
	case priority > HSA_AMD_QUEUE_PRIORITY_HIGH:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return HSA_STATUS_SUCCESS
}

// hsaAMDProfilingSetProfilerEnabled is that times are always taken.
func hsaAMDProfilingSetProfilerEnabled(p *queue, _ int32) status {
	if current.Load().queue(unsafe.Pointer(p)) == nil {
		return HSA_STATUS_ERROR_INVALID_QUEUE
	}
	return HSA_STATUS_SUCCESS
}

// hsaAMDQueueCUSetMask keeps which compute units a queue may use, in whole words of 32: each queue's work is given that many of the card's. A mask
// of none is taken, as AMD's library takes it, and is one of all.
func hsaAMDQueueCUSetMask(p *queue, bits uint32, mask *uint32) status {
	q := current.Load().queue(unsafe.Pointer(p))
	switch {
	case q == nil:
		return HSA_STATUS_ERROR_INVALID_QUEUE
	case bits%32 != 0 || bits > 1<<16:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	units, masked := uint32(q.card.props.MultiProcessorCount), false
	words := make([]uint32, (units+31)/32)
	for i := range words {
		word := ^uint32(0)
		if bits > 0 {
			word = 0
			if uint32(i) < bits/32 {
				word = unsafe.Slice(mask, bits/32)[i]
			}
		}
		if rest := units - uint32(i)*32; rest < 32 {
			word &= 1<<rest - 1
		}
		words[i] = word
		masked = masked || word != 0
	}
	if !masked {
		return hsaAMDQueueCUSetMask(p, 0, nil)
	}
	q.maskMu.Lock()
	defer q.maskMu.Unlock()
	q.mask = words
	return HSA_STATUS_SUCCESS
}

// hsaAMDQueueCUGetMask is which compute units a queue may use.
func hsaAMDQueueCUGetMask(p *queue, bits uint32, mask *uint32) status {
	q := current.Load().queue(unsafe.Pointer(p))
	switch {
	case q == nil:
		return HSA_STATUS_ERROR_INVALID_QUEUE
	case bits == 0 || bits%32 != 0 || bits > 1<<16:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if st := status(HSA_STATUS_SUCCESS); q.units() == nil {
		if st = hsaAMDQueueCUSetMask(p, 0, nil); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	out := unsafe.Slice(mask, bits/32)
	clear(out)
	copy(out, q.units())
	return HSA_STATUS_SUCCESS
}

// units are the compute units that the queue may use, a bit each; nil is all.
func (q *aql) units() []uint32 {
	q.maskMu.Lock()
	defer q.maskMu.Unlock()
	return q.mask
}
