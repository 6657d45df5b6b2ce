package otlp

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// A running total says since when it runs.
func TestStarts(t *testing.T) {
	src := &source{r: fullReading()}
	t0 := src.Read().Time
	r := &receiver{}
	s := newSink(t, src, func(o *Options) { o.Metrics.Endpoint = r.overHTTP(t) })
	newest := func() *arrived {
		r.mu.Lock()
		r.metrics = nil
		r.mu.Unlock()
		s.Export()
		send(t, s)
		return r.arrived()
	}
	gpu := fullReading().Cards[0].Device.UUID
	check := func(what string, a *arrived, want time.Time, metric string, attrs ...string) {
		t.Helper()
		if got := a.starts[a.has(t, metric, attrs...)]; got != uint64(want.UnixNano()) {
			t.Errorf("%s: %s starts at %v, want %v", what, metric, time.Unix(0, int64(got)).UTC(), want)
		}
	}
	a := newest()
	check("unknown start", a, t0, "hw.energy", "hw.id", gpu)
	check("session", a, src.Read().Sessions[0].Start, "rocwire.session.calls", "rocwire.session.id", "17")
	check("call", a, began, "hip.rpc.duration", "rpc.method", "hipMalloc", "rocwire.side", "client")

	// Later it is still the same, and a new process began after the last reading.
	src.tick(time.Minute)
	src.set(func(r *exporter.Reading) {
		list := append([]smi.Process(nil), r.Cards[0].Processes...)
		r.Cards[0].Processes = append(list, smi.Process{PID: 9999, Name: "new", Busy: smi.Some(smi.Duration(time.Second))})
		r.Cards[0].Metrics.Energy = smi.Some(r.Cards[0].Metrics.Energy.Or(0) + 100)
	})
	a = newest()
	check("goes on", a, t0, "hw.energy", "hw.id", gpu)
	check("a new process", a, t0, "process.gpu.time", "process.pid", "9999", "hw.gpu.task", "general")

	// The driver was loaded again: the total falls and begins after the last reading.
	src.tick(time.Minute)
	src.set(func(r *exporter.Reading) { r.Cards[0].Metrics.Energy = smi.Some(smi.Joules(1)) })
	a = newest()
	check("reset", a, t0.Add(time.Minute), "hw.energy", "hw.id", gpu)

	// Nobody knew the processes for a while: what appears afterwards may be old.
	src.tick(time.Minute)
	src.set(func(r *exporter.Reading) { r.Cards[0].ProcessesErr = &smi.Failure{Code: smi.ErrTimeout} })
	newest()
	src.tick(time.Minute)
	src.set(func(r *exporter.Reading) {
		r.Cards[0].ProcessesErr = nil
		list := append([]smi.Process(nil), r.Cards[0].Processes...)
		r.Cards[0].Processes = append(list, smi.Process{PID: 5555, Name: "old?", Busy: smi.Some(smi.Duration(time.Hour))})
	})
	a = newest()
	check("unknown meanwhile", a, t0.Add(4*time.Minute), "process.gpu.time", "process.pid", "5555", "hw.gpu.task", "general")
	check("known from before", a, t0, "process.gpu.time", "process.pid", "9999", "hw.gpu.task", "general")
}

// The share of time is that of the time between two readings.
func TestProcessUtilization(t *testing.T) {
	src := &source{r: fullReading()}
	r := &receiver{}
	s := newSink(t, src, func(o *Options) { o.Metrics.Endpoint = r.overHTTP(t) })
	s.Export()
	src.tick(10 * time.Second)
	src.set(func(r *exporter.Reading) {
		list := append([]smi.Process(nil), r.Cards[0].Processes...)
		list[0].Busy = smi.Some(list[0].Busy.Or(0) + smi.Duration(4*time.Second))
		r.Cards[0].Processes = list
	})
	s.Export()
	send(t, s)
	a := r.arrived()
	pid := "3000"
	if got := a.values[a.has(t, "process.gpu.utilization", "process.pid", pid, "hw.gpu.task", "general")]; got != 0.4 {
		t.Errorf("utilization %g, want 0.4", got)
	}
}

// What a link carried is its rate, added up over the time for which it is known.
func TestTraffic(t *testing.T) {
	src := &source{r: fullReading()}
	r := &receiver{}
	s := newSink(t, src, func(o *Options) { o.Metrics.Endpoint = r.overHTTP(t) })
	rate := func(sent, received float64) {
		src.set(func(r *exporter.Reading) {
			m := r.Cards[0].Metrics
			m.PCIe.Sent, m.PCIe.Received = smi.Some(smi.BytesPerSecond(sent)), smi.Some(smi.BytesPerSecond(received))
		})
	}
	s.producer.Look()
	for range 3 { // 3 s
		src.tick(time.Second)
		rate(1000, 500)
		s.producer.Look()
		s.producer.Look() // the same figures once more
	}
	src.tick(time.Minute) // nobody looked
	rate(7e9, 7e9)
	s.producer.Look()
	src.tick(2 * time.Second)
	rate(100, 0)
	s.Export()
	send(t, s)
	a := r.arrived()
	gpu := fullReading().Cards[0].Device.UUID
	for direction, want := range map[string]float64{"transmit": 3*1000 + 2*100, "receive": 3 * 500} {
		key := a.has(t, "hw.gpu.io", "hw.id", gpu, "rocwire.link.type", "pcie", "network.io.direction", direction)
		if a.values[key] != want {
			t.Errorf("%s %g, want %g", direction, a.values[key], want)
		}
		if a.starts[key] != uint64(fullReading().Time.UnixNano()) {
			t.Error("it does not start with the first reading")
		}
	}
}
