package exporter

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// maxScrapes is how many scrapes are answered at once; more get 503.
const maxScrapes = 16

// scrapes answers scrapes of one exporter.
type scrapes struct {
	e     *Exporter
	slots chan struct{}
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		http.Error(w, fmt.Sprintf("%d scrapes are being answered already", maxScrapes), http.StatusServiceUnavailable)
		return
	}
	s.e.ServeMetrics(w, r)
}

// ServeMetrics answers one scrape: as text or OpenMetrics, compressed if that is
// wanted, or in another form that client_golang knows. More families may be added,
// with names that are not among ours.
func (e *Exporter) ServeMetrics(w http.ResponseWriter, r *http.Request, more ...*dto.MetricFamily) {
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	kind := format.FormatType()
	if kind != expfmt.TypeTextPlain && kind != expfmt.TypeOpenMetrics || strings.Contains(string(format), "version=2.") {
		promhttp.HandlerFor(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
			return e.gatherer.gather(more)
		}), promhttp.HandlerOpts{
			ErrorHandling: promhttp.ContinueOnError, // one bad series must not hide the others
			ErrorLog:      logger{e.opt.Log}, EnableOpenMetrics: true,
		}).ServeHTTP(w, r)
		return
	}
	x, err := e.gatherer.collect(more)
	defer x.release()
	if err != nil {
		logger{e.opt.Log}.Println(err)
	}
	h := w.Header()
	h.Set("Content-Type", string(format))
	h.Add("Vary", "Accept-Encoding")
	var out io.Writer = w
	if acceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
		z, err := gzip.NewWriterLevel(w, compression)
		if err != nil {
			panic(err) // it is a level
		}
		defer func() {
			if err := z.Close(); err != nil {
				e.opt.Log.Debug("a scraper went away", "reason", err)
			}
		}()
		out = z
	}
	if err := x.writeText(out, kind == expfmt.TypeOpenMetrics); err != nil {
		e.opt.Log.Debug("a scraper went away", "reason", err)
	}
}

// compression keeps nothing between one write and the next: a scrape is a tenth larger, for the same time, and the 2 MiB of a compressor that
// remembers are saved.
const compression = gzip.StatelessCompression

// acceptsGzip reports whether an answer may be compressed.
func acceptsGzip(h http.Header) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(h.Values("Accept-Encoding"), ","), ","), func(s string) bool {
		name, q, _ := strings.Cut(s, ";")
		q = strings.ReplaceAll(q, " ", "")
		refused := strings.HasPrefix(q, "q=0") && strings.Trim(q[3:], ".0") == ""
		return strings.EqualFold(strings.TrimSpace(name), "gzip") && !refused
	})
}

// logger passes promhttp's errors on.
type logger struct{ log *slog.Logger }

func (l logger) Println(v ...any) { l.log.Warn("scrape", "reason", fmt.Sprint(v...)) }
