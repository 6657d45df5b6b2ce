// Package page is what a person sees who opens an exporter or a worker in a browser:
// the cards as they are, who uses them, what calls cost, how delivery to sinks goes,
// and the last hour of it all. It needs nothing else: no Prometheus, no assets from
// elsewhere, no script engine (without scripts the page is a snapshot that renews
// itself), and its figures are served as JSON under /api/v1/ as well.
//
// # History
//
// Run samples the readings into memory: series of one figure for each step of time,
// and for each step the histograms of the calls that ended in it, so that quantiles
// of any span are exact to a bucket. Steps without a reading are gaps, never zeros.
// Counters are kept as rates; one that fell began anew. All of it is bounded by
// Options.MaxBytes, half for the series and half for the calls: when the series are
// too many those of what has ended go first, then those of processes; when the calls
// are too many their history becomes shorter. What was left out is counted.
//
// # Trust
//
// Names come from clients of a worker, or from a worker far away, and may be anything.
// They are made valid, cut, and freed of control characters and of marks that turn
// the direction of text before they leave this package; the page writes them only as
// text. A Content-Security-Policy keeps the browser from running anything but the
// page's own files, and from handing text to an interpreter of HTML at all. Requests
// are read only, parameters are bounded, and so are requests at once. Who may see the
// page is the listener's matter: it tells names of users, hosts and programs, as the
// metrics do. Command lines are not shown, as they may hold secrets.
package page
