package collector

import "fmt"

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
