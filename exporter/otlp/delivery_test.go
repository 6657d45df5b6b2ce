package otlp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/rocwire/rocwire/exporter/push"
)

// The receiver is down while readings go on and this program is restarted; then every
// point of every reading is there, once.
func TestOutage(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		t.Run(protocol, func(t *testing.T) {
			const readings = 12
			r := &receiver{}
			var up atomic.Bool
			var endpoint string
			if protocol == GRPC {
				endpoint = "http://" + r.overGRPC(t)
				r.fail = status.Error(codes.Unavailable, "not yet")
			} else {
				r.answer = func(w http.ResponseWriter) bool {
					if !up.Load() {
						w.WriteHeader(http.StatusServiceUnavailable)
					}
					return up.Load()
				}
				endpoint = r.overHTTP(t)
			}
			src := &source{r: fullReading()}
			want := map[string]bool{}
			dir := t.TempDir()
			open := func() *Sink {
				opt := Options{Service: "rocwire.test", Version: "1", Metrics: Signal{Endpoint: endpoint, Protocol: protocol}}
				// Long enough for no request to be given up while the receiver reads it: that
				// one would be taken, and sent again.
				opt.Queue.Dir, opt.Queue.Drain = dir, time.Minute
				s, err := New(opt, src)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			for life := range 3 {
				s := open()
				if life == 2 {
					up.Store(true)
					r.mu.Lock()
					r.fail = nil
					r.mu.Unlock()
				}
				run(t, s, func() {
					for range readings / 3 {
						src.tick(10 * time.Second)
						s.Export()
						for key := range pointsNow(t, s) {
							want[key] = true
						}
					}
					if life == 1 {
						eventually(t, "it fails", func() bool { return s.Stats()[0].Failures > 0 })
					}
					if life == 2 {
						eventually(t, "all has arrived", func() bool { return s.Stats()[0].Waiting == 0 })
					}
				})
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			a := r.arrived()
			for key := range want {
				if a.points[key] != 1 {
					t.Errorf("%s came %d times", key, a.points[key])
				}
			}
			for key, n := range a.points {
				if n != 1 {
					t.Errorf("%s came %d times", key, n)
				}
				if !want[key] && !ofManyReadings(key) {
					t.Errorf("%s came from nowhere", key)
				}
			}
			if len(want) < readings*300 {
				t.Errorf("only %d points were expected", len(want))
			}
		})
	}
}

// pointsNow is what a reading at this moment has by itself.
func pointsNow(t *testing.T, s *Sink) map[string]bool {
	t.Helper()
	p := NewProducer(s.opt, s.producer.from)
	sm, err := p.Produce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	a := arrive(t, sm)
	for key := range a.points {
		if !ofManyReadings(key) {
			keys[key] = true
		}
	}
	return keys
}

// ofManyReadings is what a single reading does not have, or has of the sink itself.
func ofManyReadings(key string) bool {
	return strings.HasPrefix(key, "rocwire.exporter.") || strings.HasPrefix(key, "process.gpu.utilization{") ||
		strings.HasPrefix(key, "hw.gpu.io{") && strings.Contains(key, "rocwire.link.type=pcie")
}

// How answers are judged: taken, to be tried again, or for good.
func TestHTTPAnswers(t *testing.T) {
	for code, want := range map[int]string{
		200: "sent", 202: "sent", 204: "sent", 400: "refused", 401: "refused", 403: "refused", 404: "refused", 413: "refused", 429: "again",
		500: "refused", 501: "refused", 502: "again", 503: "again", 504: "again", 301: "again", 307: "again",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if code/100 == 3 {
				w.Header().Set("Location", "http://elsewhere.invalid/")
			}
			w.WriteHeader(code)
		}))
		s := newSink(t, &source{r: fullReading()}, func(o *Options) { o.Metrics.Endpoint = srv.URL })
		s.Export()
		if got := outcomeOf(t, s); got != want {
			t.Errorf("status %d: %s, want %s", code, got, want)
		}
		srv.Close()
	}
}

func outcomeOf(t *testing.T, s *Sink) (got string) {
	t.Helper()
	run(t, s, func() {
		eventually(t, "it was tried", func() bool {
			switch st := s.Stats()[0]; {
			case st.Sent > 0:
				got = "sent"
			case st.Refused > 0:
				got = "refused"
			case st.Failures > 0:
				got = "again"
			}
			return got != ""
		})
	})
	return got
}

