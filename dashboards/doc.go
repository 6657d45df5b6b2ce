// Package dashboards makes the Grafana dashboards of rocwire's metrics. The JSON
// files beside it, and those of the Helm chart, are made by `go generate`;
// docs/dashboards.md tells how to import them. Folder rules has recording and
// alert rules for Prometheus, folder provisioning what Grafana reads at its start.
//
// Trust: nothing here reads anything from outside. The tests start a Prometheus
// and workers on loopback.
package dashboards

//go:generate go run ./internal/gen
