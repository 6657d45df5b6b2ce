package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rocwire/rocwire/exporter/push"
)

// Names of the queues.
const (
	metricsSink = "otlp-metrics"
	tracesSink  = "otlp-traces"
)

// Sink sends metrics, traces or both.
type Sink struct {
	opt      Options
	producer *Producer
	reader   *sdk.ManualReader
	provider *sdk.MeterProvider
	traces   *Traces
	outlets  []*outlet

	mu sync.Mutex // one reading at a time
}

// outlet is one signal's way out.
type outlet struct {
	name     string
	queue    *push.Pusher
	close    func()
	rejected atomic.Uint64
}

// New opens the queues of what the options turn on; nothing is sent before Run.
func New(opt Options, from Reader) (*Sink, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	opt.setDefaults()
	s := &Sink{opt: opt}
	res := opt.resource(thisMachine())
	if opt.Metrics.on() {
		if _, err := s.open(&opt.Metrics, metricsSink, metricsPath, metricsMethod, metricsReply); err != nil {
			return nil, err
		}
		s.producer = NewProducer(opt, from)
		s.producer.health = s.health
		s.reader = sdk.NewManualReader(sdk.WithProducer(s.producer))
		s.provider = sdk.NewMeterProvider(sdk.WithReader(s.reader), sdk.WithResource(res))
	}
	if opt.Traces.on() {
		out, err := s.open(&opt.Traces, tracesSink, tracesPath, tracesMethod, tracesReply)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.traces = newTraces(opt, protoAttrs(res.Attributes()), out.queue.Put)
	}
	return s, nil
}

func (s *Sink) open(sig *Signal, name, path, method string, r reply) (*outlet, error) {
	t, err := sig.target(path)
	if err != nil {
		return nil, err
	}
	out := &outlet{name: name}
	agent := "rocwire/" + s.opt.Version + " OTLP-Exporter"
	taken := func(p partial) { s.partial(out, p) }
	var send func(context.Context, []byte) error
	if sig.Protocol == GRPC {
		g, err := newGRPCSender(sig, t, method, agent, r, taken)
		if err != nil {
			return nil, err
		}
		send, out.close = g.send, g.close
	} else {
		h, err := newHTTPSender(sig, t, agent, r, taken)
		if err != nil {
			return nil, err
		}
		send, out.close = h.send, h.close
	}
	q := s.opt.Queue
	q.Name, q.Send, q.Timeout = name, send, sig.Timeout
	if q.Log == nil {
		q.Log = s.opt.Log
	}
	if out.queue, err = push.Open(q); err != nil {
		out.close()
		return nil, err
	}
	s.outlets = append(s.outlets, out)
	return out, nil
}

// partial notes what a receiver left out. By the protocol it is not sent again.
func (s *Sink) partial(o *outlet, p partial) {
	if p.rejected > 0 {
		o.rejected.Add(uint64(p.rejected))
	}
	if p.rejected > 0 || p.message != "" {
		s.opt.Log.Warn("the receiver did not take all", "sink", o.name, "rejected", p.rejected, "reason", quote(p.message))
	}
}

// Traces takes spans; nil when traces are off.
func (s *Sink) Traces() *Traces { return s.traces }

// Stats tells how the delivery goes.
func (s *Sink) Stats() []push.Stats {
	list := make([]push.Stats, len(s.outlets))
	for i, o := range s.outlets {
		list[i] = o.queue.Stats()
	}
	return list
}

// health is what the metrics tell about the sink itself.
func (s *Sink) health() health {
	h := health{sinks: s.Stats(), rejected: map[string]uint64{}, spansLost: s.traces.Dropped()}
	for _, o := range s.outlets {
		h.rejected[o.name] = o.rejected.Load()
	}
	return h
}

// Run reads and sends until ctx is done; then it reads a last time and gives what waits
// a moment to leave.
func (s *Sink) Run(ctx context.Context) {
	// The queues go on until nobody fills them any more.
	send, stop := context.WithCancel(context.WithoutCancel(ctx))
	var senders, fillers sync.WaitGroup
	for _, o := range s.outlets {
		senders.Go(func() { o.queue.Run(send) })
	}
	if s.producer != nil {
		fillers.Go(func() { s.read(ctx) })
	}
	if s.traces != nil {
		fillers.Go(func() { s.traces.run(ctx) })
	}
	<-ctx.Done()
	fillers.Wait()
	stop()
	senders.Wait()
}

// lookInterval is how often rates are added up; it is the exporter's own interval.
const lookInterval = time.Second

// read puts a reading on the queue in intervals.
func (s *Sink) read(ctx context.Context) {
	export, look := time.NewTicker(s.opt.Interval), time.NewTicker(min(lookInterval, s.opt.Interval))
	defer export.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			s.Export()
			return
		case <-export.C:
			s.Export()
		case <-look.C:
			s.producer.Look()
		}
	}
}

// Export puts what is known now on the queue.
func (s *Sink) Export() {
	if s.producer == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Nothing here waits for the network: the queue takes it and the time is the disk's.
	var rm metricdata.ResourceMetrics
	err := s.reader.Collect(context.Background(), &rm)
	if err == nil {
		err = encode(&rm, func(body []byte) error {
			record, err := pack(body)
			if err != nil {
				return err
			}
			return s.outlets[0].queue.Put(record)
		})
	}
	if err != nil {
		s.opt.Log.Warn("a reading is lost", "sink", metricsSink, "reason", err)
	}
}

// Close ends the queues; Run must have returned.
func (s *Sink) Close() error {
	var errs []error
	for _, o := range s.outlets {
		o.close()
		if err := o.queue.Close(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o.name, err))
		}
	}
	if s.provider != nil {
		errs = append(errs, s.provider.Shutdown(context.Background()))
	}
	return errors.Join(errs...)
}
