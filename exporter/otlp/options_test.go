package otlp

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func fromEnv(vars map[string]string) (Options, error) {
	var o Options
	err := o.FromEnv(func(k string) string { return vars[k] })
	return o, err
}

func TestEnv(t *testing.T) {
	const pre = "OTEL_EXPORTER_OTLP_"
	for name, c := range map[string]struct {
		vars  map[string]string
		check func(*Options) bool
	}{
		"nothing":     {nil, func(o *Options) bool { return !o.Enabled() }},
		"only others": {map[string]string{pre + "PROTOCOL": "grpc", pre + "HEADERS": "a=b"}, func(o *Options) bool { return !o.Enabled() }},
		"endpoint": {map[string]string{pre + "ENDPOINT": "http://c:4318"}, func(o *Options) bool {
			return urlOf(o.Metrics, metricsPath) == "http://c:4318/v1/metrics" && urlOf(o.Traces, tracesPath) == "http://c:4318/v1/traces"
		}},
		"base path": {map[string]string{pre + "ENDPOINT": "http://c:4318/otlp/"}, func(o *Options) bool {
			return urlOf(o.Metrics, metricsPath) == "http://c:4318/otlp/v1/metrics"
		}},
		"of one signal": {map[string]string{pre + "METRICS_ENDPOINT": "http://c/my"}, func(o *Options) bool {
			return urlOf(o.Metrics, metricsPath) == "http://c/my" && !o.Traces.on()
		}},
		"of one signal without path": {map[string]string{pre + "METRICS_ENDPOINT": "http://c"}, func(o *Options) bool {
			return urlOf(o.Metrics, metricsPath) == "http://c/"
		}},
		"signals apart": {map[string]string{
			pre + "ENDPOINT": "http://all:1", pre + "TRACES_ENDPOINT": "https://t:2/x", pre + "TRACES_PROTOCOL": "http/protobuf", pre + "TIMEOUT": "250",
			pre + "TRACES_TIMEOUT": "1", pre + "HEADERS": "a=1,b=x%20y", pre + "TRACES_HEADERS": "c=2", pre + "COMPRESSION": "none", pre + "METRICS_COMPRESSION": "gzip",
			pre + "CERTIFICATE": "ca", pre + "CLIENT_KEY": "k", pre + "METRICS_CLIENT_CERTIFICATE": "cm",
		}, func(o *Options) bool {
			m, s := &o.Metrics, &o.Traces
			return m.Endpoint == "http://all:1" && s.Endpoint == "https://t:2/x" && s.Exact && !m.Exact && m.Timeout == 250*time.Millisecond &&
				s.Timeout == time.Millisecond && reflect.DeepEqual(m.Headers, []Attribute{{"a", "1"}, {"b", "x y"}}) &&
				reflect.DeepEqual(s.Headers, []Attribute{{"c", "2"}}) && !m.NoGzip && s.NoGzip && m.CA == "ca" && s.CA == "ca" && m.Cert == "cm" && s.Cert == "" && s.Key == "k"
		}},
		"grpc": {map[string]string{pre + "ENDPOINT": "c:4317", pre + "PROTOCOL": "grpc", pre + "INSECURE": "True"}, func(o *Options) bool {
			to, err := o.Metrics.target(metricsPath)
			return err == nil && to.host == "c:4317" && !to.secure
		}},
		"grpc is secure": {map[string]string{pre + "ENDPOINT": "c:4317", pre + "PROTOCOL": "grpc"}, func(o *Options) bool {
			to, err := o.Metrics.target(metricsPath)
			return err == nil && to.secure
		}},
		"grpc, scheme before insecure": {map[string]string{pre + "ENDPOINT": "https://c", pre + "PROTOCOL": "grpc", pre + "INSECURE": "true"}, func(o *Options) bool {
			to, err := o.Metrics.target(metricsPath)
			return err == nil && to.host == "c:4317" && to.secure
		}},
		"none": {map[string]string{pre + "ENDPOINT": "http://c", "OTEL_METRICS_EXPORTER": "none"}, func(o *Options) bool {
			return !o.Metrics.on() && o.Traces.on()
		}},
		"default endpoint": {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, func(o *Options) bool {
			return !o.Metrics.on() && o.Traces.Endpoint == "http://localhost:4318"
		}},
		"default endpoint, grpc": {map[string]string{"OTEL_METRICS_EXPORTER": "otlp, prometheus", pre + "PROTOCOL": "grpc"}, func(o *Options) bool {
			return o.Metrics.Endpoint == "http://localhost:4317"
		}},
		"disabled": {map[string]string{pre + "ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, func(o *Options) bool { return !o.Enabled() }},
		"the rest": {map[string]string{
			"OTEL_METRIC_EXPORT_INTERVAL": "5000", "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_BSP_MAX_QUEUE_SIZE": "9", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "3",
			pre + "METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "explicit_bucket_histogram", pre + "METRICS_TEMPORALITY_PREFERENCE": "Cumulative",
		}, func(o *Options) bool {
			return o.Interval == 5*time.Second && o.BatchDelay == 100*time.Millisecond && o.MaxSpans == 9 && o.BatchSpans == 3 && o.ExplicitBuckets
		}},
	} {
		o, err := fromEnv(c.vars)
		if err != nil || !c.check(&o) {
			t.Errorf("%s: %v %+v", name, err, o)
		}
	}
}

func urlOf(s Signal, path string) string {
	to, err := s.target(path)
	if err != nil {
		return err.Error()
	}
	return to.url
}

// What is wrong is said by name, and no secret with it.
func TestEnvErrors(t *testing.T) {
	const pre = "OTEL_EXPORTER_OTLP_"
	for want, vars := range map[string]map[string]string{
		pre + "TIMEOUT":                        {pre + "TIMEOUT": "10s"},
		pre + "METRICS_TIMEOUT":                {pre + "METRICS_TIMEOUT": "0"},
		"OTEL_METRIC_EXPORT_INTERVAL":          {"OTEL_METRIC_EXPORT_INTERVAL": "-1"},
		pre + "COMPRESSION":                    {pre + "COMPRESSION": "zstd"},
		pre + "HEADERS: ":                      {pre + "HEADERS": "key,token=hunter2"},
		"percent":                              {pre + "HEADERS": "token=hunter2%zz"},
		"cannot be an HTTP header":             {pre + "HEADERS": "to ken=hunter2"},
		"OTEL_RESOURCE_ATTRIBUTES":             {"OTEL_RESOURCE_ATTRIBUTES": "hunter2"},
		"OTEL_METRICS_EXPORTER":                {"OTEL_METRICS_EXPORTER": "console"},
		"OTEL_TRACES_EXPORTER":                 {"OTEL_TRACES_EXPORTER": "prometheus"},
		"only cumulative":                      {pre + "METRICS_TEMPORALITY_PREFERENCE": "delta"},
		"METRICS_DEFAULT_HISTOGRAM_AGGREGATIO": {pre + "METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "summary"},
		"OTEL_BSP_MAX_QUEUE_SIZE":              {"OTEL_BSP_MAX_QUEUE_SIZE": "0"},
	} {
		_, err := fromEnv(vars)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", vars, err)
		}
	}
}

func TestEndpointErrors(t *testing.T) {
	for want, s := range map[string]Signal{
		"not a URL":                   {Endpoint: "collector:4318"},
		"not a URL like":              {Endpoint: "http://user:hunter2@%zz"},
		`"ftp" is neither`:            {Endpoint: "ftp://c"},
		"http/json":                   {Endpoint: "http://c", Protocol: "http/json"},
		`"tcp"`:                       {Endpoint: "http://c", Protocol: "tcp"},
		"has a path":                  {Endpoint: "http://c:4318/v1/metrics", Protocol: GRPC},
		"neither HOST:PORT nor a URL": {Endpoint: "collector", Protocol: GRPC},
	} {
		err := (&Options{Metrics: s}).Check()
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	if err := (&Options{Interval: time.Millisecond}).Check(); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
}

// Flags count more than the environment.
func TestFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("# of the project\nAuthorization: Basic a:b\n\nX-Scope-OrgID:7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := fromEnv(map[string]string{
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://env/x", "OTEL_EXPORTER_OTLP_HEADERS": "a=b", "OTEL_METRIC_EXPORT_INTERVAL": "2000",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "7000",
	})
	if err != nil {
		t.Fatal(err)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	err = fs.Parse([]string{
		"--otlp-endpoint", "https://flag:1", "--otlp-protocol=http", "--otlp-headers-file", file, "--otlp-ca", "ca", "--otlp-cert", "c",
		"--otlp-key", "k", "--otlp-interval", "15s", "--otlp-compression", "none",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Signal{o.Metrics, o.Traces} {
		want := Signal{
			Endpoint: "https://flag:1", Protocol: HTTP, Headers: []Attribute{{"Authorization", "Basic a:b"}, {"X-Scope-OrgID", "7"}}, CA: "ca", Cert: "c", Key: "k",
			NoGzip: true, Timeout: 7 * time.Second,
		}
		if !reflect.DeepEqual(s, want) {
			t.Errorf("%+v", s)
		}
	}
	if o.Interval != 15*time.Second {
		t.Error(o.Interval)
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "--"+f.Name) {
			t.Errorf("the usage does not have --%s", f.Name)
		}
	})
	for _, args := range [][]string{{"--otlp-protocol", "udp"}, {"--otlp-headers-file", "/none"}, {"--otlp-timeout", "0s"}, {"--otlp-compression", "br"}} {
		if err := fs.Parse(args); err == nil {
			t.Error(args)
		}
	}
}
