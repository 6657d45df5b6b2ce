package otlp

import (
	"errors"
	"flag"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

var rewrite = flag.Bool("rewrite", false, "write METRICS.md and testdata again")

// source is a Reader of what a test gives it.
type source struct {
	mu sync.Mutex
	r  exporter.Reading
}

func (s *source) Read() exporter.Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r
}

func (s *source) set(f func(*exporter.Reading)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.r)
}

// tick moves the reading to a later moment.
func (s *source) tick(d time.Duration) {
	s.set(func(r *exporter.Reading) {
		r.Time = r.Time.Add(d)
		for i := range r.Cards {
			if m := r.Cards[i].Metrics; m != nil {
				m = m.Clone()
				m.Time = r.Time
				r.Cards[i].Metrics = m
			}
		}
	})
}

// live moves with the clock.
type live struct{ *source }

func (l live) Read() exporter.Reading {
	r := l.source.Read()
	r.Time = time.Now()
	return r
}

var began = smitest.Then.Add(-time.Hour)

// fullReading has every figure there is.
func fullReading() exporter.Reading {
	r := exporter.Reading{Time: smitest.Then, Sessions: smitest.Clients{}.Sessions(), Totals: smitest.Clients{}.SessionTotals(), Calls: someCalls()}
	for i, d := range smitest.Machine(2, 2) {
		c := exporter.Card{DeviceSnapshot: d, Fresh: true, Age: 250 * time.Millisecond}
		if i == 0 {
			c.Metrics.Fans = []smi.Fan{{Speed: smi.Some(smi.RPM(1500)), Duty: smi.Some(smi.Ratio(0.5)), Max: smi.Some(smi.RPM(3000))}}
			p := &c.Processes[1]
			p.GFXTime, p.EncodeTime = smi.Some(smi.Duration(time.Second)), smi.Some(smi.Duration(2*time.Second))
			details := smitest.Details(2)[0]
			c.Detail = exporter.Detail{XGMI: details.XGMI, BadPages: []smi.BadPage{{State: smi.PagePending}}}
		}
		r.Cards = append(r.Cards, c)
	}
	r.Events = []exporter.EventCount{{Device: 0, Kind: smi.EventThermalThrottle, Count: 2}, {Device: smi.NoCard, Kind: smi.EventLost, Count: 1}}
	r.Local = local.Reading{
		Dropped: []local.Dropped{{Reason: "full", Count: 3}},
		Processes: []local.Process{{
			PID: 77, Name: "train", Executable: "/usr/bin/train", Library: "/opt/rocm/lib/libamdhip64.so.6", User: "ada", Since: began,
			Calls: []local.Call{{
				Op: "hipMalloc", Codes: []local.Code{{Code: "hipSuccess", Count: 5}, {Code: "hipErrorOutOfMemory", Count: 1}}, Latency: r.Calls[0].Hist,
			}},
			Launches: 9, Grid: local.Sizes{Buckets: []uint64{0, 0, 0, 4, 5}, Sum: 100}, Block: local.Sizes{Buckets: []uint64{9}, Sum: 9},
			Copies: []local.Copies{{Kind: "host_to_device", Count: 2, Bytes: 4096}},
			Device: local.Memory{Allocations: 5, Held: smi.Some(uint64(1 << 20))},
		}},
	}
	return r
}

func someCalls() []rpcstats.CallTotal {
	t := rpcstats.NewTotals(rpcstats.Names{})
	for i := range 1000 {
		t.Observe("hipMalloc", "client", "hipSuccess", 20e-6+float64(i)*1e-7)
		t.Observe("hipMalloc", "worker", "hipSuccess", 5e-6)
	}
	t.Observe("hipMalloc", "worker", "hipErrorOutOfMemory", 0.5)
	t.Observe("hipEventQuery", "worker", "hipErrorNotReady", 0)
	t.Observe("hipMemcpy", "queue", "hipSuccess", 2e-6)
	t.Observe("hipMemcpy", "execution", "hipSuccess", 30e-6)
	t.Observe("hipMemcpy", "network", "hipSuccess", 80e-6)
	list := t.Calls()
	for i := range list {
		list[i].Since = began
	}
	return list
}

// sink sends what from reads to an endpoint.
func newSink(t *testing.T, from Reader, change func(*Options)) *Sink {
	t.Helper()
	opt := Options{Service: "rocwire.test", Version: "1.2.3", Metrics: Signal{Timeout: time.Minute}}
	opt.Queue.Drain = time.Minute
	change(&opt)
	s, err := New(opt, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// collect is what one reading of everything arrives as.
func collect(t *testing.T, from Reader, change func(*Options)) (*receiver, *arrived) {
	t.Helper()
	r := &receiver{}
	base := r.overHTTP(t)
	s := newSink(t, from, func(o *Options) {
		o.Metrics.Endpoint = base
		if change != nil {
			change(o)
		}
	})
	s.Export()
	send(t, s)
	return r, r.arrived()
}

// send sends what waits.
func send(t *testing.T, s *Sink) {
	t.Helper()
	run(t, s, func() {
		eventually(t, "all is sent", func() bool {
			for _, st := range s.Stats() {
				if st.Waiting > 0 {
					return false
				}
			}
			return true
		})
	})
}

// run runs the queues of a sink, but none of its timers, while f runs.
func run(t *testing.T, s *Sink, f func()) {
	t.Helper()
	ctx, stop := contextOf(t)
	var wg sync.WaitGroup
	for _, o := range s.outlets {
		wg.Go(func() { o.queue.Run(ctx) })
	}
	f()
	stop()
	wg.Wait()
}

// has finds the only series of a metric whose attributes contain all of these.
func (a *arrived) has(t *testing.T, metric string, attrs ...string) string {
	t.Helper()
	found := ""
	for key := range a.points {
		if !strings.HasPrefix(key, metric+"{") {
			continue
		}
		all := true
		for i := 0; i < len(attrs); i += 2 {
			all = all && a.attrs[key][attrs[i]] == attrs[i+1]
		}
		if all && found != "" {
			t.Errorf("%s %v is in doubt", metric, attrs)
		}
		if all {
			found = key
		}
	}
	if found == "" {
		t.Errorf("%s %v did not come", metric, attrs)
	}
	return found
}

var errTest = errors.New("a failure of the test")
