package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi/smitest"
)

func noEnv(string) string { return "" }

// options are those of a command line.
func options(t *testing.T, args ...string) Options {
	t.Helper()
	o := Options{Listen: "127.0.0.1:0", Flag: "--listen"}
	if err := o.FromEnv(noEnv); err != nil {
		t.Fatal(err)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

// running is a service that runs until the end of the test, or stop.
type running struct {
	*Service
	base string
	stop func() error
	log  *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	r := &running{log: &logBuffer{}}
	var err error
	r.Service, err = New(o, Source{Cards: smitest.NewFake(smitest.Cards()...), Sessions: smitest.Clients{}, Program: "test", Version: "1.2.3"},
		slog.New(slog.NewTextHandler(r.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	if r.listener != nil {
		r.base = strings.TrimSuffix(r.URL(), "/metrics")
	}
	return r
}

// eventually waits for something that other goroutines do.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

// answer is what a GET is answered with; code 0: nothing.
type answer struct {
	code   int
	header http.Header
	body   string
	err    error
}

func get(c *http.Client, url string, auth ...string) (a answer) {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return answer{err: err}
	}
	if len(auth) == 2 {
		r.SetBasicAuth(auth[0], auth[1])
	}
	resp, err := c.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

func TestServes(t *testing.T) {
	r := start(t, options(t, "--host", "gpu-1", "--cluster", "eu", "--pool", "training"))
	c := http.DefaultClient
	eventually(t, "ready", func() bool { return get(c, r.base+"/-/ready").code == 200 })
	a := get(c, r.URL())
	for _, want := range []string{
		"\ngpu_power_watts{", "\nhip_sessions 2\n", "\ngo_goroutines ", `cluster="eu",host="gpu-1",pool="training"`,
		`gpu_exporter_build_info{`, "\ngpu_exporter_probe",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("/metrics has no %q", want)
		}
	}
	for header, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
	} {
		if !strings.Contains(a.header.Get(header), want) {
			t.Errorf("%s: %q", header, a.header.Get(header))
		}
	}
	for path, want := range map[string]struct {
		code int
		body string
	}{
		"/-/healthy":                {200, "healthy"},
		"/":                         {200, "gpu-1"},
		"/sd":                       {200, "[]"},
		"/probe?target=192.0.2.1:1": {403, "--probe-allow"},
		"/debug/pprof/":             {404, ""},
		"/nothing":                  {404, ""},
	} {
		if a := get(c, r.base+path); a.code != want.code || !strings.Contains(a.body, want.body) {
			t.Errorf("%s: %d %s", path, a.code, a.body)
		}
	}
	if a := get(c, r.base+"/"); !strings.Contains(a.header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Error("the page has not its own policy", a.header)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if a := get(c, r.URL()); a.err == nil {
		t.Error("still serving")
	}
}

func TestProfiles(t *testing.T) {
	r := start(t, options(t, "--web-debug"))
	if a := get(http.DefaultClient, r.base+"/debug/pprof/goroutine?debug=1"); a.code != 200 || !strings.Contains(a.body, "goroutine profile") {
		t.Error(a)
	}
	req := httptest.NewRequest("GET", "/debug/pprof/goroutine?debug=1", nil)
	for host, code := range map[string]int{
		"localhost:9400": 200, "127.0.0.1": 200, "[::1]:9400": 200, "[::1]": 200, "evil.example": 403, "localhost.evil.example:9400": 403, "10.0.0.1:9400": 403, "": 403,
	} {
		req.Host = host
		w := httptest.NewRecorder()
		r.server.Handler.ServeHTTP(w, req)
		if w.Code != code {
			t.Errorf("%q: %d", host, w.Code)
		}
	}
}

// A request too many waits for its turn, is told so when that does not come, and does not take the service's life signs away.
func TestCapped(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	h := capped(2, 50*time.Millisecond, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			in <- true
			<-out
		}
	}))
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { ask("/slow") })
		<-in
	}
	if w := ask("/metrics"); w.Code != 503 || !strings.Contains(w.Body.String(), "--web-max-requests") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask("/-/healthy"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(out)
	wg.Wait()
	if w := ask("/metrics"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// One whose turn comes is answered.
	entered, leave := make(chan bool, 2), make(chan bool)
	h = capped(1, time.Hour, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- true
		<-leave
	}))
	for range 2 {
		wg.Go(func() {
			if w := ask("/metrics"); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	<-entered
	leave <- true
	<-entered
	leave <- true
	wg.Wait()
}

func TestPanicContained(t *testing.T) {
	var log bytes.Buffer
	h := contained(slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("told") }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
	if w.Code != 500 || !strings.Contains(log.String(), "told") || strings.Contains(w.Body.String(), "told") {
		t.Errorf("%d %s %s", w.Code, w.Body, log.String())
	}
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("an aborted request is not passed on")
		}
	}()
	contained(slog.New(slog.DiscardHandler), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).ServeHTTP(w, nil)
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--interval", "1ms"}, "less than 100ms"},
		{[]string{"--slow-interval", "1ms"}, "less than 1s"},
		{[]string{"--max-processes", "0"}, "--max-processes"},
		{[]string{"--max-series", "-1"}, "--max-series"},
		{[]string{"--web-max-requests", "0"}, "--web-max-requests"},
		{[]string{"--queue-max-age", "0s"}, "--queue-max-age"},
		{[]string{"--queue-dir", "relative"}, "absolute"},
		{[]string{"--push-interval", "1ms"}, "--push-interval"},
		{[]string{"--otlp-endpoint", "ftp://x"}, "OTLP"},
		{nil, ""},
	} {
		o := options(t, c.args...)
		if err := o.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.args, err)
		}
	}
	if o := options(t, "--influx-url", "http://x", "--influx-bucket", "b"); !o.Sends() {
		t.Error("no sink")
	} else if o.Listen = ""; o.Check() != nil {
		t.Error("a sink alone is not enough")
	}
	for _, listen := range []string{"", "9400", "host", "host:"} {
		o := options(t)
		o.Listen = listen
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "--listen") {
			t.Errorf("%q: %v", listen, err)
		}
	}
}

