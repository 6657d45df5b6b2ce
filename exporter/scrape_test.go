package exporter

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCompression(t *testing.T) {
	e := start(t, Options{})
	e.Poll(t.Context())
	plain := e.metrics(t)
	for accept, zipped := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "identity": false, "": false, "xgzip": false, "gzip;q=0.01": true,
	} {
		w := e.get(t, "/metrics", "Accept-Encoding", accept)
		body := w.Body.Bytes()
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("%q: compressed %v", accept, got)
			continue
		}
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != plain {
			t.Errorf("%q: another text", accept)
		}
	}
}

// stuckWriter is a scraper that takes nothing until it is let.
type stuckWriter struct {
	http.ResponseWriter
	stuck  chan<- struct{}
	resume <-chan struct{}
}

func (s *stuckWriter) Write(b []byte) (int, error) {
	s.stuck <- struct{}{}
	<-s.resume
	return s.ResponseWriter.Write(b)
}

func TestTooManyScrapes(t *testing.T) {
	e := start(t, Options{})
	e.Poll(t.Context())
	stuck, resume := make(chan struct{}), make(chan struct{})
	ended := make(chan int)
	for range maxScrapes {
		go func() {
			w := httptest.NewRecorder()
			e.h.ServeHTTP(&stuckWriter{w, stuck, resume}, httptest.NewRequest("GET", "/metrics", nil))
			ended <- w.Code
		}()
		<-stuck
	}
	if w := e.get(t, "/metrics"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one scrape too many: %d", w.Code)
	}
	if w := e.get(t, "/-/healthy"); w.Code != 200 {
		t.Errorf("healthy: %d", w.Code)
	}
	go func() {
		for range stuck { // whatever is still written
		}
	}()
	close(resume)
	for range maxScrapes {
		if code := <-ended; code != 200 {
			t.Errorf("a slow scrape: %d", code)
		}
	}
	close(stuck)
	if w := e.get(t, "/metrics"); w.Code != 200 {
		t.Errorf("afterwards: %d", w.Code)
	}
}
