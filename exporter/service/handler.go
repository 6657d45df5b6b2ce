package service

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"
)

// contained answers 500 for a request whose handler panics, and says why in the log.
func contained(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch reason := recover(); reason {
			case nil:
			case http.ErrAbortHandler:
				panic(reason) // it wants the connection to end
			default:
				log.Error("a request cannot be answered", "path", r.URL.Path, "panic", reason, "stack", string(debug.Stack()))
				http.Error(w, "this request cannot be answered", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// turnTime is how long a request waits for its turn: scrapes of many workers come as they like, and what answers them may be
// short of processors for a moment.
const turnTime = 5 * time.Second

// capped answers at most n requests at once; others wait so long for their turn, and are refused then. Whether the process lives
// is told nevertheless.
func capped(n int, wait time.Duration, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/") {
			next.ServeHTTP(w, r)
			return
		}
		turn := time.NewTimer(wait)
		defer turn.Stop()
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		case <-turn.C:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at once (--web-max-requests)", http.StatusServiceUnavailable)
		}
	})
}

// careful has browsers take what is served for nothing but what it is. The operator's
// own headers stay; the page has stricter ones.
func careful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for k, v := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"Referrer-Policy":         "no-referrer",
			"X-Content-Type-Options":  "nosniff",
			"Cache-Control":           "no-store",
		} {
			if h.Get(k) == "" {
				h.Set(k, v)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// profiles serves profiles of the process to whoever asks this machine for them by a
// loopback name.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopbackName(r.Host) {
			http.Error(w, "ask for localhost", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// loopbackName reports whether a Host header names this machine's loopback interface.
func loopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}
