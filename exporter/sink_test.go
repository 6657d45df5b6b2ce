package exporter

import (
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi/smitest"
)

// someSinks are the figures of three sinks.
func someSinks() []push.Stats {
	return []push.Stats{
		{Name: "a", Up: true, Waiting: 3, WaitingBytes: 400, InMemory: 2, Oldest: smitest.Then, Sent: 10, SentBytes: 1000, Failures: 4,
			Refused: 5, Expired: 6, Crowded: 7, Corrupt: 8},
		{Name: "b", Oldest: smitest.Then.Add(time.Hour)}, // the clock went back
		{Name: "c", Failures: 1},
	}
}

func TestSinks(t *testing.T) {
	text := start(t, Options{Sinks: someSinks}).metrics(t)
	for series, want := range map[string]string{
		`gpu_exporter_sink_up{sink="a"}`:                                     "1",
		`gpu_exporter_sink_up{sink="b"}`:                                     "", // nothing was sent
		`gpu_exporter_sink_up{sink="c"}`:                                     "0",
		`gpu_exporter_sink_queue_records{sink="a"}`:                          "3",
		`gpu_exporter_sink_queue_records{sink="c"}`:                          "0",
		`gpu_exporter_sink_queue_bytes{sink="a"}`:                            "400",
		`gpu_exporter_sink_queue_memory_records{sink="a"}`:                   "2",
		`gpu_exporter_sink_queue_oldest_seconds{sink="a"}`:                   "60",
		`gpu_exporter_sink_queue_oldest_seconds{sink="b"}`:                   "0",
		`gpu_exporter_sink_queue_oldest_seconds{sink="c"}`:                   "",
		`gpu_exporter_sink_sent_records_total{sink="a"}`:                     "10",
		`gpu_exporter_sink_sent_bytes_total{sink="a"}`:                       "1000",
		`gpu_exporter_sink_failures_total{sink="a"}`:                         "4",
		`gpu_exporter_sink_dropped_records_total{reason="refused",sink="a"}`: "5",
		`gpu_exporter_sink_dropped_records_total{reason="expired",sink="a"}`: "6",
		`gpu_exporter_sink_dropped_records_total{reason="crowded",sink="a"}`: "7",
		`gpu_exporter_sink_dropped_records_total{reason="corrupt",sink="a"}`: "8",
		`gpu_exporter_sink_dropped_records_total{reason="corrupt",sink="b"}`: "0",
		`gpu_exporter_collector_success{collector="sink"}`:                   "1",
	} {
		if got := value(text, series); got != want {
			t.Errorf("%s is %q, not %q", series, got, want)
		}
	}
	if text := start(t, Options{}).metrics(t); strings.Contains(text, "gpu_exporter_sink") {
		t.Error("there are metrics of sinks without a sink")
	}
}
