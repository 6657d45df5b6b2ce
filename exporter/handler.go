package exporter

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are answered at once; more get 503.
const maxScrapes = 16

// Handler serves
//
//	/metrics     the metrics, as text, OpenMetrics or protobuf
//	/-/healthy   200 while the process serves
//	/-/ready     200 once the GPUs were asked for the first time, 503 before
//
// The page for people at / is package page's.
func (e *Exporter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(e.gatherer, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError, // one bad series must not hide the others
		ErrorLog:            logger{e.opt.Log},
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	}))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "healthy") })
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if !e.poll.ready() {
			http.Error(w, "the GPUs have not been read yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}

// logger passes promhttp's errors on.
type logger struct{ log *slog.Logger }

func (l logger) Println(v ...any) { l.log.Warn("scrape", "reason", fmt.Sprint(v...)) }
