package hipabi

/*
#include <stdint.h>
#include <stdlib.h>
void rw_thread_owns_streams(void);
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// tails is an array of node handles in C's memory: what hipStreamGetCaptureInfo_v2
// gives out stays readable until it is asked again or the capture ends.
type tails struct{ p unsafe.Pointer }

func (x *tails) show(ns []*node) unsafe.Pointer {
	x.free()
	if len(ns) == 0 {
		return nil
	}
	x.p = C.malloc(C.size_t(8 * len(ns)))
	hs := unsafe.Slice((*uint64)(x.p), len(ns))
	for i, n := range ns {
		hs[i] = n.handle
	}
	return x.p
}

func (x *tails) free() {
	C.free(x.p)
	x.p = nil
}

//export rw_hipStreamBeginCapture
func rw_hipStreamBeginCapture(thread uint64, stream uint64, mode int32) int32 {
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(captures.begin(t, s, hip.StreamCaptureMode(mode)))
}

//export rw_hipStreamEndCapture
func rw_hipStreamEndCapture(thread uint64, stream uint64, out unsafe.Pointer) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	*(*uint64)(out) = 0
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	g, err := captures.end(t, s)
	if err == hip.Success {
		*(*uint64)(out) = g.handle
	}
	return int32(err)
}

//export rw_hipStreamIsCapturing
func rw_hipStreamIsCapturing(thread uint64, stream uint64, status unsafe.Pointer) int32 {
	return rw_hipStreamGetCaptureInfo(thread, stream, status, nil)
}

//export rw_hipStreamGetCaptureInfo
func rw_hipStreamGetCaptureInfo(thread uint64, stream uint64, status, id unsafe.Pointer) int32 {
	return rw_hipStreamGetCaptureInfo_v2(thread, stream, status, id, nil, nil, nil)
}

//export rw_hipStreamGetCaptureInfo_v2
func rw_hipStreamGetCaptureInfo_v2(thread uint64, stream uint64, status, id, graph, tail, length unsafe.Pointer) int32 {
	if status == nil {
		return int32(hip.ErrorInvalidValue)
	}
	s, err := resolveStream(threadOf(thread), hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	a, err := captures.ask(s, tail != nil)
	if err != hip.Success {
		return int32(err)
	}
	*(*hip.StreamCaptureStatus)(status) = a.status
	if a.status != hip.StreamCaptureStatusActive {
		return int32(hip.Success)
	}
	if id != nil {
		*(*uint64)(id) = a.id
	}
	if graph != nil {
		*(*uint64)(graph) = a.graph
	}
	if tail != nil {
		*(*uintptr)(tail) = uintptr(a.tail)
	}
	if length != nil {
		*(*uint64)(length) = a.length
	}
	return int32(hip.Success)
}

//export rw_hipThreadExchangeStreamCaptureMode
func rw_hipThreadExchangeStreamCaptureMode(thread uint64, mode unsafe.Pointer) int32 {
	if mode == nil {
		return int32(hip.ErrorInvalidValue)
	}
	m := (*hip.StreamCaptureMode)(mode)
	if *m < hip.StreamCaptureModeGlobal || *m > hip.StreamCaptureModeRelaxed {
		return int32(hip.ErrorInvalidValue)
	}
	*m = captures.exchange(threadOf(thread), *m)
	C.rw_thread_owns_streams() // its end is worth a call
	return int32(hip.Success)
}
