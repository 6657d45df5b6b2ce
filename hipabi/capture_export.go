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
	"github.com/rocwire/rocwire/hip/graph"
)

//export rw_hipStreamBeginCapture
func rw_hipStreamBeginCapture(thread uint64, stream uint64, mode int32) int32 {
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(captures().Begin(t, s, hip.StreamCaptureMode(mode)))
}

//export rw_hipStreamBeginCaptureToGraph
func rw_hipStreamBeginCaptureToGraph(thread uint64, stream, g uint64, deps, data unsafe.Pointer, n uint64, mode int32) int32 {
	if data != nil {
		return int32(hip.ErrorNotSupported)
	}
	after, ok := idsAt(deps, n)
	if !ok || deps != nil && n == 0 || g == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return int32(captures().BeginToGraph(t, s, g, after, hip.StreamCaptureMode(mode)))
}

//export rw_hipStreamEndCapture
func rw_hipStreamEndCapture(thread uint64, stream uint64, out unsafe.Pointer) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	*(*graph.ID)(out) = 0
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	g, err := captures().End(t, s)
	graphing.Load().shown.forget(tailOf(s))
	return give(out, g, err)
}

//export rw_hipStreamUpdateCaptureDependencies
func rw_hipStreamUpdateCaptureDependencies(thread uint64, stream uint64, deps unsafe.Pointer, n uint64, flags uint32) int32 {
	t := threadOf(thread)
	s, err := launchStream(t, stream)
	if err != hip.Success {
		return int32(err)
	}
	if a, err := captures().Ask(s); err != hip.Success || a.Status == hip.StreamCaptureStatusNone {
		return int32(hip.ErrorIllegalState)
	}
	after, ok := idsAt(deps, n)
	how := hip.StreamUpdateCaptureDependenciesFlags(flags)
	if !ok || how != hip.StreamAddCaptureDependencies && how != hip.StreamSetCaptureDependencies {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(captures().Update(s, after, how == hip.StreamSetCaptureDependencies))
}

//export rw_hipStreamIsCapturing
func rw_hipStreamIsCapturing(thread uint64, stream uint64, status unsafe.Pointer) int32 {
	return rw_hipStreamGetCaptureInfo(thread, stream, status, nil)
}

//export rw_hipStreamGetCaptureInfo
func rw_hipStreamGetCaptureInfo(thread uint64, stream uint64, status, id unsafe.Pointer) int32 {
	return rw_hipStreamGetCaptureInfo_v2(thread, stream, status, id, nil, nil, nil)
}

// tailOf is what the list of nodes is kept by that hipStreamGetCaptureInfo_v2
// gives out: it stays readable until it is asked for again or the capture ends.
// No node has the number of a stream.
func tailOf(s hip.Stream) graph.ID { return 1<<63 | uint64(s) }

//export rw_hipStreamGetCaptureInfo_v2
func rw_hipStreamGetCaptureInfo_v2(thread uint64, stream uint64, status, id, g, tail, length unsafe.Pointer) int32 {
	if status == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	a, err := captures().Ask(s)
	if err != hip.Success {
		return int32(err)
	}
	if a.Status == hip.StreamCaptureStatusNone && s > hip.StreamLegacy {
		if _, err := bare().StreamGetDevice(t, s); err == hip.ErrorContextIsDestroyed { // it is no stream at all
			return int32(err)
		}
	}
	*(*hip.StreamCaptureStatus)(status) = a.Status
	if a.Status != hip.StreamCaptureStatusActive {
		return int32(hip.Success)
	}
	if id != nil {
		*(*uint64)(id) = a.ID
	}
	if g != nil {
		*(*graph.ID)(g) = a.Graph
	}
	if tail != nil {
		at := unsafe.Pointer(nil)
		if len(a.Tail) > 0 {
			at = graphing.Load().shown.keep(tailOf(s), 8*len(a.Tail))
			copy(unsafe.Slice((*graph.ID)(at), len(a.Tail)), a.Tail)
		}
		*(*unsafe.Pointer)(tail) = at
	}
	if length != nil {
		*(*uint64)(length) = uint64(len(a.Tail))
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
	bare()
	*m = captures().Exchange(threadOf(thread), *m)
	C.rw_thread_owns_streams() // its end is worth a call
	return int32(hip.Success)
}
