package worker

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// TestReportedWhileWaiting: a failure that the client itself finds while a stream is on its way is an answer to who waits for that stream, and not only
// to whoever calls next.
func TestReportedWhileWaiting(t *testing.T) {
	rt, err := simgpu.New(simgpu.Options{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	c := pair(t, rt)
	var th hip.Thread
	for what, wait := range map[string]func(hip.Stream) hip.Error{
		"StreamSynchronize": func(s hip.Stream) hip.Error { return c.StreamSynchronize(th, s) },
		"DeviceSynchronize": func(hip.Stream) hip.Error { return c.DeviceSynchronize(th) },
	} {
		s, e := c.StreamCreateWithPriority(th, hip.StreamNonBlocking, 0)
		if e != hip.Success {
			t.Fatal(e)
		}
		waits := make(chan struct{})
		if e := c.LaunchHostFunc(th, s, func() {
			<-waits
			c.Report(0, hip.ErrorUnknown)
		}); e != hip.Success {
			t.Fatal(e)
		}
		before := c.frames()
		done := make(chan hip.Error, 1)
		go func() { done <- wait(s) }()
		for c.frames() < before+2 { // the host function and the question have arrived
			time.Sleep(time.Millisecond)
		}
		close(waits)
		if e := <-done; e != hip.ErrorUnknown {
			t.Errorf("%s: %v", what, e)
		}
		if e := c.StreamSynchronize(th, s); e != hip.Success {
			t.Errorf("%s: told again: %v", what, e)
		}
	}
}
