package service

import (
	"maps"

	"github.com/rocwire/rocwire/exporter"
)

// Values are what some of AddFlags' flags may be, for completion, and more.
func Values(more map[string][]string) map[string][]string {
	all := map[string][]string{
		"events":           {exporter.EventsAuto, exporter.EventsOn, exporter.EventsOff},
		"histograms":       {exporter.HistogramsBoth, exporter.HistogramsNative, exporter.HistogramsClassic},
		"metrics-compat":   {exporter.CompatDME},
		"otlp-protocol":    {"grpc", "http/protobuf"},
		"otlp-compression": {"gzip", "none"},
	}
	maps.Copy(all, more)
	return all
}
