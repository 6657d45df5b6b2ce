package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// told is what a worker tells about calls.
type told struct {
	calls []rpcstats.CallTotal
	slow  []rpcstats.SlowCall
}

func (t told) Calls() []rpcstats.CallTotal    { return t.calls }
func (t told) SlowCalls() []rpcstats.SlowCall { return t.slow }

// total is n calls of one kind that took d each.
func total(op, side, code string, n uint64, d time.Duration) rpcstats.CallTotal {
	b, _ := rpcstats.BucketOf(d)
	return rpcstats.CallTotal{
		Call: rpcstats.Call{Op: op, Side: side, Code: code}, Hist: rpcstats.Hist{Nanos: n * uint64(d), Buckets: []rpcstats.Bucket{{Index: b, Count: n}}},
		Since: smitest.Then.Add(-100 * time.Second),
	}
}

// someCalls has n hundred of each function.
func someCalls(n uint64) told {
	n *= 100
	return told{
		calls: []rpcstats.CallTotal{
			total("hipDeviceSynchronize", "client", "hipSuccess", n, 50*time.Microsecond),
			total("hipDeviceSynchronize", "execution", "hipSuccess", n, 10*time.Microsecond),
			total("hipDeviceSynchronize", "network", "hipSuccess", n, 35*time.Microsecond),
			total("hipDeviceSynchronize", "queue", "hipSuccess", n, 5*time.Microsecond),
			total("hipDeviceSynchronize", "worker", "hipSuccess", n, 15*time.Microsecond),
			total("hipMemcpy", "client", "hipErrorInvalidValue", n/10, 2*time.Second),
			total("hipMemcpy", "client", "hipSuccess", n, time.Millisecond),
			total("hipMemcpy", "network", "hipSuccess", n, time.Millisecond),
			total("hipModuleLaunchKernel", "client", "hipSuccess", 30*n, 400*time.Nanosecond),
			total("hipModuleLaunchKernel", "execution", "hipSuccess", 30*n, 3*time.Microsecond),
			total("hipModuleLaunchKernel", "worker", "hipSuccess", 30*n, 3*time.Microsecond),
		},
		slow: []rpcstats.SlowCall{
			{Session: "12", Client: rpcstats.Caller{Host: "node7", Executable: "/usr/bin/train", PID: 4711}, Op: "hipMemcpy", Code: "hipErrorInvalidValue",
				Start: smitest.Then.Add(-time.Minute), Total: 2 * time.Second, Queue: 0, Network: 1900 * time.Millisecond, Execution: 100 * time.Millisecond},
			{Session: "7", Op: "hipModuleLaunchKernel", Code: "hipSuccess", Start: smitest.Then, Total: 3 * time.Millisecond, Queue: 2 * time.Millisecond,
				Network: -1, Execution: time.Millisecond, Kernel: "saxpy\x1b[31m", TraceID: "0af7651916cd43dd8448eb211c80319c"},
		},
	}
}

func TestCallRows(t *testing.T) {
	w := &worker{client: smiremote.NewClient(smiremote.Options{Address: "gpu1:7"})}
	at := smitest.Then
	before, after := callReading{someCalls(3).calls, at}, callReading{someCalls(7).calls, at.Add(2 * time.Second)}
	find := func(rows []callRow, op, side string) callRow {
		for _, r := range rows {
			if r.Op == op && r.Side == side {
				return r
			}
		}
		t.Fatalf("no %s of side %s in %+v", op, side, rows)
		return callRow{}
	}
	rows := callRows(w, &before, after)
	if len(rows) != 5 {
		t.Errorf("%d rows", len(rows))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9+want/10 {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	c := find(rows, "hipDeviceSynchronize", "client")
	near("rate", c.Rate, 200)
	near("p99", c.P99, 50e-6)
	near("queue", float64(c.Queue.Or(9)), 0.1)
	near("network", float64(c.Network.Or(9)), 0.7)
	near("execution", float64(c.Execution.Or(9)), 0.2)
	s := find(rows, "hipDeviceSynchronize", "worker")
	near("queue of the worker's", float64(s.Queue.Or(9)), 1/3.)
	if s.Network.Ok() {
		t.Error("the worker knows the network")
	}
	m := find(rows, "hipMemcpy", "client")
	near("with errors", m.Rate, 220)
	near("errors", m.Failed, 20)
	near("longest", m.Max, 2)
	if l := find(rows, "hipModuleLaunchKernel", "client"); l.Execution.Ok() || l.Queue.Ok() || l.Network.Ok() {
		t.Errorf("a client that does not wait: %+v", l)
	}
	// Nothing happened meanwhile; then the worker has started again.
	if rows := callRows(w, &after, callReading{after.calls, at.Add(4 * time.Second)}); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	near("after a restart", find(callRows(w, &after, callReading{someCalls(1).calls, at.Add(4 * time.Second)}), "hipMemcpy", "client").Rate, 55)
	near("from the start", find(callRows(w, nil, callReading{someCalls(1).calls, at}), "hipMemcpy", "client").Rate, 1.1)
}

func TestCallOrder(t *testing.T) {
	workers := []string{worker1(t, smitest.NewMachine(1, 0))}
	for sort, want := range map[string]string{
		"time": "hipMemcpy", "rate": "hipModuleLaunchKernel", "errors": "hipMemcpy", "p50": "hipMemcpy", "p99": "hipMemcpy", "max": "hipMemcpy", "name": "hipDeviceSynchronize",
	} {
		code, out, errs := call(t, workers, "calls", "--csv", "--no-header", "--sort", sort)
		if first := strings.Split(out, ","); code != 0 || len(first) < 2 || first[1] != want {
			t.Errorf("by %s: exit %d, %q, %s", sort, code, errs, out)
		}
	}
}

// A worker that measures no calls, or is too old to keep slow ones.
func TestNoCalls(t *testing.T) {
	w := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0)}).Addr
	for _, args := range []string{"calls", "calls --slowest"} {
		if code, out, errs := call(t, []string{w}, strings.Fields(args)...); code != 1 || out != "" || !strings.Contains(errs, "here") {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
	idle := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0), Calls: told{}}).Addr
	for args, want := range map[string]string{"calls": "No calls.\n", "calls --slowest": "No calls in the last ten minutes.\n"} {
		if code, out, errs := call(t, []string{idle}, strings.Fields(args)...); code != 0 || out != want || errs != "" {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
}
