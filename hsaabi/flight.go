//go:build linux

package hsaabi

/*
#include "queue.h"
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// flights are the packets of a queue that are being done. A kernel is executed by who processes packets; if it takes its time, another goroutine takes that
// part over, so that what needs not wait for the kernel (barrier bit 0) runs beside it. Slots become free in the order of the packets: a kernel may look at its own.
type flights struct {
	flightMu sync.Mutex
	list     []*flight // by place
	settled  sync.Cond // list has become shorter
	failed   bool
	runs     []*simgpu.PacketQueue // that nobody uses
}

type flight struct {
	header *C.uint16_t
	done   bool
	part   atomic.Int32 // who goes on with the next packet: nobody yet, or one of these
}

const (
	goesOnItself int32 = iota + 1
	goesOnBeside
)

// Kernels that run beside each other at most, and how long one runs alone.
const (
	sideBySide = 16
	alone      = 200 * time.Microsecond
)

// run processes packets from a place on until the queue ends, or until another goroutine does.
func (q *aql) run(at uint64) {
	for ; ; at++ {
		p := pointer(q.ring + at%uint64(q.q.hsaQueue.size)*packetSize)
		if !C.rw_hsa_await_packet(q.doorbell, (*C.uint16_t)(p)) {
			break
		}
		header := *(*uint16)(p)
		f := q.begin(p, header>>HSA_PACKET_HEADER_BARRIER&1 != 0)
		if f == nil {
			<-q.gone()
			break
		}
		if header&0xff != HSA_PACKET_TYPE_KERNEL_DISPATCH {
			q.finish(f, q.process(p))
			continue
		}
		beside := time.AfterFunc(alone, func() {
			if f.part.CompareAndSwap(0, goesOnBeside) {
				q.run(at + 1)
			}
		})
		runs := q.takeRuns()
		st := q.dispatch(runs, (*kernelDispatchPacket)(p), at)
		q.giveRuns(runs)
		itself := f.part.CompareAndSwap(0, goesOnItself)
		beside.Stop()
		q.finish(f, st)
		if !itself {
			return
		}
	}
	q.settle(0)
	C.rw_hsa_signal_leave(q.doorbell)
	q.free()
	close(q.done)
}

// begin is a packet's turn: at once, or when all before it are done. nil: the queue executes nothing any more.
func (q *aql) begin(p unsafe.Pointer, barrier bool) *flight {
	most := sideBySide - 1
	if barrier {
		most = 0
	}
	q.settle(most)
	q.flightMu.Lock()
	defer q.flightMu.Unlock()
	if q.failed || q.ctx.Err() != nil {
		return nil
	}
	f := &flight{header: (*C.uint16_t)(p)}
	q.list = append(q.list, f)
	return f
}

// settle waits until at most so many packets are being done.
func (q *aql) settle(most int) {
	q.flightMu.Lock()
	defer q.flightMu.Unlock()
	for len(q.list) > most {
		q.settled.Wait()
	}
}

// finish is the end of a packet. What fails ends the queue, which the program is told once.
func (q *aql) finish(f *flight, st status) {
	q.flightMu.Lock()
	first := st != HSA_STATUS_SUCCESS && !q.failed && q.ctx.Err() == nil
	if first {
		q.failed = true
		q.inactive.Store(true)
	}
	q.flightMu.Unlock()
	if first && q.callback != nil {
		q.calling.Store(true)
		C.rw_hsa_queue_error(q.callback, C.hsa_status_t(st), unsafe.Pointer(q.q), q.data)
		q.calling.Store(false)
	}
	if first {
		q.cancel() // what runs beside it
	}
	q.flightMu.Lock()
	defer q.flightMu.Unlock()
	f.done = true
	for len(q.list) > 0 && q.list[0].done {
		if !q.failed && q.ctx.Err() == nil {
			C.rw_hsa_clear_packet(unsafe.Pointer(q.q), q.list[0].header)
		}
		q.list = q.list[1:]
	}
	q.settled.Broadcast()
}

// takeRuns is a stream of the simulated card's for one kernel at a time.
func (q *aql) takeRuns() *simgpu.PacketQueue {
	q.flightMu.Lock()
	defer q.flightMu.Unlock()
	for len(q.runs) == 0 && q.moreRuns() != hip.Success {
		q.settled.Wait()
	}
	n := len(q.runs) - 1
	r := q.runs[n]
	q.runs = q.runs[:n]
	return r
}

func (q *aql) giveRuns(r *simgpu.PacketQueue) {
	q.flightMu.Lock()
	defer q.flightMu.Unlock()
	q.runs = append(q.runs, r)
}

func (q *aql) moreRuns() hip.Error {
	r, e := q.l.sim.NewPacketQueue(q.card.index)
	if e == hip.Success {
		q.runs = append(q.runs, r)
	}
	return e
}
