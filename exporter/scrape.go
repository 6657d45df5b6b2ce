package exporter

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// maxScrapes is how many scrapes are answered at once; more get 503.
const maxScrapes = 16

// register makes the registry of all that is served.
func (e *Exporter) register() error {
	e.registry = prometheus.NewRegistry()
	all := append([]prometheus.Collector{e.metrics}, e.opt.More...)
	if e.opt.Runtime {
		all = append(all, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	for _, c := range all {
		if err := e.registry.Register(c); err != nil {
			return fmt.Errorf("exporter: %w", err)
		}
	}
	return nil
}

// Gather implements prometheus.Gatherer: what /metrics serves, from memory.
func (e *Exporter) Gather() ([]*dto.MetricFamily, error) {
	list, err := e.registry.Gather()
	return e.metrics.Served(list), err
}

// ServeMetrics answers one scrape, in the form that is wanted. More families may be
// added, with names that are not among ours.
func (e *Exporter) ServeMetrics(w http.ResponseWriter, r *http.Request, more ...*dto.MetricFamily) {
	scrapeHandler(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		list, err := e.Gather()
		list = append(list, e.metrics.Served(more)...)
		slices.SortFunc(list, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
		return list, err
	}), e.opt.Log, 0).ServeHTTP(w, r)
}

// scrapeHandler serves what is gathered, to so many at once; 0: no limit.
func scrapeHandler(g prometheus.Gatherer, log *slog.Logger, atOnce int) http.Handler {
	return compressed(promhttp.HandlerFor(g, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, // one bad series must not hide the others
		ErrorLog:      logger{log}, EnableOpenMetrics: true, MaxRequestsInFlight: atOnce, DisableCompression: true,
	}))
}

// compressed compresses what is served, if that is wanted: Prometheus always wants it.
// promhttp's own compression, which has one level only, takes three times as long for a
// result a tenth smaller.
var compressed = func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // it is a level
	}
	return wrap
}()

// logger passes promhttp's errors on.
type logger struct{ log *slog.Logger }

func (l logger) Println(v ...any) { l.log.Warn("scrape", "reason", fmt.Sprint(v...)) }