func TestFromEnv(t *testing.T) {
	var o Options
	env := map[string]string{
		"NODE_NAME": "n", "ROCWIRE_CLUSTER": "c", "ROCWIRE_POOL": "p", "ROCWIRE_WEB_CONFIG": "/w", "STATE_DIRECTORY": "/var/lib/a:/var/lib/b",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318",
	}
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil {
		t.Fatal(err)
	}
	if o.Place.Host != "n" || o.Place.Cluster != "c" || o.Place.Pool != "p" || o.WebConfig != "/w" || o.Queue.Dir != "/var/lib/a/queue" || !o.TracesEnabled() {
		t.Errorf("%+v", o)
	}
	env["ROCWIRE_QUEUE_DIR"], env["ROCWIRE_HOST"] = "/q", "h"
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil || o.Queue.Dir != "/q" || o.Place.Host != "h" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"ROCWIRE_PUSH_INTERVAL", "ROCWIRE_EBPF", "ROCWIRE_PAGE_HISTORY"} {
		if err := new(Options).FromEnv(func(k string) string { return map[string]string{bad: "bad"}[k] }); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for remote, want := range map[string]string{"gpu-7": "gpu-7", "10.0.0.7": "10.0.0.7"} {
		if got := hostOf(remote); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, remote := range []string{"", "localhost", "::1", "127.0.0.1"} {
		if got := hostOf(remote); got != own {
			t.Errorf("%s: %s", remote, got)
		}
	}
}

// What a sink's server does not take is there after a restart, and is told of meanwhile.
func TestSinkOutlivesRestart(t *testing.T) {
	var down atomic.Bool
	var taken atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		taken.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	down.Store(true)
	dir := t.TempDir()
	args := []string{"--influx-url", server.URL, "--influx-bucket", "b", "--push-interval", "1s", "--queue-dir", dir}
	r := start(t, options(t, args...))
	has := func(line string) func() bool {
		return func() bool { return strings.Contains(get(http.DefaultClient, r.URL()).body, "\n"+line) }
	}
	eventually(t, "records wait", has(`gpu_exporter_sink_queue_records{sink="influxdb"} 2`))
	eventually(t, "the server is down", has(`gpu_exporter_sink_up{sink="influxdb"} 0`))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.log.String(), "wait on disk") {
		t.Errorf("the log does not say where figures wait:\n%s", r.log)
	}
	if _, err := New(options(t, args...), Source{}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a service without cards")
	}
	down.Store(false)
	r = start(t, options(t, args...))
	eventually(t, "the old records arrive", func() bool { return taken.Load() >= 3 })
	eventually(t, "the server is up", has(`gpu_exporter_sink_up{sink="influxdb"} 1`))
	// Another one may not use the same folder.
	_, err := New(options(t, args...), Source{Cards: smitest.NewFake(smitest.Cards()...)}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second one: %v", err)
	}
	before := taken.Load()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if taken.Load() <= before {
		t.Error("the last figures were not sent at the end")
	}
	r = start(t, options(t, args[:6]...))
	if !strings.Contains(r.log.String(), "wait in memory") {
		t.Errorf("the log does not say where figures wait:\n%s", r.log)
	}
}

// Without an address there are sinks only.
func TestSinksOnly(t *testing.T) {
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Path
	}))
	defer server.Close()
	o := options(t, "--otlp-endpoint", server.URL, "--otlp-interval", "1s")
	o.Listen = ""
	r := start(t, o)
	if path := <-got; path != "/v1/metrics" {
		t.Error(path)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	o := options(t)
	o.Listen = ln.Addr().String()
	if _, err := New(o, Source{Cards: smitest.NewFake()}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
}

// clientWith makes a new connection for each request.
func clientWith(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}
