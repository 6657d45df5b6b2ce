package session

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// What a program exports another one has, and only by the handle.
func TestShared(t *testing.T) {
	a, b := start(t, nil), start(t, nil)
	d := a.malloc(1 << 20)
	a.put(d+100, []byte("between programs"))
	var m hipv1.IPCGetMemHandleReply
	a.ask(hipv1.OpIPCGetMemHandle, &hipv1.IPCGetMemHandleRequest{DevicePtr: d}, nil, &m)
	var open hipv1.IPCOpenMemHandleReply
	b.ask(hipv1.OpIPCOpenMemHandle, &hipv1.IPCOpenMemHandleRequest{Handle: m.Handle, Flags: 1}, nil, &open)
	if got := b.get(open.DevicePtr+100, 16); string(got) != "between programs" {
		t.Errorf("%q", got)
	}
	b.put(open.DevicePtr, []byte("and back"))
	if got := a.get(d, 8); string(got) != "and back" {
		t.Errorf("%q", got)
	}
	b.fails(hip.ErrorInvalidValue, hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: open.DevicePtr + 1<<20 - 4, Size: 8, Kind: 2}, nil)
	b.ask(hipv1.OpIPCCloseMemHandle, &hipv1.IPCCloseMemHandleRequest{DevicePtr: open.DevicePtr}, nil, nil)
	b.fails(hip.ErrorInvalidValue, hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: open.DevicePtr, Size: 8, Kind: 2}, nil)
	b.fails(hip.ErrorInvalidValue, hipv1.OpIPCCloseMemHandle, &hipv1.IPCCloseMemHandleRequest{DevicePtr: open.DevicePtr}, nil)
	m.Handle[7] ^= 1
	if _, err := b.Call(hipv1.OpIPCOpenMemHandle, &hipv1.IPCOpenMemHandleRequest{Handle: m.Handle, Flags: 1}, nil, nil); err == nil {
		t.Error("a handle that nobody has made opens memory")
	}
	var e hipv1.EventCreateReply
	a.ask(hipv1.OpEventCreateWithFlags, &hipv1.EventCreateRequest{Flags: hip.EventInterprocess | hip.EventDisableTiming}, nil, &e)
	var h hipv1.IPCGetEventHandleReply
	a.ask(hipv1.OpIPCGetEventHandle, &hipv1.IPCGetEventHandleRequest{Event: e.Event}, nil, &h)
	var theirs hipv1.IPCOpenEventHandleReply
	b.ask(hipv1.OpIPCOpenEventHandle, &hipv1.IPCOpenEventHandleRequest{Handle: h.Handle}, nil, &theirs)
	a.ask(hipv1.OpEventRecord, &hipv1.EventRecordRequest{Event: e.Event}, nil, nil)
	b.ask(hipv1.OpEventSynchronize, &hipv1.EventRequest{Event: theirs.Event}, nil, nil)
	b.ask(hipv1.OpFree, &hipv1.FreeRequest{}, nil, nil)
	a.ask(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: d}, nil, nil)
}

// Advice and ranges are about memory that the client has.
func TestAdvice(t *testing.T) {
	p := start(t, nil)
	d := p.malloc(1 << 20)
	for _, x := range []struct {
		op  hipv1.Op
		req any
	}{
		{hipv1.OpMemAdvise, &hipv1.MemAdviseRequest{DevPtr: d + 1<<20, Count: 4096, Advice: 1}},
		{hipv1.OpMemPrefetchAsync, &hipv1.MemPrefetchAsyncRequest{DevPtr: 0x1000, Count: 4096}},
		{hipv1.OpMemRangeGetAttribute, &hipv1.MemRangeGetAttributeRequest{DataSize: 1 << 40, DevPtr: d, Count: 4096}},
		{hipv1.OpMemRangeGetAttribute, &hipv1.MemRangeGetAttributeRequest{DataSize: 4, DevPtr: 0x1000, Count: 4096}},
		{hipv1.OpMemRangeGetAttributes, &hipv1.MemRangeGetAttributesRequest{NumAttributes: 9, DevPtr: d, Count: 4096}},
	} {
		p.fails(hip.ErrorInvalidValue, x.op, x.req, nil)
	}
}
