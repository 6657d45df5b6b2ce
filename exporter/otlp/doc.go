// Package otlp pushes metrics and traces to an OpenTelemetry receiver, by OTLP over
// HTTP (protobuf) or gRPC.
//
// # Metrics
//
// A [Sink] reads an exporter's figures in intervals, from memory, and makes data points
// of them with the names, units and attributes of OpenTelemetry's semantic conventions;
// what these lack is called rocwire.* or process.gpu.*. METRICS.md lists every metric.
// The figures pass through the OpenTelemetry SDK as those of a [Producer], without its
// instruments: the totals exist already, and the SDK's limit of 2000 series of one
// instrument, beyond which it adds up what does not belong together, does not apply.
// Options.MaxSeries bounds them instead, and what was left out is counted.
//
// Temporality is cumulative. Call latencies keep their buckets: rpcstats' schema 3 is
// scale 3 of an exponential histogram.
//
// # Traces
//
// [Traces] takes the spans of sampled calls and never makes their sender wait.
//
// # Delivery
//
// A request is encoded once, in OTLP's own messages, and put on a queue of package
// push, from which those very bytes are sent until the receiver has taken them: what
// waits survives a restart and is sent with the time it was measured at. A receiver that
// refuses a request for good (by the protocol's list of codes) loses it, and it is
// counted.
//
// # Trust
//
// Names of processes, clients and kernels come from other programs: they are made valid
// UTF-8 and cut. A receiver's answers are read up to a limit, and no answer makes the
// queue wait longer than package push allows. What is read back from the disk is
// decompressed up to a limit. Headers may hold secrets: they are never logged and no
// error tells them.
package otlp
