package access

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/rocwire/rocwire/internal/outbound"
)

// Limits of asking an issuer.
const (
	httpTime  = 5 * time.Second
	maxAnswer = 1 << 20
	// askEvery and askBurst bound how often strangers, with tokens of keys that nobody knows, make the worker ask.
	askEvery = time.Second
	askBurst = 10
)

// issuerClient makes the HTTP client that asks an issuer. bearer is a file with a token to show, "" for none.
func issuerClient(ca, bearer string) (*http.Client, error) {
	t := outbound.TLS{CA: ca}
	c, err := t.Config("")
	if err != nil {
		return nil, err
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: c, ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: time.Minute,
		DialContext: (&net.Dialer{Timeout: httpTime}).DialContext, TLSHandshakeTimeout: httpTime, ResponseHeaderTimeout: httpTime,
	}
	return &http.Client{
		Timeout:       httpTime,
		Transport:     &issuerTransport{base: base, bearer: bearer, rate: rate.NewLimiter(rate.Every(askEvery), askBurst)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token of bearer is for one server
	}, nil
}

// issuerTransport bounds what an issuer answers and how often it is asked. All that it does not answer is ErrAway.
type issuerTransport struct {
	base   http.RoundTripper
	bearer string
	rate   *rate.Limiter
}

func (t *issuerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.rate.Allow() {
		return nil, fmt.Errorf("%w: it was asked too often", ErrAway)
	}
	if t.bearer != "" {
		token, err := outbound.ReadSecret(t.bearer) // Kubernetes replaces it from time to time
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAway, err)
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: %s answers %s", ErrAway, r.URL.Redacted(), resp.Status)
	}
	resp.Body = &boundedBody{Reader: io.LimitReader(resp.Body, maxAnswer), Closer: resp.Body}
	return resp, nil
}

// boundedBody is a body that ends early where it is too long.
type boundedBody struct {
	io.Reader
	io.Closer
}

// checkURL refuses what anybody on the way could answer for. A name that is never asked may be any URL.
func checkURL(s string, asked bool) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		return fmt.Errorf("%q is no URL", printed(s))
	case u.User != nil:
		return errors.New("there is a user in the URL")
	case asked && u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return fmt.Errorf("%s: who vouches for others is asked by https", printed(s))
	}
	return nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
