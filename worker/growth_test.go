package worker_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// TestParentDoesNotGrow: of a session that has ended the parent keeps nothing. Its heap is this test's, too.
func TestParentDoesNotGrow(t *testing.T) {
	w := serve(t, cards(1), worker.Config{})
	reports := rpcstats.NewRecorder(rpcstats.Client)
	session := func() {
		c, err := wire.Dial(context.Background(), wire.Options{Address: w.Addr().String(), Hello: wire.Hello{Purpose: "hip", Host: "client", Executable: "/bin/program"}})
		if err != nil {
			t.Fatal(err)
		}
		reports.Record(hip.OpDeviceSynchronize, 0, time.Millisecond)
		if err := c.Post(rpcstats.Op, reports.Take().AppendEncode(nil), nil); err != nil {
			t.Fatal(err)
		}
		slow := []rpcstats.Slow{{Op: hip.OpDeviceSynchronize, Request: 1, Total: time.Second, Queue: -1, Network: -1, Execution: -1}}
		if err := c.Post(rpcstats.OpSlow, rpcstats.AppendSlow(nil, slow), nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Call(hip.OpDeviceSynchronize, &wire.Msg{Req: make([]byte, 8)}); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sessions := func(n int) (heap, objects uint64, goroutines int) {
		for range n {
			session()
		}
		eventually(t, "sessions end", func() bool { return len(w.Sessions()) == 0 })
		var m runtime.MemStats
		for range 3 { // what pools keep goes with the second collection
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.HeapObjects, runtime.NumGoroutine()
	}
	const n = 200
	heap, objects, goroutines := sessions(200) // as many slow calls as are kept at all, and every series
	heap2, objects2, _ := sessions(n)
	t.Logf("heap %d and %d bytes, %d and %d objects", heap, heap2, objects, objects2)
	const pooled = 256 << 10 // of buffers that are shared, and of which there may be one more
	if heap2 > heap+pooled+n*512 {
		t.Errorf("%d sessions have left %d bytes", n, heap2-heap)
	}
	if objects2 > objects+n*4 {
		t.Errorf("%d sessions have left %d objects", n, objects2-objects)
	}
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
}
