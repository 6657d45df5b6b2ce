package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// caller is the trace that the HIP program is part of, as W3C Trace Context has it.
const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
)

// workerThroughCollector runs a HIP program, which is part of a trace, on a worker that
// sends to a collector, and looks for its metrics and its spans in what the collector
// passes on.
func workerThroughCollector(ctx context.Context, o *options, program string) (missing []string, err error) {
	var through catch
	to, stop, err := through.serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	c, err := startCollector(ctx, program, to)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	w, err := startWorker(ctx, o, "--otlp-endpoint", "http://"+c.grpc, "--otlp-protocol", "grpc", "--otlp-interval", "1s")
	if err != nil {
		return nil, err
	}
	defer w.stop()
	if err := callWorker(ctx, o, w); err != nil {
		return nil, err
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if missing = notThere(through.all()); len(missing) == 0 || time.Now().After(end) || ctx.Err() != nil {
			return missing, ctx.Err()
		}
	}
}

// callWorker runs the example program on the worker.
func callWorker(ctx context.Context, o *options, w *worker) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(o.lib), "examples", "hello_hip"))
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+o.lib, "TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT="+w.port,
		"TRACEPARENT=00-"+callerTrace+"-"+callerSpan+"-01")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hello_hip: %w: %s (make build first)", err, tail(string(out), 500))
	}
	return nil
}

// notThere is what should have come and has not.
func notThere(items map[string]int) (missing []string) {
	for what, parts := range map[string][]string{
		"the size of a card's memory":      {"hw.gpu.memory.limit By ", "rocwire.hip-worker", "service.instance.id"},
		"the state of a card":              {"hw.status 1 ", "rocwire.hip-worker"},
		"latencies as the client saw them": {"hip.rpc.duration s ", "rpc.method", "hipMalloc", "rocwire.side", "client", "hipSuccess"},
		"latencies on the worker":          {"hip.rpc.duration s ", "hipDeviceSynchronize", "worker", "hipSuccess"},
		"time of execution":                {"hip.rpc.phase.duration s ", "hipDeviceSynchronize", "execution"},
		"time on the network":              {"hip.rpc.phase.duration s ", "hipDeviceSynchronize", "network"},
		"the client's span":                {"hipDeviceSynchronize SPAN_KIND_CLIENT " + callerTrace, callerSpan, "hello_hip"},
		"the worker's span":                {"hipDeviceSynchronize SPAN_KIND_SERVER " + callerTrace, "rocwire.hip-worker", "hello_hip"},
		"the kernel's span":                {"SPAN_KIND_INTERNAL " + callerTrace, "hip.kernel.name", "hip.kernel.grid", "hip.kernel.block"},
	} {
		found := false
		for item := range items {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(item, p)
			}
			found = found || all
		}
		if !found {
			missing = append(missing, what+" did not come")
		}
	}
	return missing
}
