package otlp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// partial is what a receiver says it left out of a request that it took.
type partial struct {
	rejected int64
	message  string
}

// reply reads the answer to a request that was taken.
type reply func(body []byte) (partial, error)

func metricsReply(body []byte) (partial, error) {
	var r collectormetrics.ExportMetricsServiceResponse
	err := proto.Unmarshal(body, &r)
	return partial{r.GetPartialSuccess().GetRejectedDataPoints(), r.GetPartialSuccess().GetErrorMessage()}, err
}

func tracesReply(body []byte) (partial, error) {
	var r collectortrace.ExportTraceServiceResponse
	err := proto.Unmarshal(body, &r)
	return partial{r.GetPartialSuccess().GetRejectedSpans(), r.GetPartialSuccess().GetErrorMessage()}, err
}

// maxMessage bounds what is quoted of a receiver's words.
const maxMessage = 300

func quote(s string) string { return smi.Printable(clean(strings.TrimSpace(s), maxMessage)) }

// httpOutcome judges an HTTP status by the protocol's rules: 429, 502, 503 and 504 are to
// be tried again, any other failure is for good. A redirection is neither: the request
// may be right, and waits until somebody corrects the address.
func httpOutcome(code int, header http.Header, body []byte, now time.Time) error {
	words := ""
	if strings.HasPrefix(header.Get("Content-Type"), "application/x-protobuf") {
		var st spb.Status
		if proto.Unmarshal(body, &st) == nil {
			words = st.GetMessage()
		}
	} else {
		words = string(body)
	}
	err := fmt.Errorf("HTTP status %d %s: %s", code, http.StatusText(code), quote(words))
	switch {
	case code >= 300 && code < 400:
		return fmt.Errorf("HTTP status %d: the receiver is at another address: %s", code, quote(header.Get("Location")))
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return &push.RetryError{After: push.RetryAfter(header.Get("Retry-After"), now), Err: err}
	}
	return fmt.Errorf("%w: %w", push.ErrPermanent, err)
}

// grpcOutcome judges a gRPC status by the protocol's list.
func grpcOutcome(err error) error {
	st := status.Convert(err)
	err = fmt.Errorf("gRPC status %v: %s", st.Code(), quote(st.Message()))
	after, told := time.Duration(0), false
	for _, d := range st.Details() {
		if r, ok := d.(*errdetails.RetryInfo); ok {
			after, told = max(r.GetRetryDelay().AsDuration(), 0), true
		}
	}
	switch st.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		return &push.RetryError{After: after, Err: err}
	case codes.ResourceExhausted: // only the receiver knows whether it recovers
		if told {
			return &push.RetryError{After: after, Err: err}
		}
	}
	return fmt.Errorf("%w: %w", push.ErrPermanent, err)
}

// errReply is an answer that cannot be read; the request was taken.
var errReply = errors.New("the receiver's answer makes no sense")
