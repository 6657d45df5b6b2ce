package hipabi

/*
#include <stdint.h>

typedef void (*stream_fn)(void *, int, void *);

static void call_stream(void *fn, uintptr_t stream, int status, uintptr_t data) { ((stream_fn)fn)((void *)stream, status, (void *)data); }
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

//export rw_hipLaunchHostFunc
func rw_hipLaunchHostFunc(thread uint64, stream uint64, fn unsafe.Pointer, data uintptr) int32 {
	if fn == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	p := hip.HostNodeParams{Fn: hip.Ptr(uintptr(fn)), UserData: hip.Ptr(data)}
	call := hostCall(p.Fn, p.UserData)
	if watching.Load() != nil {
		if done, err := captures().Record(s, graph.Host{P: p, Call: call}); done {
			return int32(err)
		}
	}
	return int32(bare().LaunchHostFunc(t, s, call))
}

//export rw_hipStreamAddCallback
func rw_hipStreamAddCallback(thread uint64, stream uint64, fn unsafe.Pointer, data uintptr, flags uint32) int32 {
	if fn == nil || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(runtime().LaunchHostFunc(t, s, func() {
		C.call_stream(fn, C.uintptr_t(stream), C.int(hip.Success), C.uintptr_t(data))
	}))
}
