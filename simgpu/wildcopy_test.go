package simgpu

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// Copies from and to host addresses of nothing are errors of the copy, wherever the addresses lie: in the first page, which Go takes for nil, in the middle, and
// where no address can be. The queue's goroutine executes those that are not waited for, and nobody would catch its panic.
func TestCopyOfWildHostAddress(t *testing.T) {
	r := newRuntime(t, Options{Logf: t.Logf})
	p := allocate(t, r, 4096)
	s, e := r.StreamCreateWithPriority(thread, 0, 0)
	must(t, "StreamCreateWithPriority", e)
	for _, wild := range []hip.Ptr{8, 4095, 0x10000, 0x7f5a_5a5a_5a50, 0xdead_0000_0000_0000, ^hip.Ptr(0) - 255} {
		is(t, "Memcpy from "+wild.String(), r.Memcpy(thread, p, wild, 64, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
		is(t, "Memcpy to "+wild.String(), r.Memcpy(thread, wild, p, 64, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
		e := r.MemcpyAsync(thread, p, wild, 64, hip.MemcpyHostToDevice, s)
		if f := r.StreamSynchronize(thread, s); e == hip.Success && f == hip.Success {
			t.Errorf("MemcpyAsync from %v succeeded", wild)
		}
		e = r.MemcpyAsync(thread, wild, p, 64, hip.MemcpyDeviceToHost, s)
		if f := r.StreamSynchronize(thread, s); e == hip.Success && f == hip.Success {
			t.Errorf("MemcpyAsync to %v succeeded", wild)
		}
	}
	must(t, "the device lives", r.Memset(thread, p, 1, 4096))
	must(t, "and so does the stream", r.StreamSynchronize(thread, s))
}
