package service

import (
	"maps"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/collector"
)

// Values are what some of AddFlags' flags may be, for completion, and more.
func Values(more map[string][]string) map[string][]string {
	all := map[string][]string{
		"events":           {exporter.EventsAuto, exporter.EventsOn, exporter.EventsOff},
		"histograms":       {collector.HistogramsBoth, collector.HistogramsNative, collector.HistogramsClassic},
		"metrics-compat":   {collector.CompatDME},
		"otlp-protocol":    {"grpc", "http/protobuf"},
		"otlp-compression": {"gzip", "none"},
	}
	maps.Copy(all, more)
	return all
}