func TestGRPCAnswers(t *testing.T) {
	for code, want := range map[codes.Code]string{
		codes.OK: "sent", codes.Canceled: "again", codes.DeadlineExceeded: "again", codes.Aborted: "again", codes.OutOfRange: "again",
		codes.Unavailable: "again", codes.DataLoss: "again", codes.ResourceExhausted: "refused", codes.InvalidArgument: "refused",
		codes.Unauthenticated: "refused", codes.PermissionDenied: "refused", codes.Unimplemented: "refused", codes.Internal: "refused",
		codes.Unknown: "refused", codes.NotFound: "refused",
	} {
		r := &receiver{}
		if code != codes.OK {
			r.fail = status.Error(code, "so it is")
		}
		s := newSink(t, &source{r: fullReading()}, func(o *Options) {
			o.Metrics.Endpoint, o.Metrics.Protocol, o.Metrics.Plain = r.overGRPC(t), GRPC, true
		})
		s.Export()
		if got := outcomeOf(t, s); got != want {
			t.Errorf("%v: %s, want %s", code, got, want)
		}
		if code != codes.OK && !strings.Contains(s.Stats()[0].LastError, "so it is") {
			t.Errorf("%v: the error is %q", code, s.Stats()[0].LastError)
		}
	}
}

// A receiver may say when to come back.
func TestRetryTimes(t *testing.T) {
	err := httpOutcome(429, http.Header{"Retry-After": {"17"}}, nil, time.Now())
	var again *push.RetryError
	if !errors.As(err, &again) || again.After != 17*time.Second {
		t.Errorf("HTTP: %v", err)
	}
	st, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if err := grpcOutcome(st.Err()); !errors.As(err, &again) || again.After != 3*time.Second {
		t.Errorf("gRPC: %v", err)
	}
}

// What a receiver rejects of a request it took is counted and not sent again.
func TestPartialSuccess(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		r := &receiver{rejected: 7}
		s := newSink(t, &source{r: fullReading()}, func(o *Options) {
			o.Metrics.Protocol, o.Metrics.Endpoint = protocol, r.overHTTP(t)
			if protocol == GRPC {
				o.Metrics.Endpoint = "http://" + r.overGRPC(t)
			}
		})
		s.Export()
		send(t, s)
		if st := s.Stats()[0]; st.Sent != 1 || st.Refused != 0 || s.health().rejected[metricsSink] != 7 {
			t.Errorf("%s: %+v, rejected %d", protocol, st, s.health().rejected[metricsSink])
		}
	}
}

// Headers, compression and paths are as configured.
func TestRequests(t *testing.T) {
	for name, change := range map[string]func(*Options, string, string){
		"gzip": func(o *Options, url, _ string) { o.Metrics.Endpoint = url + "/base/" },
		"plain": func(o *Options, url, _ string) {
			o.Metrics.Endpoint, o.Metrics.Exact, o.Metrics.NoGzip = url+"/my/metrics", true, true
		},
		"gRPC": func(o *Options, _, addr string) { o.Metrics.Endpoint, o.Metrics.Protocol = "http://"+addr, GRPC },
		"gRPC plain": func(o *Options, _, addr string) {
			o.Metrics.Endpoint, o.Metrics.Protocol, o.Metrics.NoGzip = "http://"+addr, GRPC, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{}
			s := newSink(t, &source{r: fullReading()}, func(o *Options) {
				change(o, r.overHTTP(t), r.overGRPC(t))
				o.Metrics.Headers = []Attribute{{"Authorization", "Bearer of-secrets"}, {"x-scope-orgid", "7"}}
			})
			s.Export()
			send(t, s)
			if n, _ := r.count(); n != 1 {
				t.Fatalf("%d requests", n)
			}
			h := r.headers[0]
			if h.Get("Authorization") != "Bearer of-secrets" || h.Get("X-Scope-Orgid") != "7" || !strings.HasPrefix(h.Get("User-Agent"), "rocwire/1.2.3 ") {
				t.Error(h)
			}
			switch name {
			case "gzip":
				if r.paths[0] != "/base/v1/metrics" || h.Get("Content-Encoding") != "gzip" {
					t.Error(r.paths, h)
				}
			case "plain":
				if r.paths[0] != "/my/metrics" || h.Get("Content-Encoding") != "" {
					t.Error(r.paths, h)
				}
			}
		})
	}
}

// Run reads in intervals, and once more when it ends.
func TestRunSends(t *testing.T) {
	r := &receiver{}
	s := newSink(t, live{&source{r: fullReading()}}, func(o *Options) { o.Metrics.Endpoint, o.Interval = r.overHTTP(t), minInterval })
	ctx, stop := contextOf(t)
	done := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(done)
	}()
	eventually(t, "two readings come", func() bool { n, _ := r.count(); return n >= 2 })
	before, _ := r.count()
	stop()
	<-done
	if n, _ := r.count(); n <= before {
		t.Errorf("the last reading was not sent: %d requests before and %d after the end", before, n)
	}
	if st := s.Stats()[0]; st.Waiting != 0 || st.Sent == 0 {
		t.Errorf("%+v", st)
	}
}
