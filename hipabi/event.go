package hipabi

import "C"

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

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

// rw_hipEventRecordWithFlags is hipEventRecord; of an external recording a capture makes a node, and what the event stands for is the graph's launch.
//
//export rw_hipEventRecordWithFlags
func rw_hipEventRecordWithFlags(thread uint64, event uint64, stream uint64, flags uint32) int32 {
	switch {
	case flags > hip.EventRecordExternal:
		return int32(hip.ErrorInvalidValue)
	case flags == hip.EventRecordExternal && event != 0 && captures().Active():
		s, err := resolveStream(threadOf(thread), hip.Stream(stream))
		if err != hip.Success {
			return int32(err)
		}
		if done, err := captures().Record(s, graph.EventRecord{Event: hip.Event(event)}); done {
			return int32(err)
		}
	}
	return rw_hipEventRecord(thread, event, stream)
}

//export rw_hipEventDestroy
func rw_hipEventDestroy(thread uint64, event uint64) int32 {
	t := threadOf(thread)
	captures().ForgetEvent(hip.Event(event))
	return int32(runtime().EventDestroy(t, hip.Event(event)))
}
