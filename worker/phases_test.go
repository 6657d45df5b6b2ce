package worker_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
)

// sidesOf finds the totals of a function's successful calls by side.
func sidesOf(w *worker.Server, op string) map[string]rpcstats.CallTotal {
	sides := map[string]rpcstats.CallTotal{}
	for _, c := range w.Calls().Calls() {
		if c.Op == op && c.Code == "hipSuccess" {
			sides[c.Side] = c
		}
	}
	return sides
}

// TestPhases: the phases of a call are of this call, so their sums are those of the whole.
func TestPhases(t *testing.T) {
	w := serve(t, cards(1), config())
	c := connectWith(t, w, hipremote.Config{NoShare: true}) // a copy that the client makes itself has no phases
	const n = 50
	for range n {
		_, _, e := c.MemGetInfo(main0)
		must(t, "MemGetInfo", e)
	}
	p, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	host := make([]byte, 1<<20)
	for range n {
		must(t, "Memcpy", c.Memcpy(main0, at(host), p, uint64(len(host)), hip.MemcpyDeviceToHost))
		must(t, "MemsetAsync", c.MemsetAsync(main0, p, 1, 4096, 0))
	}
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"hipMemGetInfo", "hipMemcpy"} {
		eventually(t, op+" has been reported by both", func() bool {
			s := sidesOf(w, op)
			a, b := s["client"], s["execution"]
			return a.Count() >= n && b.Count() >= n
		})
		s := sidesOf(w, op)
		for _, side := range []string{"client", "worker", "queue", "execution", "network"} {
			if x := s[side]; x.Count() != n {
				t.Errorf("%s: %d calls of side %q", op, x.Count(), side)
			}
		}
		if whole, parts := s["worker"].Nanos, s["queue"].Nanos+s["execution"].Nanos; whole != parts {
			t.Errorf("%s: worker %d ns, its phases %d ns", op, whole, parts)
		}
		if whole, parts := s["client"].Nanos, s["worker"].Nanos+s["network"].Nanos; whole != parts {
			t.Errorf("%s: client %d ns, worker and network %d ns", op, whole, parts)
		}
	}
	// Nobody waits for what is posted.
	eventually(t, "hipMemsetAsync has been reported by both", func() bool {
		s := sidesOf(w, "hipMemsetAsync")
		a, b := s["client"], s["worker"]
		return a.Count() == n && b.Count() == n
	})
	for side, c := range sidesOf(w, "hipMemsetAsync") {
		if side != "client" && side != "worker" {
			t.Errorf("phase %s of posted calls: %+v", side, c)
		}
	}
	// Phases are never more than the time of the calls that they are parts of, whatever was posted and what was waited for.
	for _, c := range w.Calls().Calls() {
		if s := sidesOf(w, c.Op); c.Side == "client" && c.Code == "hipSuccess" && s["queue"].Nanos+s["execution"].Nanos+s["network"].Nanos > c.Nanos {
			t.Errorf("%s: %d ns in all, phases %d, %d and %d ns", c.Op, c.Nanos, s["queue"].Nanos, s["execution"].Nanos, s["network"].Nanos)
		}
	}
}

// TestSlowCalls: a call that takes long is found with where its time went and whose it was, also when its session has ended.
func TestSlowCalls(t *testing.T) {
	w := serve(t, cards(1), config())
	c := connect(t, w)
	f := kernel(t, c, "spin", "spin")
	p, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "launch", launch(c, f, 0, p, uint64(1<<18), uint32(64)))
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	session := fmt.Sprint(c.Session())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	find := func(op string) (s rpcstats.SlowCall, n int) {
		for _, x := range w.Calls().SlowCalls() {
			if x.Op == op {
				s = x
				n++
			}
		}
		return s, n
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	eventually(t, "both have reported the wait", func() bool {
		s, _ := find("hipDeviceSynchronize")
		return s.Network >= 0
	})
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s, n := find("hipDeviceSynchronize")
	if n != 1 || s.Session != session || s.Code != "hipSuccess" || s.Client.PID != uint32(os.Getpid()) || s.Client.Host != host || s.Client.Executable == "" {
		t.Errorf("%d: %+v", n, s)
	}
	if s.Total != s.Queue+s.Execution+s.Network || s.Execution <= 0 || time.Since(s.Start) < s.Total {
		t.Errorf("%+v", s)
	}
	if s, n := find("hipModuleLaunchKernel"); n != 1 || s.Kernel != "spin" {
		t.Errorf("%d launches: %+v", n, s)
	}
}
