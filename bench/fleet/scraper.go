package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// scraper asks an exporter for workers as Prometheus does: compressed, in the format that it likes best. It has more patience, and asks for a few at once:
// what is measured is the work, on a machine that may be busy with something else.
type scraper struct {
	exporter, port string
	client         http.Client
	patience       time.Duration

	mu    sync.Mutex
	times []time.Duration
	bytes int64  // compressed
	again int    // scrapes that failed, and were tried once more
	bad   int    // those that failed until nobody had patience any more
	first string // why the first one failed
}

// together is how many workers are asked for at once: less than an exporter answers (--web-max-requests).
const together = 32

func newScraper(exporter, port string, patience time.Duration) *scraper {
	// As many idle connections as Prometheus keeps.
	return &scraper{exporter: exporter, port: port, patience: patience, client: http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}}
}

func (s *scraper) close() { s.client.CloseIdleConnections() }

// wait returns when the exporter knows its workers.
func (s *scraper) wait(ctx context.Context) error {
	defer s.forget()
	return s.insist(ctx, 0)
}

// insist scrapes a worker until that succeeds, as Prometheus does the next time.
func (s *scraper) insist(ctx context.Context, i int) error {
	for begin := time.Now(); ; pause(ctx, 50*time.Millisecond) {
		err := s.scrape(ctx, i)
		if err == nil || ctx.Err() != nil || time.Since(begin) > s.patience {
			return err
		}
		s.mu.Lock()
		s.again++
		s.mu.Unlock()
	}
}

func (s *scraper) forget() { s.times, s.bytes, s.again, s.bad, s.first = nil, 0, 0, 0, "" }

func (s *scraper) failed() bool { return s.bad > 0 }

func (s *scraper) why() string {
	return fmt.Sprintf("%d of %d scrapes fail: %s", s.bad, s.bad+len(s.times), s.first)
}

// round scrapes n workers, spread over a time; 0 is as fast as some at once can be.
func (s *scraper) round(ctx context.Context, n int, over time.Duration) {
	slots := make(chan struct{}, together)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range n {
		if over > 0 {
			pause(ctx, time.Until(begin.Add(over*time.Duration(i)/time.Duration(n))))
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			at := time.Now()
			err := s.insist(ctx, i)
			s.mu.Lock()
			defer s.mu.Unlock()
			if err == nil {
				s.times = append(s.times, time.Since(at))
				return
			}
			if s.bad++; s.first == "" {
				s.first = err.Error()
			}
		})
	}
	wg.Wait()
}

// scrape asks for a worker; an error is, too, that not all of it is in the answer.
func (s *scraper) scrape(ctx context.Context, i int) error {
	u := url.URL{Scheme: "http", Host: s.exporter, Path: "/probe", RawQuery: url.Values{"target": {address(i, s.port)}}.Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", fmt.Sprint(s.patience.Seconds()))
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s", res.Status, body)
	}
	s.mu.Lock()
	s.bytes += int64(len(body))
	s.mu.Unlock()
	if res.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("not compressed")
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte("\nprobe_success 1")) {
		return fmt.Errorf("the worker %s could not be asked", address(i, s.port))
	}
	if n := strings.Count(string(text), fmt.Sprintf("-%012x\"", i)); n < cardsOf { // of gpu_info, with the numbers that only this worker's cards have
		return fmt.Errorf("%d of %d cards of worker %s are there", n, cardsOf, address(i, s.port))
	}
	return nil
}
