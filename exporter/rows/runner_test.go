package rows

import (
	"context"
	"errors"
	"flag"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
)

// Records come at the interval, and a last one at the end that nothing counted is left out of.
func TestRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		totals := rpcstats.NewTotals(rpcstats.Names{})
		var mu sync.Mutex
		var got sums
		records := 0
		r, err := Open(RunnerOptions{
			Options: Options{Interval: 10 * time.Second},
			Read:    func() exporter.Reading { return exporter.Reading{Time: time.Now(), Calls: totals.Calls()} },
		}, "test", func(_ context.Context, record []byte) error {
			b, err := Decode(record)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			records++
			got.add(t, b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.Run(ctx) })
		for range 95 {
			time.Sleep(time.Second)
			totals.Observe("hipMalloc", "client", "hipSuccess", 1e-3)
		}
		cancel()
		wg.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if records != 10 || got.calls != 95 || got.count != 95 || r.Stats().Sent != 10 {
			t.Errorf("%d records with %d calls; %+v", records, got.calls, r.Stats())
		}
	})
}

// What the queue does not take is in the next record.
func TestRunnerPutFails(t *testing.T) {
	totals := rpcstats.NewTotals(rpcstats.Names{})
	r, err := Open(RunnerOptions{Read: func() exporter.Reading { return exporter.Reading{Time: time.Now(), Calls: totals.Calls()} }},
		"test", func(context.Context, []byte) error { return push.ErrPermanent })
	if err != nil {
		t.Fatal(err)
	}
	r.Put()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	totals.Observe("hipMalloc", "client", "hipSuccess", 1e-3)
	r.Put() // into a closed queue
	reading := r.opt.Read()
	var got sums
	got.add(t, r.maker.Make(&reading))
	if got.calls != 1 {
		t.Errorf("%d calls", got.calls)
	}
}

func TestOptions(t *testing.T) {
	env := map[string]string{"ROCWIRE_PUSH_INTERVAL": "20s"}
	var o Options
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil {
		t.Fatal(err)
	}
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	o.AddFlags(fs)
	if o.Interval != 20*time.Second || fs.Parse([]string{"--push-interval", "1m"}) != nil || o.Interval != time.Minute {
		t.Errorf("%v", o.Interval)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "--"+f.Name+" ") {
			t.Errorf("--%s is not explained", f.Name)
		}
	})
	o = Options{}
	o.AddFlags(flag.NewFlagSet("x", flag.ContinueOnError))
	if o.Interval != defaultInterval {
		t.Errorf("%v", o.Interval)
	}
	if (&Options{Interval: time.Millisecond}).Check() == nil {
		t.Error("an interval of a millisecond")
	}
	if err := o.FromEnv(func(string) string { return "soon" }); err == nil || !strings.Contains(err.Error(), "ROCWIRE_PUSH_INTERVAL") {
		t.Errorf("%v", err)
	}
	if _, err := Open(RunnerOptions{}, "x", nil); err == nil || errors.Is(err, push.ErrClosed) {
		t.Errorf("%v", err)
	}
}
