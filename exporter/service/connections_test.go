package service

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Whoever opens connections without end takes descriptors from nobody, and scrapes are answered all the time.
func TestConnectionsAreBounded(t *testing.T) {
	o := options(t, "--web-max-connections", "20")
	r := start(t, o)
	addr := r.listener.Addr().String()
	kept := &http.Client{Transport: &http.Transport{}} // one connection that is used again and again
	scrape := func(c *http.Client) {
		t.Helper()
		res, err := c.Get(r.base + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || len(b) == 0 {
			t.Fatalf("%s, %d bytes, %v", res.Status, len(b), err)
		}
	}
	for i := range 300 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		switch i % 3 {
		case 0: // half a request
			_, _ = c.Write([]byte("GET /metrics HTTP/1.1\r\nHost: x\r\n"))
		case 1: // a whole one, and then idle
			_, _ = c.Write([]byte("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"))
		}
		if i%30 == 0 {
			scrape(kept)
			fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			scrape(fresh)
		}
		r.conns.mu.Lock()
		n := len(r.conns.all)
		r.conns.mu.Unlock()
		if n > 20 {
			t.Fatalf("%d connections", n)
		}
	}
	scrape(kept)
	kept.CloseIdleConnections()
}

// A request that is being answered is not cut off, whoever comes; when all are busy the newcomer goes.
func TestBusyConnectionsStay(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS} {
		t.Run(name, func(t *testing.T) { busyConnectionsStay(t, start) })
	}
}

func busyConnectionsStay(t *testing.T, start func(*httptest.Server)) {
	c := newConnections(2)
	gate, entered := make(chan struct{}), make(chan struct{}, 9)
	s := httptest.NewUnstartedServer(c.busy(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-gate
	})))
	s.Listener = limited{s.Listener, c}
	s.Config.ConnContext = c.within
	start(s)
	defer s.Close()
	done := make(chan error, 2)
	for range 2 {
		go func() {
			tr := &http.Transport{DisableKeepAlives: true}
			if s.Certificate() != nil {
				tr.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			}
			res, err := (&http.Client{Transport: tr}).Get(s.URL)
			if err == nil {
				err = res.Body.Close()
			}
			done <- err
		}()
		<-entered
	}
	late, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	_ = late.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := late.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the newcomer read %d bytes, %v", n, err)
	}
	close(gate)
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("a busy one: %v", err)
		}
	}
}

// The address that has most makes room first.
func TestGreedyAddressMakesRoom(t *testing.T) {
	c := newConnections(4)
	at := func(addr string) *connection {
		a, b := net.Pipe()
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		return c.add(from{a, addr})
	}
	other := at("192.0.2.1:1")
	for range 10 {
		at("192.0.2.2:1")
	}
	if _, ok := c.all[other]; !ok || len(c.all) != 4 || c.by["192.0.2.2"] != 3 {
		t.Errorf("%d connections, by address %v", len(c.all), c.by)
	}
	for x := range c.all {
		_ = x.Close()
		_ = x.Close()
	}
	if len(c.all)+len(c.by) != 0 {
		t.Errorf("%d connections, by address %v are left", len(c.all), c.by)
	}
}

type from struct {
	net.Conn
	addr string
}

func (f from) RemoteAddr() net.Addr {
	a, err := net.ResolveTCPAddr("tcp", f.addr)
	if err != nil {
		panic(err)
	}
	return a
}

// A web page that has its own name lead here gets nothing.
func TestForeignHosts(t *testing.T) {
	o := options(t, "--web-allowed-hosts", "metrics.example.com, other.example.org:9400")
	o.Place.Host = "gpu1.example.net"
	r := start(t, o)
	for host, want := range map[string]int{
		"evil.example":                     http.StatusForbidden,
		"evil.example:9400":                http.StatusForbidden,
		"127.0.0.1.evil.example":           http.StatusForbidden,
		"localhost.evil.example":           http.StatusForbidden,
		"svc.evil.example":                 http.StatusForbidden,
		"metrics.example.com.evil.co":      http.StatusForbidden,
		"localhost":                        http.StatusOK,
		"LOCALHOST:1234":                   http.StatusOK,
		"127.0.0.1":                        http.StatusOK,
		"192.0.2.7:80":                     http.StatusOK,
		"[::1]:9400":                       http.StatusOK,
		"[2001:db8::1]":                    http.StatusOK,
		"gpu1.example.net":                 http.StatusOK,
		"gpu1.example.net.:9400":           http.StatusOK,
		"metrics.example.com":              http.StatusOK,
		"other.example.org:1":              http.StatusOK,
		"hip-worker":                       http.StatusOK,
		"hip-worker.gpu.svc:9400":          http.StatusOK,
		"hip-worker.gpu.svc.cluster.local": http.StatusOK,
	} {
		for _, path := range []string{"/metrics", "/", "/api/v1/status", "/-/healthy"} {
			q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Host = host
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s for %s: %s", path, host, res.Status)
			}
			if want == http.StatusForbidden && !strings.Contains(string(b), "--web-allowed-hosts") {
				t.Errorf("%s for %s: %q", path, host, b)
			}
		}
	}
	every := options(t, "--web-allowed-hosts", "*")
	none := options(t)
	if !every.hostNames().allow("any.example") || none.hostNames().allow("any.example") {
		t.Error("every name is not every name")
	}
}
