package otlp

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Reader is what metrics are read from; an exporter.Exporter is one.
type Reader interface{ Read() exporter.Reading }

// scope names who makes the points.
const scope = "github.com/rocwire/rocwire/exporter/otlp"

var (
	sourceUp  = define(upDown, "rocwire.exporter.source.up", "1", "1 if the GPUs (or the remote worker that has them) can be asked, else 0.")
	dropped   = define(intCounter, "rocwire.exporter.series.dropped", "{series}", "Series left out because there were too many of one metric, or the same one twice.")
	waiting   = define(upDown, "rocwire.exporter.queue.size", "By", "Requests that wait to be sent.", with("rocwire.sink"))
	requests  = define(intCounter, "rocwire.exporter.requests", "{request}", "Requests that left the queue: sent, refused, expired, crowded, corrupt.", with("rocwire.sink", "rocwire.outcome"))
	rejected  = define(intCounter, "rocwire.exporter.items.rejected", "{item}", "Points and spans that the receiver left out of requests it took.", with("rocwire.sink"))
	spansLost = define(intCounter, "rocwire.exporter.spans.dropped", "{span}", "Spans dropped because too many waited, or because they made no sense.")
)

// Producer makes data points of an exporter's figures. It is a producer of the
// OpenTelemetry SDK's metric readers.
type Producer struct {
	from   Reader
	opt    Options
	health func() health // of the sink; nil: none

	mu      sync.Mutex
	starts  *starts
	lists   map[string]time.Time // when the list of processes of a card was known, by hw.id
	traffic traffic
	dropped uint64
}

// health is what a sink knows about itself.
type health struct {
	sinks     []push.Stats
	rejected  map[string]uint64 // by sink
	spansLost uint64
}

// NewProducer uses MaxAge, MaxSeries and ExplicitBuckets of the options.
func NewProducer(opt Options, from Reader) *Producer {
	opt.setDefaults()
	return &Producer{from: from, opt: opt, starts: newStarts(time.Now()), lists: map[string]time.Time{}}
}

// Dropped is how many series were left out so far.
func (p *Producer) Dropped() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// Look takes note of what only many readings tell: the traffic of links that tell
// nothing but its rate. Produce does it as well.
func (p *Producer) Look() {
	r := p.from.Read()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traffic.look(&r)
}

// Produce implements metric.Producer of the SDK.
func (p *Producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	r := p.from.Read()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.starts.began.After(r.Time) { // a reader with a clock of its own
		p.starts.began = r.Time
	}
	pts := newPoints(r.Time, p.opt.MaxSeries, p.starts)
	p.traffic.look(&r)
	p.cards(pts, &r)
	if r.SessionsErr == nil && (r.Sessions != nil || r.Totals != smi.SessionTotals{}) {
		pts.sessions(r.Sessions, &r.Totals)
	}
	if r.CallsErr == nil {
		pts.calls(r.Calls, r.Slow)
	}
	if r.LocalErr == nil {
		pts.local(&r.Local)
	}
	p.self(pts, &r)
	p.starts.done(r.Time)
	return []metricdata.ScopeMetrics{{
		Scope:   instrumentation.Scope{Name: scope, Version: p.opt.Version, SchemaURL: semconv.SchemaURL},
		Metrics: pts.metrics(p.opt.ExplicitBuckets),
	}}, nil
}

// cards adds every card.
func (p *Producer) cards(pts *points, r *exporter.Reading) {
	taken := map[string]bool{}
	names := map[int]attrs{}
	for i := range r.Cards {
		c := newCardPoints(pts, &r.Cards[i], taken)
		names[c.card.Device.Index] = c.brief
		p.card(c, r)
	}
	for _, e := range r.Events {
		of := names[e.Device]
		if of == nil {
			of = attrs{}.str("hw.name", "gpu"+strconv.Itoa(e.Device))
		}
		pts.counter(gpuEvents, float64(e.Count), of.set(kv("rocwire.event.type", e.Kind)), p.starts.began)
	}
}

func (p *Producer) card(c *cardPoints, r *exporter.Reading) {
	d := c.card
	m := known(p, d, d.Metrics, d.MetricsErr, func(m *smi.Metrics) smi.Opt[smi.Duration] { return m.Stale })
	e := known(p, d, d.ECC, d.ECCErr, func(e *smi.ECC) smi.Opt[smi.Duration] { return e.Stale })
	c.status(m, e, r.Err == nil)
	if !d.Fresh {
		return
	}
	brief := c.brief.set()
	if m != nil {
		c.gauge(gpuAge, d.Age.Seconds()+m.Stale.Or(0).Seconds(), brief)
		c.hardware(m)
		c.own(m, brief)
		c.pcie(&m.PCIe, brief)
	}
	if e != nil {
		c.errors(e)
	}
	c.traffic(&p.traffic)
	c.detail()
	list := known(p, d, &d.Processes, d.ProcessesErr, func(*[]smi.Process) smi.Opt[smi.Duration] { return d.ProcessesStale })
	if list == nil {
		return
	}
	// What was not on the list of the reading before has begun since.
	var since time.Time
	if at := p.lists[c.id]; !at.IsZero() && at.Equal(p.starts.last) {
		since = at
	}
	c.processes(*list, since)
	p.lists[c.id] = r.Time
}

// known is a part of a card, or nil when it is not known or too old to be sent.
func known[T any](p *Producer, c *exporter.Card, part *T, f *smi.Failure, stale func(*T) smi.Opt[smi.Duration]) *T {
	if !c.Fresh || part == nil || f != nil {
		return nil
	}
	if s, ok := stale(part).Get(); ok && c.Age+time.Duration(s) > p.opt.MaxAge {
		return nil
	}
	return part
}

// self adds what this exporter knows about itself.
func (p *Producer) self(pts *points, r *exporter.Reading) {
	none := attribute.NewSet()
	pts.gauge(sourceUp, truth(r.Err == nil), none)
	if p.health != nil {
		h := p.health()
		for i := range h.sinks {
			s := &h.sinks[i]
			pts.gauge(waiting, float64(s.WaitingBytes), attribute.NewSet(kv("rocwire.sink", s.Name)))
			for outcome, n := range map[string]uint64{
				"sent": s.Sent, "refused": s.Refused, "expired": s.Expired, "crowded": s.Crowded, "corrupt": s.Corrupt,
			} {
				pts.counter(requests, float64(n), attribute.NewSet(kv("rocwire.sink", s.Name), kv("rocwire.outcome", outcome)), p.starts.began)
			}
			pts.counter(rejected, float64(h.rejected[s.Name]), attribute.NewSet(kv("rocwire.sink", s.Name)), p.starts.began)
		}
		pts.counter(spansLost, float64(h.spansLost), none, p.starts.began)
	}
	p.dropped += pts.dropped
	pts.counter(dropped, float64(p.dropped), none, p.starts.began)
}
