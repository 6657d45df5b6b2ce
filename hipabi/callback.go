package hipabi

/*
#include <stdint.h>

typedef void (*host_fn)(void *);
typedef void (*stream_fn)(void *, int, void *);

static void call_host(void *fn, uintptr_t data) { ((host_fn)fn)((void *)data); }
static void call_stream(void *fn, uintptr_t stream, int status, uintptr_t data) { ((stream_fn)fn)((void *)stream, status, (void *)data); }
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
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
	return int32(runtime().LaunchHostFunc(t, s, func() { C.call_host(fn, C.uintptr_t(data)) }))
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
