package probe

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// worker is one with two cards.
func worker(t *testing.T) *remotetest.Worker {
	t.Helper()
	rpc := rpcstats.NewTotals(rpcstats.Names{})
	rpc.Observe("hipMalloc", "client", "hipSuccess", 1e-5)
	return remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...), Sessions: smitest.Clients{}, Calls: rpc})
}

// start starts a handler that is let go with the test.
func start(t *testing.T, opt Options) *Handler {
	t.Helper()
	h, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return h
}

func get(h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/probe?target="+target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestProbe(t *testing.T) {
	a, b := worker(t), worker(t)
	h := start(t, Options{
		Allow: []string{b.Addr}, Listed: listed{{Address: a.Addr}},
		Exporter: exporter.Options{Interval: time.Hour},
	})
	for _, w := range []*remotetest.Worker{a, b, a} {
		got := get(h, w.Addr)
		text := got.Body.String()
		if got.Code != 200 {
			t.Fatalf("%d: %s", got.Code, text)
		}
		for _, line := range []string{
			"probe_success 1", `gpu_power_watts{gpu="0"} 412`, "hip_sessions 2", "gpu_exporter_source_up 1",
			`hip_rpc_duration_seconds_count{code="hipSuccess",op="hipMalloc",side="client"} 1`, `gpu_host_info{cluster="",host="127.0.0.1",pool=""} 1`,
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s is missing", line)
			}
		}
		if !strings.Contains(text, "\nprobe_duration_seconds ") {
			t.Error("no duration")
		}
		p := expfmt.NewTextParser(model.LegacyValidation)
		if _, err := p.TextToMetricFamilies(strings.NewReader(text)); err != nil {
			t.Error(err)
		}
		if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
	}
	if n, _ := h.pool.size(); n != 2 {
		t.Errorf("%d workers are read", n)
	}
	families, err := h.own.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := promlint.NewWithMetricFamilies(families).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if w := get(h, a.Addr, "Accept", "application/openmetrics-text"); !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		t.Error("no OpenMetrics")
	}
}

func TestRefused(t *testing.T) {
	var mu sync.Mutex
	var asked []net.Addr
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			asked = append(asked, c.RemoteAddr())
			mu.Unlock()
			_ = c.Close()
		}
	}()
	h := start(t, Options{Allow: []string{"gpu-*", "10.0.0.0/8"}, Listed: listed{{Address: "unix:/run/worker.sock"}}})
	for target, code := range map[string]int{
		"": 400, ln.Addr().String(): 403, "http://" + ln.Addr().String(): 400, "unix:/run/other.sock": 403, "a&target=b": 400, "gpu-1:22": 403, "x%00y": 400,
	} {
		if w := get(h, target); w.Code != code || strings.Contains(w.Body.String(), "probe_success") {
			t.Errorf("%q: %d %s, want %d", target, w.Code, w.Body, code)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/probe?target=gpu-1", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	mu.Lock()
	defer mu.Unlock()
	if n, _ := h.pool.size(); n != 0 || len(asked) > 0 {
		t.Errorf("%d workers are read, connections from %v", n, asked)
	}
}

// A worker that is not there, or takes a connection and is silent, is a probe that
// failed, in time.
func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	h := start(t, Options{Allow: []string{"127.0.0.1:*"}, Exporter: exporter.Options{Timeout: time.Hour}})
	for _, addr := range []string{silent.Addr().String(), freeport.Nobody(t)} {
		w := get(h, addr, "X-Prometheus-Scrape-Timeout-Seconds", "0.2") // and not the hour that a question may take
		if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, "\nprobe_success 0\n") || strings.Contains(text, "gpu_power") {
			t.Errorf("%s: %d\n%s", addr, w.Code, text)
		}
	}
	for s, want := range map[string]time.Duration{
		"10": 9500 * time.Millisecond, "0.5": 250 * time.Millisecond, "": 9500 * time.Millisecond, "NaN": 9500 * time.Millisecond, "+Inf": 9500 * time.Millisecond,
		"-1": 9500 * time.Millisecond, "1e300": 59500 * time.Millisecond,
	} {
		if got := patience(s); got != want {
			t.Errorf("timeout %q: waits %v, want %v", s, got, want)
		}
	}
}

