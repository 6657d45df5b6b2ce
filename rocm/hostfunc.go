package rocm

/*
#include <stdint.h>
#include "library.h"
*/
import "C"

import (
	"maps"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// AMD's library calls functions of the host on the one thread that it also learns
// on what has ended: as long as one of them runs, no other is called, and calls
// that wait for that thread wait for the function (hipMemcpy, hipFree, sets of host
// memory), whatever their stream. A function of a remote client runs for a round
// trip at least, and may wait for other streams. So they are called as follows
// are, and their streams wait meanwhile for a value in memory, which
// hipStreamWaitValue64 has a kernel of one wave look at.

// gates are words of host memory, one for each stream: how many of its functions
// have returned. The memory is this process's own for good: a function may return
// after its device was reset.
type gates struct {
	mu   sync.Mutex
	all  map[streamOf]*gate
	room map[int32][]hip.Ptr // words that no stream has, by the devices that they are registered with
}

type gate struct {
	device   int32
	word     hip.Ptr
	launched uint64
}

const gatesRoom = 4096 // bytes that are registered at a time

// gate is the next place at the gate of a stream.
func (r *Runtime) gate(t hip.Thread, of streamOf) (word hip.Ptr, turn uint64, err hip.Error) {
	x := &r.gates
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.all[of]
	if g == nil {
		if x.all == nil {
			x.all, x.room = map[streamOf]*gate{}, map[int32][]hip.Ptr{}
		}
		room := x.room[t.Device]
		if len(room) == 0 {
			if room, err = r.gateRoom(t); err != hip.Success {
				return 0, 0, err
			}
		}
		last := len(room) - 1
		g = &gate{device: t.Device, word: room[last]}
		x.all[of], x.room[t.Device] = g, room[:last]
	}
	g.launched++
	return g.word, g.launched, hip.Success
}

// gateRoom are words that a device can look at.
func (r *Runtime) gateRoom(t hip.Thread) (words []hip.Ptr, err hip.Error) {
	mem, e := unix.Mmap(-1, 0, gatesRoom, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if e != nil {
		return nil, hip.ErrorOutOfMemory
	}
	p := hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
	if err := r.hostRegister(t, p, gatesRoom, 0); err != hip.Success {
		_ = unix.Munmap(mem)
		return nil, err
	}
	for at := hip.Ptr(0); at < gatesRoom; at += 8 {
		words = append(words, p+at)
	}
	return words, hip.Success
}

// reset forgets the words of a device, which no longer knows them.
func (x *gates) reset(device int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.room, device)
	maps.DeleteFunc(x.all, func(_ streamOf, g *gate) bool { return g.device == device })
}

// LaunchHostFunc is hipLaunchHostFunc.
func (r *Runtime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	return r.enqueue(t, s, func(of streamOf) (*follow, hip.Error) {
		word, turn, err := r.gate(t, of)
		if err != hip.Success {
			return nil, err
		}
		y := &follow{host: true, f: func(hip.Error) {
			f()
			C.rocm_store(C.uint64_t(word), C.uint64_t(turn))
		}}
		y.hold = func(t hip.Thread) hip.Error {
			return r.StreamWaitValue64(t, s, word, turn, hip.StreamWaitValueGte, ^uint64(0))
		}
		return y, hip.Success
	})
}
