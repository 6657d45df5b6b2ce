package exporter

import (
	"fmt"
	"net/http"
)

// Handler serves
//
//	/metrics     the metrics, as text, OpenMetrics or protobuf
//	/-/healthy   200 while the process serves
//	/-/ready     200 once every GPU was asked for the first time, 503 before
//
// The page for people at / is package page's.
func (e *Exporter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrapeHandler(e, e.opt.Log, maxScrapes))
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
