package rocm

/*
#include "library.h"
#include "zz_table.h"
*/
import "C"

import (
	"maps"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// The null stream that a program means is not the library's. That one maps and unmaps memory: hipMemMap and hipMemUnmap wait there, with the stream's locks
// held, for all that the device's blocking streams and it have to do. A hipMalloc of placed memory would wait so for every kernel, and for a host function
// that returns only after it. So the library's null stream has nothing else to do, because all others are told that they do not block, and this keeps
// HIP's order between a program's null stream and its blocking streams: each begins what it is told behind what the other has been told.

// nullStreams are those of all devices.
type nullStreams struct {
	mu       sync.RWMutex
	devices  map[int32]*nullStream
	blocking map[hip.Stream]*blockingStream // without those that a program has destroyed
}

// nullStream is a device's, with the streams that block it.
type nullStream struct {
	device hip.Thread

	mu       sync.Mutex
	stream   hip.Stream // the library's; 0 before it is first used
	event    hip.Event  // behind what the stream was told up to recorded
	told     uint64     // how often
	recorded uint64
	blocking []*blockingStream
}

// blockingStream is one that waits for its device's null stream, which waits for it. Its fields are the null stream's mu's.
type blockingStream struct {
	null  *nullStream
	s     hip.Stream
	event hip.Event // behind what the null stream waits for; 0 before it first did
	told  bool      // something that the null stream does not wait for yet
	seen  uint64    // what it waits for of the null stream
}

// place is where the library puts what a stream is told.
type place struct {
	at   hip.Stream
	null *nullStream     // of whose order it is; nil: of none
	of   *blockingStream // nil: it is the null stream
}

// on is a device's null stream.
func (x *nullStreams) on(device int32) *nullStream {
	x.mu.RLock()
	n := x.devices[device]
	x.mu.RUnlock()
	if n != nil {
		return n
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if n = x.devices[device]; n == nil {
		if x.devices == nil {
			x.devices = map[int32]*nullStream{}
		}
		n = &nullStream{device: hip.Thread{Device: device}}
		x.devices[device] = n
	}
	return n
}

// add notes a new stream that blocks.
func (x *nullStreams) add(device int32, s hip.Stream) {
	n := x.on(device)
	b := &blockingStream{null: n, s: s}
	n.mu.Lock()
	n.blocking = append(n.blocking, b)
	n.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.blocking == nil {
		x.blocking = map[hip.Stream]*blockingStream{}
	}
	x.blocking[s] = b
}

// remove is for a stream that has done everything and is about to be destroyed, whose handle may be another's afterwards.
func (x *nullStreams) remove(r *Runtime, s hip.Stream) {
	x.mu.Lock()
	b := x.blocking[s]
	delete(x.blocking, s)
	x.mu.Unlock()
	if b == nil {
		return
	}
	n := b.null
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocking = slices.DeleteFunc(n.blocking, func(y *blockingStream) bool { return y == b })
	if b.event != 0 {
		_ = r.EventDestroy(n.device, b.event) // nobody else knows it
		b.event = 0
	}
}

// reset forgets what ended with a device.
func (x *nullStreams) reset(device int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.devices[device]
	delete(x.devices, device)
	maps.DeleteFunc(x.blocking, func(_ hip.Stream, b *blockingStream) bool { return b.null == n })
}

// find is where the library has a stream.
func (x *nullStreams) find(t hip.Thread, s hip.Stream) place {
	if s <= hip.StreamLegacy {
		return place{null: x.on(t.Device)}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if b := x.blocking[s]; b != nil {
		return place{at: s, null: b.null, of: b}
	}
	return place{at: s}
}

// tell has call tell the library's stream for s something that costs n, in HIP's order.
func (r *Runtime) tell(t hip.Thread, s hip.Stream, n int64, call func(at hip.Stream) hip.Error) hip.Error {
	r.telling.RLock()
	defer r.telling.RUnlock()
	p, err := r.inOrder(t, s)
	if err != hip.Success {
		return err
	}
	err = call(p.at)
	p.told()
	return r.queued(t, s, n, err)
}

// inOrder has what s is told from now on begin behind what it must. With telling.
func (r *Runtime) inOrder(t hip.Thread, s hip.Stream) (p place, err hip.Error) {
	p = r.nulls.find(t, s)
	if p.null == nil {
		return p, hip.Success
	}
	waits := int64(0)
	p.null.mu.Lock()
	if p.of == nil {
		p.at, waits, err = r.behindBlocking(p.null)
	} else {
		waits, err = r.behindNull(p.of)
	}
	p.null.mu.Unlock()
	if waits > 0 {
		_ = r.queued(t, s, waits*queuedCost, hip.Success)
	}
	return p, err
}

// told notes that the stream of a place was told something.
func (p place) told() {
	if p.null == nil {
		return
	}
	p.null.mu.Lock()
	defer p.null.mu.Unlock()
	if p.of == nil {
		p.null.told++
	} else {
		p.of.told = true
	}
}

// toAsk is the library's stream that tells how far s is: the null stream has come no further than those that it waits for.
func (r *Runtime) toAsk(t hip.Thread, s hip.Stream) (hip.Stream, hip.Error) {
	if s > hip.StreamLegacy {
		return s, hip.Success
	}
	r.telling.RLock()
	defer r.telling.RUnlock()
	p, err := r.inOrder(t, s)
	return p.at, err
}

// at is where the library has a stream that was told something.
func (x *nullStreams) at(t hip.Thread, s hip.Stream) hip.Stream {
	p := x.find(t, s)
	if p.null == nil || p.of != nil {
		return s
	}
	p.null.mu.Lock()
	defer p.null.mu.Unlock()
	return p.null.stream
}

// behindBlocking has a null stream wait for the streams that block it. Its mu is held.
func (r *Runtime) behindBlocking(n *nullStream) (at hip.Stream, waits int64, err hip.Error) {
	if at, err = r.ofNull(n); err != hip.Success {
		return 0, 0, err
	}
	for _, b := range n.blocking {
		if !b.told {
			continue
		}
		if err = r.recordAt(n.device, &b.event, b.s); err == hip.Success {
			err = r.waitAt(n.device, at, b.event)
		}
		if err != hip.Success {
			return 0, waits, err
		}
		b.told = false
		waits += 2
	}
	return at, waits, hip.Success
}

// behindNull has a blocking stream wait for the null stream. That one's mu is held.
func (r *Runtime) behindNull(b *blockingStream) (waits int64, err hip.Error) {
	n := b.null
	if b.seen == n.told {
		return 0, hip.Success
	}
	if n.recorded != n.told {
		if err := r.recordAt(n.device, &n.event, n.stream); err != hip.Success {
			return 0, err
		}
		n.recorded = n.told
		waits++
	}
	if err := r.waitAt(n.device, b.s, n.event); err != hip.Success {
		return waits, err
	}
	b.seen = n.told
	return waits + 1, hip.Success
}

// ofNull is the library's stream for a null stream, whose mu is held.
func (r *Runtime) ofNull(n *nullStream) (s hip.Stream, err hip.Error) {
	if n.stream == 0 {
		n.stream, err = r.streamCreateWithPriority(n.device, hip.StreamNonBlocking, 0)
	}
	return n.stream, err
}

// recordAt records an event, which it makes if there is none yet, on a stream as the library has it.
func (r *Runtime) recordAt(t hip.Thread, event *hip.Event, s hip.Stream) (err hip.Error) {
	if *event == 0 {
		if *event, err = r.EventCreateWithFlags(t, hip.EventDisableTiming); err != hip.Success {
			return err
		}
	}
	return hip.Error(C.rocm_hipEventRecord(r.table, C.int32_t(t.Device), C.uint64_t(*event), C.uint64_t(s)))
}

// waitAt has a stream, as the library has it, wait for an event.
func (r *Runtime) waitAt(t hip.Thread, s hip.Stream, event hip.Event) hip.Error {
	return hip.Error(C.rocm_hipStreamWaitEvent(r.table, C.int32_t(t.Device), C.uint64_t(s), C.uint64_t(event), 0))
}
