package collector

import "github.com/rocwire/rocwire/exporter/push"

func init() {
	register("sink", func(o *Options) collector {
		if o.Sinks == nil {
			return nil
		}
		return &sinkCollector{o.Sinks}
	})
}

var (
	sinkUp = define(gauge, "gpu_exporter_sink_up",
		"1 if the server of a sink took what was last sent to it, else 0. Absent until something was sent.", "sink")
	sinkRecords = define(gauge, "gpu_exporter_sink_queue_records", "Records that wait to be sent to a sink.", "sink")
	sinkBytes   = define(gauge, "gpu_exporter_sink_queue_bytes", "Size of the records that wait to be sent to a sink.", "sink")
	sinkMemory  = define(gauge, "gpu_exporter_sink_queue_memory_records",
		"Of the records that wait, those in memory only, which the end of the exporter would lose: all if no folder was given, else those the disk does not take.",
		"sink")
	sinkOldest = define(gauge, "gpu_exporter_sink_queue_oldest_seconds",
		"How long the oldest record has waited to be sent to a sink. Absent when none waits.", "sink")
	sinkSent      = define(counter, "gpu_exporter_sink_sent_records_total", "Records that the server of a sink took.", "sink")
	sinkSentBytes = define(counter, "gpu_exporter_sink_sent_bytes_total", "Size of the records that the server of a sink took.", "sink")
	sinkFailures  = define(counter, "gpu_exporter_sink_failures_total",
		"Attempts to send that failed and are repeated.", "sink")
	sinkDropped = define(counter, "gpu_exporter_sink_dropped_records_total",
		"Records that were not delivered: the server refused them, they expired, newer ones crowded them out, or the disk had them corrupt.",
		"sink", "reason")
)

// sinkCollector tells how the delivery to push sinks goes.
type sinkCollector struct{ stats func() []push.Stats }

func (c *sinkCollector) update(v *View, emit *emitter) error {
	for _, s := range c.stats() {
		if s.Sent+s.Failures+s.Refused > 0 {
			emit.gauge(sinkUp, truth(s.Up), s.Name)
		}
		emit.gauge(sinkRecords, float64(s.Waiting), s.Name)
		emit.gauge(sinkBytes, float64(s.WaitingBytes), s.Name)
		emit.gauge(sinkMemory, float64(s.InMemory), s.Name)
		if !s.Oldest.IsZero() {
			emit.gauge(sinkOldest, max(v.Now.Sub(s.Oldest).Seconds(), 0), s.Name)
		}
		emit.counter(sinkSent, float64(s.Sent), s.Name)
		emit.counter(sinkSentBytes, float64(s.SentBytes), s.Name)
		emit.counter(sinkFailures, float64(s.Failures), s.Name)
		for _, d := range []struct {
			reason string
			n      uint64
		}{{"refused", s.Refused}, {"expired", s.Expired}, {"crowded", s.Crowded}, {"corrupt", s.Corrupt}} {
			emit.counter(sinkDropped, float64(d.n), s.Name, d.reason)
		}
	}
	return nil
}
