package probe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rocwire/rocwire/discovery"
)

// Discovered is a prometheus.Collector of how it goes with the sources of workers.
type Discovered struct{ *discovery.Discovery }

var (
	targetsDesc  = prometheus.NewDesc("gpu_exporter_discovery_targets", "Workers that a source names: a file, a URL, DNS, Kubernetes or Consul.", []string{"source"}, nil)
	failuresDesc = prometheus.NewDesc("gpu_exporter_discovery_failures_total", "Times a source of workers could not be read, or made no sense.", []string{"source"}, nil)
	successDesc  = prometheus.NewDesc("gpu_exporter_discovery_last_success_timestamp_seconds", "When a source of workers was last read without a failure.", []string{"source"}, nil)
)

// Describe implements prometheus.Collector.
func (Discovered) Describe(ch chan<- *prometheus.Desc) {
	ch <- targetsDesc
	ch <- failuresDesc
	ch <- successDesc
}

// Collect implements prometheus.Collector.
func (d Discovered) Collect(ch chan<- prometheus.Metric) {
	for _, s := range d.States() {
		ch <- prometheus.MustNewConstMetric(targetsDesc, prometheus.GaugeValue, float64(s.Targets), s.Source)
		ch <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(s.Failures), s.Source)
		if !s.Success.IsZero() {
			ch <- prometheus.MustNewConstMetric(successDesc, prometheus.GaugeValue, float64(s.Success.UnixMilli())/1e3, s.Source)
		}
	}
}
