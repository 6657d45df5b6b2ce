package hipabi

/*
#include <stdint.h>
void rw_thread_owns_streams(void);
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// threadStreams are the streams that hipStreamPerThread stands for: one for
// each thread and device that has used it.
var threadStreams streamTable

type streamTable struct {
	mu sync.RWMutex
	m  map[hip.Thread]hip.Stream
}

func (t *streamTable) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m = nil
}

func (t *streamTable) get(th hip.Thread) (hip.Stream, hip.Error) {
	t.mu.RLock()
	s, ok := t.m[th]
	t.mu.RUnlock()
	if ok {
		return s, hip.Success
	}
	// No other thread asks for this one's stream: no lock while it is made.
	s, err := runtime().StreamCreateWithPriority(th, 0, 0)
	if err != hip.Success {
		return 0, err
	}
	t.mu.Lock()
	if t.m == nil {
		t.m = map[hip.Thread]hip.Stream{}
	}
	t.m[th] = s
	t.mu.Unlock()
	C.rw_thread_owns_streams() // of this thread: an export runs on its caller's
	return s, hip.Success
}

// end destroys the streams of a thread that ends.
func (t *streamTable) end(id uint32) {
	t.mu.Lock()
	gone := map[hip.Thread]hip.Stream{}
	for th, s := range t.m {
		if th.ID == id {
			gone[th] = s
			delete(t.m, th)
		}
	}
	t.mu.Unlock()
	for th, s := range gone {
		runtime().StreamDestroy(th, s)
	}
}

//export rw_threadEnd
func rw_threadEnd(thread uint64) {
	threadStreams.end(threadOf(thread).ID)
	captures().ThreadEnd(threadOf(thread).ID)
}

// resolveStream gives a stream with a special value its real one.
func resolveStream(t hip.Thread, s hip.Stream) (hip.Stream, hip.Error) {
	switch s {
	case hip.StreamPerThread:
		return threadStreams.get(t)
	case hip.StreamLegacy:
		return hip.StreamNull, hip.Success
	}
	return s, hip.Success
}

//export rw_hipStreamCreate
func rw_hipStreamCreate(thread uint64, stream unsafe.Pointer) int32 {
	return rw_hipStreamCreateWithPriority(thread, stream, 0, 0)
}

//export rw_hipStreamCreateWithFlags
func rw_hipStreamCreateWithFlags(thread uint64, stream unsafe.Pointer, flags uint32) int32 {
	return rw_hipStreamCreateWithPriority(thread, stream, flags, 0)
}

//export rw_streamDevice
func rw_streamDevice(thread uint64, stream uint64) int32 {
	t := threadOf(thread)
	if hip.Stream(stream) <= hip.StreamPerThread {
		return t.Device
	}
	d, err := runtime().StreamGetDevice(t, hip.Stream(stream))
	if err != hip.Success {
		return -1
	}
	return d
}

//export rw_hipEventCreate
func rw_hipEventCreate(thread uint64, event unsafe.Pointer) int32 {
	return rw_hipEventCreateWithFlags(thread, event, 0)
}
