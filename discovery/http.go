package discovery

import (
	"context"
	"crypto/tls"
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

// askTimeout is how long an answer may take.
const askTimeout = 20 * time.Second

// newHTTPClient asks servers; nil is TLS as this machine has it.
func newHTTPClient(t *tls.Config) *http.Client {
	c := &http.Client{
		Timeout: askTimeout,
		// A list of workers comes from where the operator said, or from nowhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if t != nil {
		tr := http.DefaultTransport.(*http.Transport).Clone()
		tr.TLSClientConfig = t
		c.Transport = tr
	}
	return c
}

func (h *httpSource) name() string          { return h.url.Redacted() }
func (h *httpSource) period() time.Duration { return h.interval }

func (h *httpSource) read(ctx context.Context) ([]Target, int, error) {
	b, err := getJSON(ctx, h.client, h.url, http.Header{
		"X-Prometheus-Refresh-Interval-Seconds": {strconv.FormatFloat(h.interval.Seconds(), 'f', -1, 64)},
	})
	if err != nil {
		return nil, 0, err
	}
	return ParseJSON(b)
}

// getJSON asks for a document of at most MaxBytes, with a header that it adds to. One that is longer has a byte more than that.
func getJSON(ctx context.Context, client *http.Client, u *url.URL, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "rocwire")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", u.Redacted(), resp.Status)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fmt.Errorf("%s: %w: its type is %.100q, not application/json", u.Redacted(), ErrFormat, resp.Header.Get("Content-Type"))
	}
	return io.ReadAll(io.LimitReader(resp.Body, MaxBytes+1))
}
