package otlp

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxReply bounds what is read of an answer.
const maxReply = 64 << 10

// httpSender posts requests.
type httpSender struct {
	client  *http.Client
	url     string
	headers http.Header
	gzip    bool
	reply   reply
	taken   func(partial)
}

func newHTTPSender(s *Signal, t target, agent string, r reply, taken func(partial)) (*httpSender, error) {
	c, err := s.tls()
	if err != nil {
		return nil, err
	}
	h := http.Header{"User-Agent": {agent}, "Content-Type": {"application/x-protobuf"}}
	for _, a := range s.Headers {
		h.Set(a.Key, a.Value)
	}
	if !s.NoGzip {
		h.Set("Content-Encoding", "gzip")
	}
	return &httpSender{
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, TLSClientConfig: c, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: 90 * time.Second,
				DialContext: (&net.Dialer{Timeout: s.Timeout}).DialContext, MaxResponseHeaderBytes: maxReply,
			},
			// A redirection would lose the body or hand the headers to somebody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		url: t.url, headers: h, gzip: !s.NoGzip, reply: r, taken: taken,
	}, nil
}

// send is a pusher's Send.
func (s *httpSender) send(ctx context.Context, record []byte) error {
	body := record
	if !s.gzip {
		var err error
		if body, err = unpack(record); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = s.headers.Clone()
	if host := req.Header.Get("Host"); host != "" { // net/http takes it from elsewhere
		req.Host = host
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err // with the address, whose password net/http hides
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return httpOutcome(resp.StatusCode, resp.Header, answer, time.Now())
	}
	if err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/x-protobuf") {
		s.taken(readReply(s.reply, answer))
	}
	return nil
}

func (s *httpSender) close() { s.client.CloseIdleConnections() }

// readReply is what an answer says; one that makes no sense is told, but the request was
// taken all the same.
func readReply(r reply, answer []byte) partial {
	p, err := r(answer)
	if err != nil {
		return partial{message: errReply.Error()}
	}
	return p
}
