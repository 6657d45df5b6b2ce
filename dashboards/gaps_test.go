package dashboards

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// What a simulated machine without root cannot have is made up here, and goes
// through the real exporter all the same: fans, programs that eBPF
// sees, and sinks of which one is down.

// cooled adds fans, which no simulated card has.
type cooled struct{ *smiremote.Client }

func (c cooled) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	snap, err := c.Client.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for i := range snap.Devices {
		if m := snap.Devices[i].Metrics; m != nil {
			m.Fans = []smi.Fan{{Speed: smi.Some(smi.RPM(1500)), Duty: smi.Some(smi.Ratio(0.4))}}
		}
	}
	return snap, nil
}

// locals are two programs that call HIP on this machine.
type locals struct{ began time.Time }

func (l locals) Local() local.Reading {
	n := uint64(time.Since(l.began)/(10*time.Millisecond)) + 1 // a hundred rounds a second
	program := func(pid uint32, name, pod string) local.Process {
		return local.Process{
			PID: pid, Name: name, Executable: "/opt/" + name, Library: "/opt/rocm/lib/libamdhip64.so.6", User: "ada", Since: l.began,
			Container: smi.Container{Pod: pod, Namespace: "ml"},
			Calls: []local.Call{
				localCall("hipMalloc", n, 20, "hipErrorOutOfMemory"), localCall("hipMemcpy", 4*n, 60, "hipErrorInvalidValue"), localCall("hipLaunchKernel", n, 5, "hipErrorInvalidValue"),
			},
			Launches: n,
			Grid:     local.Sizes{Buckets: []uint64{0, 0, 0, 0, 0, 0, 0, 0, n / 4, 0, n - n/4}, Sum: float64(n) * 700},
			Block:    local.Sizes{Buckets: []uint64{0, 0, 0, 0, 0, 0, n / 2, 0, n - n/2}, Sum: float64(n) * 160},
			Copies:   []local.Copies{{Kind: "host_to_device", Count: n, Bytes: n << 20}, {Kind: "device_to_host", Count: n, Bytes: n << 16}},
			Device:   local.Memory{Allocations: n, Held: smi.Some(uint64(3 << 30))},
			Managed:  local.Memory{Allocations: 1, Held: smi.Some(uint64(1 << 30))},
			Host:     local.Memory{Allocations: 2, Held: smi.Some(uint64(1 << 28))},
		}
	}
	return local.Reading{
		Libraries: 1, Processes: []local.Process{program(4711, "trainer", "train-0"), program(4712, "server", "serve-0")},
		Dropped: []local.Dropped{{Reason: "unreadable", Count: n / 50}},
	}
}

// localCall is a function of which one in ten calls fails and half take twice as long.
func localCall(op string, n uint64, buckets int32, code string) local.Call {
	return local.Call{
		Op: op, Codes: []local.Code{{Code: "hipSuccess", Count: n - n/10}, {Code: code, Count: n / 10}},
		Latency: rpcstats.Hist{Nanos: n * 20_000, Buckets: []rpcstats.Bucket{{Index: -130 + int(buckets), Count: n - n/2}, {Index: -122 + int(buckets), Count: n/2 + 1}}},
	}
}

// sinks are two: one that takes everything but what it refuses, and one that is down.
func sinks(t *testing.T) func() []push.Stats {
	t.Helper()
	open := func(name string, send func(context.Context, []byte) error) *push.Pusher {
		p, err := push.Open(push.Options{Name: name, Send: send})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := open("otlp-metrics", func(_ context.Context, record []byte) error {
		if record[0] == 0 {
			return push.ErrPermanent
		}
		return nil
	})
	bad := open("greptimedb", func(context.Context, []byte) error { return errors.New("no route to host") })
	ctx, cancel := context.WithCancel(context.Background())
	go good.Run(ctx)
	go bad.Run(ctx)
	go func() {
		for n := byte(0); ; n++ {
			for _, p := range []*push.Pusher{good, bad} {
				if err := p.Put([]byte{n % 8, 1, 2, 3}); err != nil {
					return // closed
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = good.Close()
		_ = bad.Close()
	})
	return func() []push.Stats { return []push.Stats{good.Stats(), bad.Stats()} }
}
