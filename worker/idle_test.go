package worker_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
)

// TestIdle: what synchronizes, frees and copies from the device tells whether anything is under way, be it on another stream or on another device.
func TestIdle(t *testing.T) {
	h := hostileClient(t, serve(t, cards(2), config()))
	malloc := func() hip.Ptr {
		return hip.Ptr(h.handle("Malloc", hip.OpMalloc, hiprpc.Place{Size: 4096}.Append(nil), nil))
	}
	stream := func() hip.Stream {
		return hip.Stream(h.handle("stream", hip.OpStreamCreateWithPriority, (&hiprpc.StreamCreateWithPriorityRequest{Flags: hip.StreamNonBlocking}).Append(nil), nil))
	}
	p, held, free := malloc(), stream(), stream()
	event := hip.Event(h.handle("event", hip.OpEventCreateWithFlags, (&hiprpc.EventCreateWithFlagsRequest{}).Append(nil), nil))
	post := func(op uint16, req []byte) {
		t.Helper()
		if err := h.c.Post(op, req, nil); err != nil {
			t.Fatal(err)
		}
	}
	must := func(what string, op uint16, req []byte) []byte {
		t.Helper()
		code, m := h.call(what, op, req, nil)
		if code != hip.Success {
			t.Fatalf("%s: %v", what, code)
		}
		return m.Rep
	}
	waitFor := func(st hip.Stream) []byte {
		return must("StreamSynchronize", hip.OpStreamSynchronize, (&hiprpc.StreamSynchronizeRequest{Stream: st}).Append(nil))
	}
	post(hip.OpEventRecord, (&hiprpc.EventRecordRequest{Event: event, Stream: free}).Append(nil))
	other := hip.Thread{Device: 1}
	for _, busy := range []bool{true, false, true, false} {
		if busy {
			post(hip.OpMemsetAsync, (&hiprpc.MemsetAsyncRequest{Dst: p, SizeBytes: 64, Stream: free}).Append(nil))
			waitFor(free)
			post(hip.OpStreamWaitValue32, (&hiprpc.StreamWaitValue32Request{Stream: held, Ptr: p, Value: 1, Mask: 1<<32 - 1}).Append(nil))
		}
		from := hiprpc.Copy{Dir: hiprpc.FromDevice, Src: p, Width: 4, Height: 1, DstDevice: -1, SrcDevice: -1}
		later := from
		later.Async = true
		for what, rep := range map[string][]byte{
			"DeviceSynchronize": must("DeviceSynchronize", hip.OpDeviceSynchronize, (&hiprpc.DeviceSynchronizeRequest{Thread: other}).Append(nil)),
			"StreamSynchronize": waitFor(free),
			"StreamQuery":       must("StreamQuery", hip.OpStreamQuery, (&hiprpc.StreamQueryRequest{Stream: free}).Append(nil)),
			"EventSynchronize":  must("EventSynchronize", hip.OpEventSynchronize, (&hiprpc.EventSynchronizeRequest{Event: event}).Append(nil)),
			"EventQuery":        must("EventQuery", hip.OpEventQuery, (&hiprpc.EventQueryRequest{Event: event}).Append(nil)),
			"Memcpy":            must("Memcpy", hip.OpMemcpy, from.Append(nil)),
		} {
			if hiprpc.Idle(rep) == busy {
				t.Errorf("%s: busy %v, the results are %x", what, busy, rep)
			}
		}
		if rep := must("MemcpyAsync", hip.OpMemcpyAsync, later.Append(nil)); len(rep) > 0 {
			t.Errorf("a copy that nobody waits for says %x", rep)
		}
		if !busy {
			if rep := must("Free", hip.OpFree, hiprpc.StreamOp{Ptr: malloc()}.Append(nil)); !hiprpc.Idle(rep) {
				t.Errorf("Free says %x", rep)
			}
			continue
		}
		post(hip.OpStreamWriteValue32, (&hiprpc.StreamWriteValue32Request{Stream: free, Ptr: p, Value: 1}).Append(nil))
		waitFor(held)
	}
}

// TestIdleCopies: a copy waits for what another stream has before it, though the program has just waited for a stream that has nothing to do, and asks the worker
// for nothing where it has heard that nothing is under way.
func TestIdleCopies(t *testing.T) {
	const n, rounds, copies = 64 << 10, 5, 10
	for _, devices := range []int{1, 2} {
		w := serve(t, cards(devices), config())
		c := connectWith(t, w, hipremote.Config{Near: true})
		p, e := c.Malloc(main0, n)
		must(t, "Malloc", e)
		first, e := c.StreamCreateWithPriority(main0, 0, 0)
		must(t, "stream", e)
		other, e := c.StreamCreateWithPriority(main0, hip.StreamNonBlocking, 0)
		must(t, "stream", e)
		got := make([]byte, n)
		for round := range byte(rounds) {
			upDown(t, c, p, filled(n, round))
			gate := make(chan struct{})
			must(t, "LaunchHostFunc", c.LaunchHostFunc(main0, first, func() { <-gate }))
			must(t, "MemsetAsync", c.MemsetAsync(main0, p, int32(round), n, first))
			must(t, "wait for another", c.StreamSynchronize(main0, other))
			time.AfterFunc(10*time.Millisecond, func() { close(gate) })
			must(t, "Memcpy", c.Memcpy(main0, at(got), p, n, hip.MemcpyDeviceToHost))
			if !bytes.Equal(got, bytes.Repeat([]byte{round}, n)) {
				t.Fatalf("%d devices, round %d: what a stream has before a copy is not seen by it", devices, round)
			}
			must(t, "wait for another", c.StreamSynchronize(main0, other)) // nothing is under way now
			for range copies {
				upDown(t, c, p, filled(n, round))
			}
		}
		_ = c.Close()
		count := func(op string) uint64 {
			x := sidesOf(w, op)["worker"]
			return x.Count()
		}
		eventually(t, "the worker knows of all calls", func() bool { return count("hipMemcpy") >= 2*rounds*copies })
		waits := count("hipStreamSynchronize")
		if waits > 4*rounds { // the program's own, and for the copy that a stream is before
			t.Errorf("%d devices: the worker was asked %d times to wait", devices, waits)
		}
	}
}
