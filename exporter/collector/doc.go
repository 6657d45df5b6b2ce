// Package collector makes Prometheus metrics of what package exporter knows, as
// collectors of Prometheus' node_exporter do: each subject has a file, whose init
// registers a collector; nothing else knows it. The file declares its metrics, too, of which
// METRICS.md is made.
//
// A [Set] is all collectors that the options want, as one prometheus.Collector. A collector
// is called for each scrape, on a [View] of what is known at that moment, and waits for
// nothing. What it emits is bounded: label values are made valid UTF-8 and cut, series of
// one metric are counted, duplicates are left out, and what was left out is a metric.
package collector
