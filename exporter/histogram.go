package exporter

import (
	"fmt"

	dto "github.com/prometheus/client_model/go"
)

// Forms of the histograms of durations, which are exponential.
const (
	// HistogramsBoth serves both forms: whoever scrapes takes the native one if it can.
	HistogramsBoth = "both"
	// HistogramsNative serves native histograms alone: to scrapes by text, which cannot
	// carry them, there is only the count and the sum.
	HistogramsNative = "native"
	// HistogramsClassic serves buckets of powers of two alone.
	HistogramsClassic = "classic"
)

func checkHistograms(form string) error {
	switch form {
	case HistogramsBoth, HistogramsNative, HistogramsClassic:
		return nil
	}
	return fmt.Errorf("exporter: histograms are %s, %s or %s, not %q", HistogramsBoth, HistogramsNative, HistogramsClassic, form)
}

// inForm takes from a histogram what is not wanted; one that has a single form keeps it.
func inForm(h *dto.Histogram, form string) {
	if h == nil || h.Schema == nil || len(h.Bucket) == 0 {
		return
	}
	switch form {
	case HistogramsNative:
		h.Bucket = nil
	case HistogramsClassic:
		h.Schema, h.ZeroThreshold, h.ZeroCount = nil, nil, nil
		h.PositiveSpan, h.PositiveDelta, h.Exemplars = nil, nil, nil
	}
}
