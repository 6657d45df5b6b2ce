package otlp

import (
	"flag"
	"time"
)

// AddFlags adds the flags, which count more than the environment: call FromEnv before.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	both := func(name string, set func(*Signal, string) error) {
		fs.Func(name, "", func(v string) error {
			if err := set(&o.Metrics, v); err != nil {
				return err
			}
			return set(&o.Traces, v)
		})
	}
	both("otlp-endpoint", func(s *Signal, v string) error {
		s.Endpoint, s.Exact = v, false
		return nil
	})
	both("otlp-protocol", func(s *Signal, v string) error {
		if v == "http" {
			v = HTTP
		}
		if v != HTTP && v != GRPC {
			return wrong("there are %s and %s", GRPC, HTTP)
		}
		s.Protocol = v
		return nil
	})
	both("otlp-headers-file", func(s *Signal, v string) (err error) {
		s.Headers, err = readHeaders(v)
		return err
	})
	both("otlp-compression", (*Signal).setCompression)
	both("otlp-timeout", func(s *Signal, v string) error {
		d, err := time.ParseDuration(v)
		if err == nil && d <= 0 {
			err = wrong("%v is not more than 0", d)
		}
		s.Timeout = d
		return err
	})
	file := func(name string, of func(*Signal) *string) {
		both(name, func(s *Signal, v string) error {
			*of(s) = v
			return nil
		})
	}
	file("otlp-ca", func(s *Signal) *string { return &s.CA })
	file("otlp-cert", func(s *Signal) *string { return &s.Cert })
	file("otlp-key", func(s *Signal) *string { return &s.Key })
	fs.DurationVar(&o.Interval, "otlp-interval", o.Interval, "")
}

// Usage are the lines of --help.
func Usage() string {
	return `  --otlp-endpoint URL push metrics and traces to this OpenTelemetry receiver:
                      http://HOST:4318, or http://HOST:4317 for grpc
                      [OTEL_EXPORTER_OTLP_ENDPOINT, or of each alone OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
                      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT; none: nothing is pushed]
  --otlp-protocol P   grpc or http/protobuf       [OTEL_EXPORTER_OTLP_PROTOCOL,
                      http/protobuf]
  --otlp-headers-file FILE
                      headers to send, a line "Name: value" for each
                      [OTEL_EXPORTER_OTLP_HEADERS]
  --otlp-ca FILE      certificates the receiver's is checked with
                      [OTEL_EXPORTER_OTLP_CERTIFICATE, the system's]
  --otlp-cert FILE    certificate to show
                      [OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE]
  --otlp-key FILE     its private key          [OTEL_EXPORTER_OTLP_CLIENT_KEY]
  --otlp-compression gzip|none             [OTEL_EXPORTER_OTLP_COMPRESSION, gzip]
  --otlp-timeout TIME of one request              [OTEL_EXPORTER_OTLP_TIMEOUT, 10s]
  --otlp-interval TIME
                      between two readings        [OTEL_METRIC_EXPORT_INTERVAL, 60s]
`
}
