package hipremote

import (
	"slices"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// TestReports: a worker hears what it has said it understands, and no more.
func TestReports(t *testing.T) {
	for _, features := range [][]string{nil, {wire.FeatureTiming}} {
		var mu sync.Mutex
		sides, slow := map[rpcstats.Side]int{}, 0
		host, port := server(t, welcome(wire.Welcome{Features: features}), func(s *wire.ServerConn, r *wire.Request) {
			mu.Lock()
			defer mu.Unlock()
			switch r.Op {
			case rpcstats.Op:
				if d, err := rpcstats.Decode(r.Fixed, rpcstats.OfClient); err != nil {
					t.Error(err)
				} else {
					sides[d.Side]++
				}
			case rpcstats.OpSlow:
				list, err := rpcstats.DecodeSlow(r.Fixed)
				if err != nil || len(list) == 0 {
					t.Errorf("%+v, %v", list, err)
				}
				for _, x := range list {
					if x.Op == hip.OpGetDeviceCount && (x.Total <= 0 || x.Network < 0 || x.Queue < 0 || x.Execution < 0) {
						t.Errorf("%+v", x)
					}
				}
				slow++
			}
			if !r.NoReply() {
				r.Measure()
				_ = r.Reply(0, []byte{1, 0, 0, 0})
			}
		})
		c := New(Config{Host: host, Port: port, Logf: t.Logf})
		if n, e := c.GetDeviceCount(); n != 1 || e != hip.Success {
			t.Fatal(n, e)
		}
		if e := c.MemsetAsync(hip.Thread{}, 0x1000, 0, 1, 0); e != hip.Success {
			t.Fatal(e)
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if e := c.DeviceSynchronize(hip.Thread{}); e != hip.Success { // the reports are before it
			t.Fatal(e)
		}
		mu.Lock()
		timed := slices.Contains(features, wire.FeatureTiming)
		if sides[rpcstats.Client] == 0 || (sides[rpcstats.Network] != 0) != timed || (slow != 0) != timed {
			t.Errorf("features %v: reports of %v, %d of slow calls", features, sides, slow)
		}
		mu.Unlock()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