// A probe of a worker that comes back finds it.
func TestComesBack(t *testing.T) {
	addr := freeport.Later(t)
	w := remotetest.Start(t, addr, smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...)})
	h := start(t, Options{Allow: []string{addr}, Exporter: exporter.Options{Interval: 10 * time.Millisecond}})
	until := func(line string) {
		for !strings.Contains(get(h, addr).Body.String(), "\n"+line+"\n") {
			time.Sleep(5 * time.Millisecond)
		}
	}
	until("probe_success 1")
	w.Stop()
	until("probe_success 0")
	remotetest.Start(t, addr, smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...)})
	until("probe_success 1")
}

func TestPool(t *testing.T) {
	var addrs []string
	for range 4 {
		addrs = append(addrs, worker(t).Addr)
	}
	h := start(t, Options{Allow: []string{"127.0.0.1:*"}, MaxTargets: 2, Idle: time.Hour, Exporter: exporter.Options{Interval: time.Hour}})
	known := func() (list []bool) {
		h.pool.mu.Lock()
		defer h.pool.mu.Unlock()
		for _, a := range addrs {
			list = append(list, h.pool.targets[a] != nil)
		}
		return list
	}
	for _, i := range []int{0, 1, 0, 2} {
		if w := get(h, addrs[i]); !strings.Contains(w.Body.String(), "\nprobe_success 1\n") {
			t.Errorf("worker %d: %s", i, w.Body)
		}
	}
	if got, want := known(), []bool{true, false, true, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("read are %v, want %v: the one unused for longest gives way", got, want)
	}
	// Those in use do not.
	held := []*target{}
	for _, i := range []int{0, 2} {
		x, err := h.pool.take(addrs[i])
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, x)
	}
	if w := get(h, addrs[3]); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a third worker: %d", w.Code)
	}
	h.pool.sweep(time.Now().Add(2*time.Hour), h.allowed)
	if got, want := known(), []bool{true, false, true, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("read are %v, want %v: those in use stay", got, want)
	}
	for _, x := range held {
		h.pool.give(x)
	}
	h.pool.sweep(time.Now(), func(a string) bool { return a == addrs[0] })
	if got, want := known(), []bool{true, false, false, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("read are %v, want %v: one is not allowed any more", got, want)
	}
	h.pool.sweep(time.Now().Add(2*time.Hour), h.allowed)
	if n, evicted := h.pool.size(); n != 0 || evicted != 1 {
		t.Errorf("%d workers, %d evicted", n, evicted)
	}
}

// listed are workers that the operator has named.
type listed []discovery.Target

func (l listed) Targets() []discovery.Target { return l }

func (l listed) Has(address string) bool {
	return slices.ContainsFunc(l, func(t discovery.Target) bool { return t.Address == address })
}

// Workers that are listed have places of their own, however many they are: no other takes one, and they take none.
func TestListedPlaces(t *testing.T) {
	var addrs []string
	for range 5 {
		addrs = append(addrs, worker(t).Addr)
	}
	named := listed{{Address: addrs[0]}, {Address: addrs[1]}, {Address: addrs[2]}}
	h := start(t, Options{Allow: []string{"127.0.0.1:*"}, Listed: &named, MaxTargets: 1, Idle: time.Hour, Exporter: exporter.Options{Interval: time.Hour}})
	read := func(want string) {
		t.Helper()
		for _, a := range addrs {
			if w := get(h, a); !strings.Contains(w.Body.String(), "\nprobe_success 1\n") {
				t.Errorf("worker %s: %d %s", a, w.Code, w.Body)
			}
		}
		got := ""
		h.pool.mu.Lock()
		defer h.pool.mu.Unlock()
		for i, a := range addrs {
			if h.pool.targets[a] != nil {
				got += fmt.Sprint(i)
			}
		}
		if got != want {
			t.Errorf("read are %s, want %s", got, want)
		}
	}
	read("0124")
	read("0124")
	// One that is not listed any more is one of the others.
	named = named[1:]
	h.pool.sweep(time.Now(), h.allowed)
	read("124")
}

