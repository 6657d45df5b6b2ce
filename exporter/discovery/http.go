package discovery

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// httpSource asks a URL.
type httpSource struct {
	url      *url.URL
	interval time.Duration
	client   *http.Client
}

// httpTimeout is how long an answer may take.
const httpTimeout = 20 * time.Second

func newHTTPSource(raw string, interval time.Duration) (*httpSource, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no http:// or https:// URL", raw)
	}
	return &httpSource{url: u, interval: interval, client: &http.Client{
		Timeout: httpTimeout,
		// A list of workers comes from where the operator said, or from nowhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (h *httpSource) name() string          { return h.url.Redacted() }
func (h *httpSource) period() time.Duration { return h.interval }

func (h *httpSource) read(ctx context.Context) ([]Target, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "rocwire")
	req.Header.Set("X-Prometheus-Refresh-Interval-Seconds", strconv.FormatFloat(h.interval.Seconds(), 'f', -1, 64))
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("%s: %s", h.url.Redacted(), resp.Status)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, 0, fmt.Errorf("%s: %w: its type is %.100q, not application/json", h.url.Redacted(), ErrFormat, resp.Header.Get("Content-Type"))
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, MaxBytes+1))
	if err != nil {
		return nil, 0, err
	}
	return ParseJSON(b)
}
