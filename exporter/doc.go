// Package exporter serves what a card does, who uses it and what each call costs
// to Prometheus: the figures of an smi.Source, a worker's sessions, and call
// latencies, on an http.Handler. What it knows can be had as a Reading, too, for sinks
// and pages.
//
// # Manners
//
// Base units, counters end in _total, identities are _info series of value 1 that
// others are joined with by the label gpu, pid or session. A figure that is not
// available has no series; there are no zeros and no sentinels in its place. Each
// collector reports its own success and duration. METRICS.md lists every metric. A
// process that starts or ends renews no series but its own.
//
// A scrape reads what was gathered in the background and never waits for a card.
// Each card is read on its own, so that a slow one delays nobody; the age of what
// is shown is a metric, and figures older than Options.MaxAge are not shown at all.
// Figures that the source itself marks as old (smi.Metrics.Stale) count with that
// age, and gpu_…_stale_seconds tells it. What hardly changes is asked seldom, by
// goroutines of its own (Options.SlowInterval); events are listened to and counted.
//
// With Options.Compat the names of AMD's device-metrics-exporter are served as well.
//
// # Collectors
//
// What the metrics are is package collector's: each subject has a collector there, which
// registers itself.
//
// # Trust
//
// Names come from clients and may be anything: label values are made valid UTF-8
// and cut, series are bounded by Options.MaxSeries for each metric and processes by
// Options.MaxProcesses for each card, duplicates are left out, and what was left out
// is counted. Command lines are not shown, as they may hold secrets. Trace ids become
// exemplars only if they are ones. Only GET and HEAD are served, and of a request only
// the form of the answer is used.
package exporter
