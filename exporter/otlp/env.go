package otlp

import (
	"strconv"
	"strings"
	"time"
)

// FromEnv reads OpenTelemetry's environment variables; package documentation in
// docs/opentelemetry.md lists them. Nothing is sent unless an endpoint or an exporter is
// named.
func (o *Options) FromEnv(getenv func(string) string) error {
	e := env{get: func(k string) string { return strings.TrimSpace(getenv(k)) }}
	e.signal(&o.Metrics, "METRICS")
	e.signal(&o.Traces, "TRACES")
	e.exporters(&o.Metrics, "OTEL_METRICS_EXPORTER", "prometheus") // which is always there
	e.exporters(&o.Traces, "OTEL_TRACES_EXPORTER")
	if e.truth("OTEL_SDK_DISABLED") {
		o.Metrics.Off, o.Traces.Off = true, true
	}
	e.millis(&o.Interval, "OTEL_METRIC_EXPORT_INTERVAL")
	switch v := strings.ToLower(e.get("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION")); v {
	case "", "base2_exponential_bucket_histogram":
	case "explicit_bucket_histogram":
		o.ExplicitBuckets = true
	default:
		e.fail("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "%q is neither explicit_bucket_histogram nor base2_exponential_bucket_histogram", v)
	}
	if v := strings.ToLower(e.get("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")); v != "" && v != "cumulative" {
		e.fail("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "only cumulative is sent, not %q", v)
	}
	e.millis(&o.BatchDelay, "OTEL_BSP_SCHEDULE_DELAY")
	e.count(&o.BatchSpans, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
	e.count(&o.MaxSpans, "OTEL_BSP_MAX_QUEUE_SIZE")
	e.resource(o)
	return e.err
}

// env reads variables and keeps the first error.
type env struct {
	get func(string) string
	err error
}

func (e *env) fail(key, format string, args ...any) {
	if e.err == nil {
		e.err = wrong(key+": "+format, args...)
	}
}

const otlpPrefix = "OTEL_EXPORTER_OTLP_"

// signal reads what one signal has of its own, else what all have.
func (e *env) signal(s *Signal, name string) {
	own := func(k string) (key, value string) {
		if v := e.get(otlpPrefix + name + "_" + k); v != "" {
			return otlpPrefix + name + "_" + k, v
		}
		return otlpPrefix + k, e.get(otlpPrefix + k)
	}
	set := func(to *string, k string) {
		if _, v := own(k); v != "" {
			*to = v
		}
	}
	if key, v := own("ENDPOINT"); v != "" {
		s.Endpoint, s.Exact = v, key != otlpPrefix+"ENDPOINT"
	}
	set(&s.Protocol, "PROTOCOL")
	set(&s.CA, "CERTIFICATE")
	set(&s.Cert, "CLIENT_CERTIFICATE")
	set(&s.Key, "CLIENT_KEY")
	if key, v := own("HEADERS"); v != "" {
		list, err := parseHeaders(v)
		if err != nil {
			e.fail(key, "%w", err)
		}
		s.Headers = list
	}
	if key, v := own("COMPRESSION"); v != "" {
		if err := s.setCompression(v); err != nil {
			e.fail(key, "%w", err)
		}
	}
	if key, _ := own("INSECURE"); e.truth(key) {
		s.Plain = true
	}
	key, _ := own("TIMEOUT")
	e.millis(&s.Timeout, key)
}

// exporters reads which exporters a signal has. Others than ours are an error, unless
// they are known to be there anyway.
func (e *env) exporters(s *Signal, key string, others ...string) {
	v := e.get(key)
	if v == "" {
		return
	}
	on := false
	for name := range strings.SplitSeq(v, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "otlp":
			on = true
		case name == "none" || contains(others, name):
		default:
			e.fail(key, "%q is not known; there are otlp and none", name)
		}
	}
	s.Off = !on
	if on && s.Endpoint == "" {
		s.Endpoint = "http://localhost:4318"
		if s.Protocol == GRPC {
			s.Endpoint = "http://localhost:4317"
		}
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// setCompression understands the specification's words.
func (s *Signal) setCompression(v string) error {
	switch v {
	case "gzip":
		s.NoGzip = false
	case "none":
		s.NoGzip = true
	default:
		return wrong("the compression %q is neither gzip nor none", v)
	}
	return nil
}

// truth is a boolean as the specification has them: true in any case, all else false.
func (e *env) truth(key string) bool { return strings.EqualFold(e.get(key), "true") }

// millis reads a time in milliseconds.
func (e *env) millis(d *time.Duration, key string) {
	v := e.get(key)
	if v == "" {
		return
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || n == 0 {
		e.fail(key, "%q is not a number of milliseconds from 1 to 2147483647", v)
		return
	}
	*d = time.Duration(n) * time.Millisecond
}

func (e *env) count(n *int, key string) {
	v := e.get(key)
	if v == "" {
		return
	}
	i, err := strconv.Atoi(v)
	if err != nil || i <= 0 || i > 1<<20 {
		e.fail(key, "%q is not a number from 1 to %d", v, 1<<20)
		return
	}
	*n = i
}

// resource reads what the environment says about the program and its pod.
func (e *env) resource(o *Options) {
	const key = "OTEL_RESOURCE_ATTRIBUTES"
	list, err := parsePairs(e.get(key))
	if err != nil {
		e.fail(key, "%w", err)
	}
	o.Attributes = list
	if v := e.get("OTEL_SERVICE_NAME"); v != "" {
		o.Attributes = append(o.Attributes, Attribute{"service.name", v})
	}
	o.kube.read(e.get)
}
