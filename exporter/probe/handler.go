package probe

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// maxProbes is how many probes are answered at once; more wait as long as a probe does, and get 503.
const maxProbes = 64

// Handler answers /probe. It is a prometheus.Collector of how that goes.
type Handler struct {
	opt   Options
	pool  *pool
	slots chan struct{}
	own   *prometheus.Registry
	count *prometheus.CounterVec
}

// New checks the options.
func New(opt Options) (*Handler, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	h := &Handler{opt: opt, slots: make(chan struct{}, maxProbes)}
	h.pool = &pool{opt: &h.opt, targets: map[string]*target{}}
	check := opt.Exporter // now, and not with the first probe
	check.Source = smi.Unimplemented{}
	if _, err := exporter.New(check); err != nil {
		return nil, err
	}
	h.metrics()
	return h, nil
}

// Run lets workers go that are not asked for any more, until ctx is done; then it
// lets all go.
func (h *Handler) Run(ctx context.Context) {
	defer h.pool.close()
	t := time.NewTicker(max(h.opt.Idle/8, 10*time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			h.pool.sweep(now, h.allowed)
		}
	}
}

// allowed reports whether the operator lets a target be asked.
func (h *Handler) allowed(target string) bool {
	return h.opt.has(target) || slices.ContainsFunc(h.opt.parsed, func(p pattern) bool { return p.match(target) })
}

// ServeHTTP answers GET /probe?target=HOST:PORT with the metrics of that worker, as its
// own exporter would serve them, and whether it could be asked. A worker that was not
// read yet is waited for within the time that the scrape has.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		h.refuse(w, http.StatusMethodNotAllowed, "GET it")
		return
	}
	values := r.URL.Query()["target"]
	if len(values) != 1 || values[0] == "" {
		h.refuse(w, http.StatusBadRequest, "ask for one worker: /probe?target=HOST:PORT")
		return
	}
	addr, err := discovery.Normalize(values[0])
	if err != nil {
		h.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !h.allowed(addr) {
		h.refuse(w, http.StatusForbidden, addr+" is not among the workers that may be asked (--probe-allow, --discover-file, --discover-url)")
		return
	}
	wait := time.NewTimer(patience(r.Header.Get("X-Prometheus-Scrape-Timeout-Seconds")))
	defer wait.Stop()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-r.Context().Done():
		return
	case <-wait.C:
		h.refuse(w, http.StatusServiceUnavailable, "too many probes at once")
		return
	}
	t, err := h.pool.take(addr)
	if err != nil {
		h.refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer h.pool.give(t)
	select {
	case <-t.ready:
	case <-wait.C:
	case <-r.Context().Done():
		return
	}
	up := 0.0
	if t.exporter.Up() {
		up = 1
	}
	h.count.WithLabelValues(map[float64]string{0: "failed", 1: "answered"}[up]).Inc()
	t.exporter.ServeMetrics(w, r,
		family("probe_success", "1 if the worker can be asked, else 0.", up),
		family("probe_duration_seconds", "How long this probe took.", time.Since(begin).Seconds()))
}

func family(name, help string, v float64) *dto.MetricFamily {
	return &dto.MetricFamily{
		Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &v}}},
	}
}

func (h *Handler) refuse(w http.ResponseWriter, code int, why string) {
	h.count.WithLabelValues("refused").Inc()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.Error(w, why, code)
}

// Bounds of the time a probe waits.
const (
	usualTimeout = 10 * time.Second // Prometheus' own default
	maxTimeout   = time.Minute
	margin       = 500 * time.Millisecond // for the answer to arrive
)

// patience is how long a probe waits for a worker: what Prometheus says it will wait,
// less what the answer needs.
func patience(header string) time.Duration {
	d := usualTimeout
	if s, err := strconv.ParseFloat(header, 64); err == nil && s > 0 && !math.IsInf(s, 0) {
		d = time.Duration(min(s, maxTimeout.Seconds()) * float64(time.Second))
	}
	return max(d-margin, d/2)
}
