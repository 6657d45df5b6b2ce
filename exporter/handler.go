package exporter

import (
	"fmt"
	"html"
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
//	/            a page with these links
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
	mux.HandleFunc("GET /{$}", e.index)
	return mux
}

func (e *Exporter) index(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	v := e.poll.view()
	state := fmt.Sprintf("%d GPUs.", len(v.cards))
	if v.err != nil {
		state = "The GPUs cannot be read: " + v.err.Error()
	}
	fmt.Fprintf(w, indexPage, html.EscapeString(state), html.EscapeString(e.opt.Version))
}

const indexPage = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>rocwire exporter</title>
<style>:root{color-scheme:light dark} body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}</style>
</head><body><h1>rocwire exporter</h1>
<p>%s</p>
<ul><li><a href="/metrics">/metrics</a></li><li><a href="/-/healthy">/-/healthy</a></li><li><a href="/-/ready">/-/ready</a></li></ul>
<p><small>Version %s</small></p>
</body></html>
`

// logger passes promhttp's errors on.
type logger struct{ log *slog.Logger }

func (l logger) Println(v ...any) { l.log.Warn("scrape", "reason", fmt.Sprint(v...)) }
