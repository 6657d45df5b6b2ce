package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// encoder makes requests of metrics with the SDK's exporter, whose HTTP client it is:
// what the exporter believes to send is the encoded request.
type encoder struct {
	exp  *otlpmetrichttp.Exporter
	body []byte // of the request under way
}

var errBody = errors.New("the request is too large")

func newEncoder(ctx context.Context) (*encoder, error) {
	e := &encoder{}
	// The exporter reads the environment too. What is given here counts more; https, as
	// certificates named there make it refuse http.
	exp, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL("https://queue.invalid"+metricsPath),
		otlpmetrichttp.WithHTTPClient(&http.Client{Transport: e}), otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithHeaders(map[string]string{}))
	if err != nil {
		return nil, wrong("encoder: %w", err)
	}
	e.exp = exp
	return e, nil
}

// RoundTrip implements http.RoundTripper: it keeps the body and is content.
func (e *encoder) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	if r.ContentLength < 0 || r.ContentLength > maxBody {
		return nil, errBody
	}
	e.body = make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, e.body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// encode hands the bodies of as many requests as the metrics need to put. What fails
// with one does not keep the others from being put.
func (e *encoder) encode(ctx context.Context, rm *metricdata.ResourceMetrics, put func(body []byte) error) error {
	return e.all(ctx, split(rm, maxPoints), put)
}

func (e *encoder) all(ctx context.Context, parts []*metricdata.ResourceMetrics, put func([]byte) error) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, e.one(ctx, part, put))
	}
	return errors.Join(errs...)
}

func (e *encoder) one(ctx context.Context, rm *metricdata.ResourceMetrics, put func([]byte) error) error {
	err := e.exp.Export(ctx, rm)
	body := e.body
	e.body = nil
	if errors.Is(err, errBody) {
		n := count(rm)
		if n < 2 {
			return fmt.Errorf("a single point is too large: %w", err)
		}
		return e.all(ctx, split(rm, (n+1)/2), put)
	}
	if err != nil {
		return err
	}
	return put(body)
}
