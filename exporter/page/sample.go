package page

import (
	"strconv"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Series that are not in METRICS.md under the same name are rates of the counters
// that are: without _total, with _per_second.
const (
	seriesActivity    = "gpu_activity_ratio"
	seriesVRAM        = "gpu_vram_used_bytes"
	seriesPower       = "gpu_power_watts"
	seriesTemperature = "gpu_temperature_celsius"
	seriesClock       = "gpu_clock_hertz"
	seriesPCIeSent    = "gpu_pcie_sent_bytes_per_second"
	seriesPCIeGot     = "gpu_pcie_received_bytes_per_second"
	seriesThrottle    = "gpu_throttle_violation_ratio"
	seriesECC         = "gpu_ecc_errors_per_second"
	seriesProcVRAM    = "gpu_process_vram_bytes"
	seriesProcBusy    = "gpu_process_busy_ratio" // seconds of kernels in a second
	seriesSessIn      = "hip_session_received_bytes_per_second"
	seriesSessOut     = "hip_session_sent_bytes_per_second"
	seriesSessCalls   = "hip_session_calls_per_second"
	seriesSessions    = "hip_sessions"
	seriesWorkerIn    = "hip_worker_received_bytes_per_second"
	seriesWorkerOut   = "hip_worker_sent_bytes_per_second"
	seriesWorkerCalls = "hip_worker_calls_per_second"
	seriesStarted     = "hip_worker_sessions_per_second"
	seriesRefused     = "hip_worker_refused_connections_per_second"
	seriesSinkQueue   = "gpu_exporter_sink_queue_bytes"
	seriesSinkSent    = "gpu_exporter_sink_sent_records_per_second"
	seriesSinkFails   = "gpu_exporter_sink_failures_per_second"
	seriesLocalCalls  = "hip_local_calls_per_second"
	seriesLocalLaunch = "hip_local_kernel_launches_per_second"
	seriesLocalCopied = "hip_local_copied_bytes_per_second"
	seriesLocalHeld   = "hip_local_allocated_bytes"
)

func keyOf(metric string, labels ...string) key {
	k := key{metric: metric}
	for i := 0; i+1 < len(labels); i += 2 {
		k.labels[i/2] = label{labels[i], labels[i+1]}
	}
	return k
}

// add notes a reading. Cards come first, so that they have room before others do.
func (s *store) add(r *exporter.Reading, sinks []push.Stats) {
	for i := range r.Cards {
		if c := &r.Cards[i]; c.Fresh {
			s.card(c)
		}
	}
	if r.SessionsErr == nil {
		s.worker(r)
	}
	for i := range sinks {
		s.sink(&sinks[i])
	}
	if r.SessionsErr == nil {
		for i := range r.Sessions {
			s.session(&r.Sessions[i])
		}
	}
	if r.LocalErr == nil {
		for i := range r.Local.Processes {
			s.local(&r.Local.Processes[i])
		}
	}
	for i := range r.Cards {
		if c := &r.Cards[i]; c.Fresh && c.ProcessesErr == nil && !c.ProcessesStale.Ok() {
			for j := range c.Processes {
				s.process(c.Device.Index, &c.Processes[j])
			}
		}
	}
}

func (s *store) card(c *exporter.Card) {
	gpu := strconv.Itoa(c.Device.Index)
	if m := c.Metrics; m != nil && !m.Stale.Ok() {
		gauge(s, keyOf(seriesActivity, "gpu", gpu, "engine", "gfx"), rankCard, m.Activity.GFX)
		gauge(s, keyOf(seriesActivity, "gpu", gpu, "engine", "umc"), rankCard, m.Activity.UMC)
		gauge(s, keyOf(seriesVRAM, "gpu", gpu), rankCard, m.VRAM.Used)
		gauge(s, keyOf(seriesPower, "gpu", gpu), rankCard, m.Power.Draw())
		for _, sensor := range []string{smi.SensorEdge, smi.SensorHotspot, smi.SensorMem} {
			gauge(s, keyOf(seriesTemperature, "gpu", gpu, "sensor", sensor), rankCard, m.Temperature(sensor))
		}
		for _, domain := range []string{smi.ClockGFX, smi.ClockMem} {
			gauge(s, keyOf(seriesClock, "gpu", gpu, "domain", domain), rankCard, fastest(m.Clocks, domain))
		}
		gauge(s, keyOf(seriesPCIeSent, "gpu", gpu), rankCard, m.PCIe.Sent)
		gauge(s, keyOf(seriesPCIeGot, "gpu", gpu), rankCard, m.PCIe.Received)
		gauge(s, keyOf(seriesThrottle, "gpu", gpu), rankCard, worst(m.Throttle.Violations))
	}
	if e := c.ECC; e != nil && !e.Stale.Ok() {
		counter(s, keyOf(seriesECC, "gpu", gpu, "severity", "correctable"), rankCard, e.Correctable)
		counter(s, keyOf(seriesECC, "gpu", gpu, "severity", "uncorrectable"), rankCard, e.Uncorrectable)
	}
}

// fastest is the current frequency of a domain's fastest clock, which says more of a
// card with many dies than that of its first.
func fastest(list []smi.Clock, domain string) (f smi.Opt[smi.Hertz]) {
	for _, c := range list {
		if h, ok := c.Current.Get(); ok && c.Domain == domain && h >= f.Or(0) {
			f = c.Current
		}
	}
	return f
}

// worst is the largest share of time in which any limit lowered the clocks.
func worst(list []smi.Violation) (w smi.Opt[smi.Ratio]) {
	for _, v := range list {
		if r, ok := v.Ratio.Get(); ok && v.Kind != smi.ViolationLowUse && r >= w.Or(0) {
			w = v.Ratio
		}
	}
	return w
}

func (s *store) worker(r *exporter.Reading) {
	t := r.Totals
	if r.Sessions == nil && t == (smi.SessionTotals{}) {
		return // there is no worker here
	}
	s.gauge(keyOf(seriesSessions), rankWorker, float64(len(r.Sessions)))
	counter(s, keyOf(seriesWorkerIn), rankWorker, t.BytesIn)
	counter(s, keyOf(seriesWorkerOut), rankWorker, t.BytesOut)
	counter(s, keyOf(seriesWorkerCalls), rankWorker, t.Calls)
	counter(s, keyOf(seriesStarted), rankWorker, t.Started)
	counter(s, keyOf(seriesRefused), rankWorker, t.Refused)
}

func (s *store) sink(p *push.Stats) {
	name := clean(p.Name)
	s.gauge(keyOf(seriesSinkQueue, "sink", name), rankSink, float64(p.WaitingBytes))
	s.counter(keyOf(seriesSinkSent, "sink", name), rankSink, float64(p.Sent))
	s.counter(keyOf(seriesSinkFails, "sink", name), rankSink, float64(p.Failures))
}

func (s *store) session(x *smi.Session) {
	id := clean(x.ID)
	counter(s, keyOf(seriesSessIn, "session", id), rankSession, x.BytesIn)
	counter(s, keyOf(seriesSessOut, "session", id), rankSession, x.BytesOut)
	counter(s, keyOf(seriesSessCalls, "session", id), rankSession, x.Calls)
}

func (s *store) process(gpu int, p *smi.Process) {
	g, pid := strconv.Itoa(gpu), strconv.FormatUint(uint64(p.PID), 10)
	gauge(s, keyOf(seriesProcVRAM, "gpu", g, "pid", pid), rankProcess, p.VRAM)
	if d, ok := p.Busy.Get(); ok {
		s.counter(keyOf(seriesProcBusy, "gpu", g, "pid", pid), rankProcess, d.Seconds())
	}
}

type numeric interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

// gauge notes a figure if it is available.
func gauge[T numeric](s *store, k key, r rank, v smi.Opt[T]) {
	if n, ok := v.Get(); ok {
		s.gauge(k, r, float64(n))
	}
}

// counter notes a running total if it is available.
func counter[T numeric](s *store, k key, r rank, v smi.Opt[T]) {
	if n, ok := v.Get(); ok {
		s.counter(k, r, float64(n))
	}
}
