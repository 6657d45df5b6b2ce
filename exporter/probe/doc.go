// Package probe serves the metrics of many workers from one exporter, in the manner of
// Prometheus' blackbox and SNMP exporters: GET /probe?target=HOST:PORT. It keeps an
// exporter for each worker that is asked for, which reads it in the background, up to a
// number and for as long as it is used.
//
// # Trust
//
// Whoever may reach /probe can have the exporter connect to a worker. To which ones is
// the operator's decision: those that are configured or discovered (package discovery),
// and those that match a pattern of Options.Allow; everything else is refused before
// anything is resolved or connected. A pattern with a network matches addresses only,
// never names, so that no name can be made to resolve into it afterwards; for a name
// that a pattern allows, the operator trusts its resolution. Files (unix:PATH) are only
// asked if they are configured.
package probe
