package worker_test

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
)

// A slow call that is traced says which trace it is part of, and one that is not, nothing.
func TestSlowCallTrace(t *testing.T) {
	t.Setenv("TRACEPARENT", traceParent)
	for every, want := range map[uint32]string{1: traceParent[3:35], 0: ""} {
		var got spans
		w := serve(t, cards(1), worker.Config{Spans: got.take})
		c := connectWith(t, w, hipremote.Config{TraceEvery: every})
		p, e := c.Malloc(main0, 1<<20)
		must(t, "Malloc", e)
		host := make([]byte, 1<<20)
		must(t, "Memcpy", c.Memcpy(main0, at(host), p, uint64(len(host)), hip.MemcpyDeviceToHost))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
		slow := w.Calls().SlowCalls()
		if len(slow) == 0 {
			t.Fatal("no slow calls")
		}
		for _, s := range slow {
			if s.TraceID != want {
				t.Errorf("one of %d traced: %s is part of trace %q, want %q", every, s.Op, s.TraceID, want)
			}
		}
	}
}
