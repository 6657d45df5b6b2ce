package probe

import "github.com/prometheus/client_golang/prometheus"

// metrics makes the metrics of the handler itself, for the exporter's own /metrics.
func (h *Handler) metrics() {
	h.own = prometheus.NewRegistry()
	h.count = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gpu_exporter_probes_total", Help: "Probes by result: the worker answered, failed, or the probe was refused.",
	}, []string{"result"})
	for _, r := range []string{"answered", "failed", "refused"} {
		h.count.WithLabelValues(r)
	}
	h.own.MustRegister(h.count,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gpu_exporter_probe_targets", Help: "Workers that are read because they were probed lately."},
			func() float64 { n, _ := h.pool.size(); return float64(n) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "gpu_exporter_probe_evictions_total", Help: "Workers that gave way to others because too many were probed.",
		}, func() float64 { _, n := h.pool.size(); return float64(n) }))
}

// Describe implements prometheus.Collector.
func (h *Handler) Describe(out chan<- *prometheus.Desc) { h.own.Describe(out) }

// Collect implements prometheus.Collector.
func (h *Handler) Collect(out chan<- prometheus.Metric) { h.own.Collect(out) }
