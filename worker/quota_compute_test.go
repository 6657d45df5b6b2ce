package worker_test

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// TestQuotaComputeOnBackends: whichever way a session launches kernels, on every backend they run its share of the card's time and no more: with events of its
// own at the launch, without, by a graph, and on several devices at once.
func TestQuotaComputeOnBackends(t *testing.T) {
	onBackends(t, worker.Config{Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.25))}}, quotaCompute)
}

func quotaCompute(t *testing.T, w *worker.Server, _ bool) {
	const each = 16
	c := connect(t, w)
	f := kernel(t, c, "spin", "spin")
	p, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	stream, e := c.StreamCreateWithPriority(main0, 0, 0)
	must(t, "StreamCreate", e)
	spin := hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: stream, Args: args(p, uint64(2_000_000), uint32(64))}
	var begins, ends [each]hip.Event
	var graphs [each]hip.GraphExec
	for i := range each {
		for _, at := range []*hip.Event{&begins[i], &ends[i]} {
			*at, e = c.EventCreateWithFlags(main0, 0)
			must(t, "EventCreate", e)
		}
		l := spin
		graphs[i], e = c.GraphInstantiate(main0, &hip.GraphDesc{Ops: []hip.GraphOp{
			{Type: hip.GraphNodeTypeEventRecord, Event: begins[i]},
			{Type: hip.GraphNodeTypeKernel, Kernel: &l, After: []uint32{0}},
			{Type: hip.GraphNodeTypeEventRecord, Event: ends[i], After: []uint32{1}},
		}})
		must(t, "GraphInstantiate", e)
	}
	timed := func(i int) hip.Error {
		l := spin
		l.Start, l.Stop = begins[i], ends[i]
		return c.LaunchKernel(main0, &l)
	}
	var shortest time.Duration
	for _, way := range []struct {
		name   string
		launch func(i int) hip.Error
		timed  bool
	}{
		{"the code is translated", timed, true},
		{"with events", timed, true},
		{"by a graph", func(i int) hip.Error { return c.GraphLaunch(main0, graphs[i], stream) }, true},
		// What cannot be told the time of took as long as the shortest that was, at least.
		{"without events", func(int) hip.Error { l := spin; return c.LaunchKernel(main0, &l) }, false},
		{"on several", func(int) hip.Error { return c.LaunchKernelMultiDevice(main0, []hip.Launch{spin}, 0) }, false},
	} {
		from, used := time.Now(), time.Duration(0)
		for i := range each {
			must(t, "launch "+way.name, way.launch(i))
		}
		must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
		for i := range each {
			took := shortest
			if way.timed {
				ms, e := c.EventElapsedTime(main0, begins[i], ends[i])
				must(t, "EventElapsedTime "+way.name, e)
				took = time.Duration(float64(ms) * float64(time.Millisecond))
				if shortest == 0 || took < shortest {
					shortest = took
				}
			}
			used += took
		}
		must(t, "launch", c.LaunchKernel(main0, &spin)) // it waits for what those ran over
		must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
		if shortest <= 0 {
			t.Fatalf("%s: a kernel took %v", way.name, shortest)
		}
		// The first kernels of each way are under way before any has been accounted for.
		if share := float64(used) / float64(time.Since(from)); share > 0.6 {
			t.Errorf("%s: kernels ran %.2f of the time, the shortest %v", way.name, share, shortest)
		} else {
			t.Logf("%s: %.2f, the shortest %v", way.name, share, shortest)
		}
	}
}
