package exporter

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// newReferenceHistogram is client_golang's own native histogram of the same
// resolution.
func newReferenceHistogram() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Help: "x", NativeHistogramBucketFactor: 1.1})
}

func sortedMetrics() []*metric {
	return slices.SortedFunc(slices.Values(metrics), func(a, b *metric) int { return strings.Compare(a.name, b.name) })
}
