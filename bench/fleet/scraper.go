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

// scraper asks an exporter for workers as Prometheus does: compressed, in the format that it likes best, with its time limit.
type scraper struct {
	exporter, port string
	client         http.Client

	mu    sync.Mutex
	times []time.Duration
	bytes int64 // compressed
	bad   int
	first string // why the first one failed
}

// scrapeTimeout is Prometheus' own default.
const scrapeTimeout = 10 * time.Second

func newScraper(exporter, port string) *scraper {
	// As many idle connections as Prometheus keeps.
	return &scraper{exporter: exporter, port: port, client: http.Client{Timeout: scrapeTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}}
}

func (s *scraper) close() { s.client.CloseIdleConnections() }

// wait returns when the exporter knows its workers.
func (s *scraper) wait(ctx context.Context) error {
	for range 200 {
		err := s.scrape(ctx, 0)
		if err == nil || ctx.Err() != nil {
			s.forget()
			return ctx.Err()
		}
		pause(ctx, 50*time.Millisecond)
	}
	return s.scrape(ctx, 0)
}

func (s *scraper) forget() { s.times, s.bytes, s.bad, s.first = nil, 0, 0, "" }

func (s *scraper) failed() bool { return s.bad > 0 }

func (s *scraper) why() string {
	return fmt.Sprintf("%d of %d scrapes fail: %s", s.bad, s.bad+len(s.times), s.first)
}

// round scrapes n workers, spread over a time; 0 is as fast as some at once can be.
func (s *scraper) round(ctx context.Context, n int, over time.Duration) {
	const together = 16
	slots := make(chan struct{}, together)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range n {
		if over > 0 {
			pause(ctx, time.Until(begin.Add(over*time.Duration(i)/time.Duration(n))))
		} else {
			slots <- struct{}{}
		}
		wg.Go(func() {
			if over == 0 {
				defer func() { <-slots }()
			}
			at := time.Now()
			err := s.scrape(ctx, i)
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
	req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", fmt.Sprint(scrapeTimeout.Seconds()))
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
