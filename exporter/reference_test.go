package exporter

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

type labelPair = dto.LabelPair

// newReferenceHistogram is client_golang's own native histogram of the same
// resolution.
func newReferenceHistogram() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Help: "x", NativeHistogramBucketFactor: 1.1})
}
