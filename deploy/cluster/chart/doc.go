// Package chart has no code: its tests render the chart in deploy/helm/rocwire with Helm's own packages, give what comes of it to a real API server, install,
// upgrade and uninstall it there, and start a worker as its pod does.
package chart
