package hipabi

import "C"

import "github.com/rocwire/rocwire/hip"

// A capture that begins later must know of which stream an event is.
//
//export rw_hipEventRecord
func rw_hipEventRecord(thread uint64, event uint64, stream uint64) int32 {
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err == hip.Success {
		err = runtime().EventRecord(t, hip.Event(event), s)
	}
	if err == hip.Success {
		captures().Recorded(hip.Event(event), s)
	}
	return int32(err)
}

//export rw_hipEventDestroy
func rw_hipEventDestroy(thread uint64, event uint64) int32 {
	t := threadOf(thread)
	captures().ForgetEvent(hip.Event(event))
	return int32(runtime().EventDestroy(t, hip.Event(event)))
}
