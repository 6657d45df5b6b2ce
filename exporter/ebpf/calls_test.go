//go:build linux && amd64

package ebpf

import (
	"maps"
	"testing"
	"time"
)

// Calls that are left, nested, or end in another function.
func TestLeftCalls(t *testing.T) {
	_, program := stub(t)
	tr := open(t)
	r := start(t, program, "leave", "quitters", "sync")
	watched(t, tr, 1)
	r.step("done")
	equal(t, "calls", counts(of(t, tr, r.pid())), map[string]uint64{
		"hipEventSynchronize hipSuccess": 1, "hipCtxSynchronize hipSuccess": 1, "hipDeviceSynchronize hipSuccess": 1,
	})
	// One that is made again from the same place is not told from one that is seen twice.
	if d := dropped(tr); len(d) != 1 || d["abandoned"] == 0 {
		t.Errorf("dropped: %v", d)
	}
	r.step("done")
	r.step("done")
	equal(t, "calls", counts(of(t, tr, r.pid())), map[string]uint64{
		"hipEventSynchronize hipSuccess": 1, "hipCtxSynchronize hipSuccess": 1, "hipDeviceSynchronize hipSuccess": 2,
	})
	// Of 50 threads that ended within a call, and of those that ended otherwise, nothing is left.
	until(t, tr, "threads that ended are forgotten", func() bool { return threadsOf(t, tr, r.pid()) == 1 })
}

// threadsOf is how many threads of a process are in the table.
func threadsOf(t *testing.T, tr *Tracer, pid uint32) (n int) {
	t.Helper()
	if err := each(tr.kernel.objs.Threads, new(entries[uint64, probeCall]), func(tid uint64, _ *probeCall) {
		if uint32(tid>>32) == pid {
			n++
		}
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// left is what is in the tables, without zeros.
func left(t *testing.T, tr *Tracer) map[string]int {
	t.Helper()
	f, err := tr.kernel.read()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]int{"totals": len(f.totals), "processes": len(f.processes), "series": len(f.series), "failures": len(f.failures)}
	err = each(tr.kernel.objs.Allocations, new(entries[probeAllocationKey, probeAllocation]), func(probeAllocationKey, *probeAllocation) { m["allocations"]++ })
	if err == nil {
		err = each(tr.kernel.objs.Threads, new(entries[uint64, probeCall]), func(uint64, *probeCall) { m["threads"]++ })
	}
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(m, func(_ string, n int) bool { return n == 0 })
	return m
}

func TestThreads(t *testing.T) {
	_, program := stub(t)
	tr := open(t)
	r := start(t, program, "threads")
	watched(t, tr, 1)
	r.step("done")
	p := of(t, tr, r.pid())
	const n = 4 * 16 * 50
	equal(t, "calls", counts(p), map[string]uint64{
		"hipMalloc hipSuccess": n, "hipMemcpy hipSuccess": n, "hipDeviceSynchronize hipSuccess": n, "hipFree hipSuccess": n,
	})
	if p.Copies[0].Bytes != n*100 || p.Device.Allocations != n {
		t.Errorf("%d bytes copied, %d allocations", p.Copies[0].Bytes, p.Device.Allocations)
	}
	for _, c := range p.Calls {
		if c.Latency.Count() != n || c.Latency.Nanos == 0 {
			t.Errorf("%s: %d durations, %d ns", c.Op, c.Latency.Count(), c.Latency.Nanos)
		}
	}
	until(t, tr, "threads that ended are forgotten", func() bool { return threadsOf(t, tr, r.pid()) <= 1 })
	equal(t, "dropped", dropped(tr), map[string]uint64{})
}

// A program's end, in the middle of a call, leaves nothing behind but its figures.
func TestKilled(t *testing.T) {
	_, program := stub(t)
	tr := open(t, func(o *Options) { o.Keep = time.Second })
	r := start(t, program, "allocate", "copy", "hang")
	watched(t, tr, 1)
	r.step("done")
	r.step("done")
	r.step("hanging")
	if n := threadsOf(t, tr, r.pid()); n != 1 {
		t.Errorf("%d threads within a call", n)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	p := of(t, tr, r.pid())
	if !p.Ended || p.Device.Held.Ok() || counts(p)["hipMalloc hipSuccess"] != 1 || counts(p)["hipStreamSynchronize hipSuccess"] != 0 {
		t.Errorf("the last figures: %+v", p)
	}
	equal(t, "left", left(t, tr), map[string]int{})
	until(t, tr, "the last figures go", func() bool { return len(tr.Local().Processes) == 0 })
}

// A program that executes another one is another program, of the same process.
func TestExec(t *testing.T) {
	_, program := stub(t)
	tr := open(t)
	r := start(t, program, "copy", "exec", "sync", "sync")
	watched(t, tr, 1)
	r.step("done")
	of(t, tr, r.pid())
	r.step("executing")
	r.step("done")
	tr.Poll(t.Context())
	equal(t, "calls", counts(of(t, tr, r.pid())), map[string]uint64{"hipDeviceSynchronize hipSuccess": 1})
	equal(t, "left", left(t, tr), map[string]int{"totals": 1, "processes": 1, "series": 1, "threads": 1})
	if n := len(tr.ended); n != 1 {
		t.Errorf("%d programs have ended", n)
	}
}

// What finds no room is counted, and nothing breaks.
func TestBounds(t *testing.T) {
	_, program := stub(t)
	tr := open(t, func(o *Options) {
		o.MaxProcesses, o.MaxSeries, o.MaxAllocations, o.MaxThreads = 2, 8, 4, 4
	})
	r := start(t, program, "allocate", "copy", "threads", "allocate")
	watched(t, tr, 1)
	r.step("done")
	r.step("done")
	r.step("done")
	p := of(t, tr, r.pid())
	d := dropped(tr)
	if len(p.Calls) != 8 || d["series"] == 0 || d["allocation"] == 0 || d["thread"] == 0 {
		t.Errorf("%d functions, dropped %v", len(p.Calls), d)
	}
	if n := left(t, tr)["allocations"]; n > 2 {
		t.Errorf("%d allocations of one program", n)
	}
	var others []*runner
	for range 3 {
		o := start(t, program, "sync")
		o.step("done")
		others = append(others, o)
	}
	tr.Poll(t.Context())
	if n := len(tr.Local().Processes); n != 2 || dropped(tr)["process"] == 0 {
		t.Errorf("%d processes, dropped %v", n, dropped(tr))
	}
	// Those that end make room.
	r.end()
	for _, o := range others {
		o.end()
	}
	equal(t, "ended", map[string]int{"processes": len(of(t, tr, r.pid()).Calls)}, map[string]int{"processes": 8})
	equal(t, "left", left(t, tr), map[string]int{})
	r = start(t, program, "sync")
	r.step("done")
	equal(t, "calls", counts(of(t, tr, r.pid())), map[string]uint64{"hipDeviceSynchronize hipSuccess": 1})
}

// Durations are put into the buckets of rpcstats.
func TestSlowCall(t *testing.T) {
	_, program := stub(t)
	tr := open(t)
	r := start(t, program, "slow")
	watched(t, tr, 1)
	r.step("done")
	h := of(t, tr, r.pid()).Calls[0].Latency
	if h.Nanos < 20e6 || len(h.Buckets) != 1 || h.Quantile(0.5) < 0.9*float64(h.Nanos)/1e9 || h.Quantile(0.5) > 1.1*float64(h.Nanos)/1e9 {
		t.Errorf("a call of 20 ms: %+v", h)
	}
}