// Many at once, for the race detector; and the end while probes are under way.
func TestConcurrent(t *testing.T) {
	var addrs []string
	for range 3 {
		addrs = append(addrs, worker(t).Addr)
	}
	h := start(t, Options{Allow: []string{"127.0.0.1:*"}, MaxTargets: 2, Idle: 20 * time.Millisecond, Exporter: exporter.Options{Interval: time.Millisecond}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				if w := get(h, addrs[(i+j)%3]); w.Code != 200 && w.Code != 503 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	wg.Wait()
	h.pool.close()
	if w := get(h, addrs[0]); w.Code != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", w.Code)
	}
}

func TestSD(t *testing.T) {
	h := start(t, Options{Listed: listed{
		{Address: "gpu-1:18515", Labels: map[string]string{"pool": "a", "__meta_rack": "7"}},
		{Address: "gpu-2:18515", Labels: map[string]string{"instance": "two"}},
	}})
	ask := func(host string) (string, int) {
		r := httptest.NewRequest("GET", "/sd", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.SD().ServeHTTP(w, r)
		if w.Code == 200 && w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("type %q", w.Header().Get("Content-Type"))
		}
		return w.Body.String(), w.Code
	}
	body, _ := ask("Exporter:9400")
	var got []discovery.Group
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := []discovery.Group{
		{Targets: []string{"exporter:9400"}, Labels: map[string]string{
			"pool": "a", "__meta_rack": "7", "instance": "gpu-1:18515", "__param_target": "gpu-1:18515", "__metrics_path__": "/probe",
		}},
		{Targets: []string{"exporter:9400"}, Labels: map[string]string{"instance": "two", "__param_target": "gpu-2:18515", "__metrics_path__": "/probe"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if body, _ := ask("exporter"); !strings.Contains(body, `"exporter:80"`) {
		t.Errorf("without a port: %s", body)
	}
	for _, bad := range []string{"", "a b", "x/y", "evil\r\n"} {
		if _, code := ask(bad); code != 400 {
			t.Errorf("host %q: %d", bad, code)
		}
	}
	if body, _ := (func() (string, int) {
		w := httptest.NewRecorder()
		start(t, Options{}).SD().ServeHTTP(w, httptest.NewRequest("GET", "/sd", nil))
		return w.Body.String(), w.Code
	})(); body != "[]\n" {
		t.Errorf("without workers: %q", body)
	}
}

func TestOptions(t *testing.T) {
	var o Options
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	if err := fs.Parse(strings.Fields("--probe-allow gpu-*,10.0.0.0/8:1-9 --probe-allow x --probe-interval 2s --probe-max-targets 3 --probe-idle 1m")); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(o.Allow) != "[gpu-* 10.0.0.0/8:1-9 x]" || o.MaxTargets != 3 || o.Idle != time.Minute || o.Exporter.Interval != 2*time.Second {
		t.Errorf("%+v", o)
	}
	if fs.Parse([]string{"--probe-allow", "gpu:x"}) == nil {
		t.Error("a bad pattern")
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !regexp.MustCompile(`(?m)^  --` + f.Name + ` `).MatchString(Usage()) {
			t.Errorf("the help lacks --%s", f.Name)
		}
	})
	for _, bad := range []Options{{Allow: []string{"gpu:x"}}, {Client: smiremote.Options{Address: "x"}}, {Exporter: exporter.Options{Compat: "x"}}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
