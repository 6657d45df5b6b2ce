package exporter

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

type labelPair = dto.LabelPair

// newReferenceHistogram is client_golang's own native histogram of the same
// resolution.
func newReferenceHistogram() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Help: "x", NativeHistogramBucketFactor: 1.1})
}

// sortedMetrics are our own metrics by name.
func sortedMetrics() []*metric {
	own := slices.DeleteFunc(slices.Clone(metrics), func(m *metric) bool { return m.compat })
	return slices.SortedFunc(slices.Values(own), func(a, b *metric) int { return strings.Compare(a.name, b.name) })
}
