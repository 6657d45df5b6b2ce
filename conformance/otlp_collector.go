package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// collectorVersion is the OpenTelemetry Collector's, and its builder's.
const (
	collectorVersion = "v0.136.0"
	confmapVersion   = "v1.42.0" // of its modules that are stable
)

// collectorManifest says what the collector is built of.
const collectorManifest = `dist:
  name: otelcol
  output_path: %s
  version: 0.136.0
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver ` + collectorVersion + `
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter ` + collectorVersion + `
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter ` + collectorVersion + `
  - gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusexporter ` + collectorVersion + `
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider ` + confmapVersion + `
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider ` + confmapVersion + `
`

// collectorConfig receives by both protocols, shows metrics to Prometheus and passes all
// on to us.
const collectorConfig = `receivers:
  otlp:
    protocols:
      grpc: {endpoint: "%s"}
      http: {endpoint: "%s"}
exporters:
  debug: {verbosity: detailed}
  prometheus: {endpoint: "%s"}
  otlphttp: {endpoint: "http://%s", compression: none}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [otlphttp, prometheus, debug]}
    traces: {receivers: [otlp], exporters: [otlphttp, debug]}
`

// buildCollector builds the collector into the cache, once.
func buildCollector(ctx context.Context, o *options) (string, error) {
	dir := filepath.Join(filepath.Dir(o.tree), "otelcol-"+collectorVersion)
	program := filepath.Join(dir, "dist", "otelcol")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "conformance: building the OpenTelemetry Collector", collectorVersion, "(some minutes, once)")
	manifest := filepath.Join(dir, "builder.yaml")
	if err := os.WriteFile(manifest, fmt.Appendf(nil, collectorManifest, filepath.Join(dir, "dist")), 0o644); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"go", "install", "go.opentelemetry.io/collector/cmd/builder@" + collectorVersion},
		{filepath.Join(dir, "builder"), "--config", manifest},
	} {
		cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "19"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", args[0], err, tail(string(out), 2000))
		}
	}
	return program, nil
}

// collector is a running one.
type collector struct {
	cmd                    *exec.Cmd
	grpc, http, prometheus string // addresses
	log                    bytes.Buffer
}

// startCollector starts a collector that passes on to an address.
func startCollector(ctx context.Context, program, to string) (*collector, error) {
	c := &collector{}
	var held []net.Listener
	for _, a := range []*string{&c.grpc, &c.http, &c.prometheus} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		held = append(held, ln)
		*a = ln.Addr().String()
	}
	for _, ln := range held { // all at once, so that no two addresses are the same
		ln.Close()
	}
	dir, err := os.MkdirTemp("", "rocwire-otelcol")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, c.grpc, c.http, c.prometheus, to), 0o644); err != nil {
		return nil, err
	}
	c.cmd = exec.CommandContext(ctx, program, "--config", "file:"+config)
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	c.cmd.WaitDelay = 5 * time.Second
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.ready(ctx); err != nil { // it has read its file then
		return nil, fmt.Errorf("%w: %s", err, tail(c.stop(), 1000))
	}
	return c, nil
}

// ready waits until the collector serves.
func (c *collector) ready(ctx context.Context) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		resp, err := http.Post("http://"+c.http+"/v1/metrics", "application/x-protobuf", http.NoBody)
		if err == nil {
			resp.Body.Close()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.New("the collector does not serve")
}

func (c *collector) stop() string {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
	return c.log.String()
}
