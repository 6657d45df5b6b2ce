package hipabi

/*
#include <stdint.h>

typedef void (*host_fn)(void *);
typedef void (*stream_fn)(void *, int, void *);

static void call_host(void *fn, void *data) { ((host_fn)fn)(data); }
static void call_stream(void *fn, uintptr_t stream, int status, void *data) { ((stream_fn)fn)((void *)stream, status, data); }
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipLaunchHostFunc
func rw_hipLaunchHostFunc(thread uint64, stream uint64, fn unsafe.Pointer, data unsafe.Pointer) int32 {
	if fn == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(runtime().LaunchHostFunc(t, s, func() { C.call_host(fn, data) }))
}

//export rw_hipStreamAddCallback
func rw_hipStreamAddCallback(thread uint64, stream uint64, fn unsafe.Pointer, data unsafe.Pointer, flags uint32) int32 {
	if fn == nil || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(runtime().LaunchHostFunc(t, s, func() {
		C.call_stream(fn, C.uintptr_t(stream), C.int(hip.Success), data)
	}))
}
