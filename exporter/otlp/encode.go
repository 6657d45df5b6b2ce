package otlp

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

var errBody = errors.New("the request is too large")

// encode hands the bodies of as many requests as the metrics need to put, which must not
// keep them. What fails with one does not keep the others from being put.
func encode(rm *metricdata.ResourceMetrics, put func(body []byte) error) error {
	e := &encoder{messages: newMessages(), put: put}
	return e.all(split(rm, maxPoints))
}

// encoder makes requests of one reading.
type encoder struct {
	messages *messages
	put      func(body []byte) error
	body     []byte // room for the next
}

func (e *encoder) all(parts []*metricdata.ResourceMetrics) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, e.one(part))
	}
	return errors.Join(errs...)
}

func (e *encoder) one(rm *metricdata.ResourceMetrics) (err error) {
	req := &collectormetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{e.messages.resource(rm)}}
	if proto.Size(req) > maxBody {
		n := count(rm)
		if n < 2 {
			return fmt.Errorf("a single point is too large: %w", errBody)
		}
		return e.all(split(rm, (n+1)/2))
	}
	if e.body, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(e.body[:0], req); err != nil {
		return err
	}
	return e.put(e.body)
}
