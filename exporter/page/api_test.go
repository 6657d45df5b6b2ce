package page

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

func get(p http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("%s differs at line %d (go test -rewrite writes it anew):\n got %s\nwant %s", file, i+1, g[i], w[i])
			}
		}
		t.Fatalf("%s has %d lines, want %d (go test -rewrite writes it anew)", file, len(g), len(w))
	}
}

// The answers are what they were: others read them.
func TestAPIIsStable(t *testing.T) {
	w := newWorld(2, 3)
	w.sinks = someSinks(w.now().Add(time.Minute))
	p := w.page(t, Options{}, 90*time.Second)
	for name, path := range map[string]string{
		"status.json":    "/api/v1/status",
		"history.json":   "/api/v1/history?minutes=1&points=6&gpu=1",
		"most.json":      "/api/v1/history?minutes=1&points=4&metric=gpu_process_vram_bytes&metric=hip_session_calls_per_second&top=2",
		"calls.json":     "/api/v1/calls?minutes=1",
		"functions.json": "/api/v1/functions?minutes=1&points=3&top=2",
		"latency.json":   "/api/v1/latency?minutes=1&points=4&op=hipMalloc",
	} {
		r := get(p, path)
		if r.Code != 200 || r.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %s", path, r.Code, r.Body)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, r.Body.Bytes(), "", " "); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		golden(t, name, append(b.Bytes(), '\n'))
	}
	golden(t, "page.html", bytes.ReplaceAll(get(p, "/").Body.Bytes(), []byte(assetVersion), []byte("VERSION")))
}

// What continues an answer joins it as if all had been asked for at once.
func TestSinceContinues(t *testing.T) {
	for _, path := range []string{"/api/v1/history?metric=gpu_power_watts&minutes=10&points=30", "/api/v1/latency?minutes=10&points=30"} {
		w := newWorld(1, 2)
		p := w.page(t, Options{}, 4*time.Minute)
		type answer struct {
			Begin  float64
			Step   float64 `json:"step_seconds"`
			Count  int
			Series []struct{ Values []any }
			Rate   []any `json:"calls_per_second"`
		}
		ask := func(more string) (a answer) {
			r := get(p, path+more)
			if err := json.Unmarshal(r.Body.Bytes(), &a); err != nil || r.Code != 200 {
				t.Fatalf("%d %s %v", r.Code, r.Body, err)
			}
			if a.Rate == nil {
				a.Rate = a.Series[0].Values
			}
			return a
		}
		joined := ask("")
		for range 20 {
			w.pass(p, 15*time.Second)
			last := joined.Begin + joined.Step*float64(joined.Count-1)
			more := ask("&since=" + sprint(int64(last)))
			keep := int((more.Begin - joined.Begin) / joined.Step)
			joined.Rate = append(joined.Rate[:keep:keep], more.Rate...)
			joined.Count = len(joined.Rate)
		}
		all := ask("")
		skip := int((all.Begin - joined.Begin) / joined.Step)
		if len(joined.Rate)-skip != all.Count {
			t.Fatalf("%s: %d points, want %d", path, len(joined.Rate)-skip, all.Count)
		}
		known := 0
		for i, v := range all.Rate {
			if joined.Rate[skip+i] != v {
				t.Errorf("%s: point %d is %v, want %v", path, i, joined.Rate[skip+i], v)
			}
			if v != nil {
				known++
			}
		}
		if known < all.Count/2 {
			t.Errorf("%s: %d of %d points are known", path, known, all.Count)
		}
	}
}

func TestBadParameters(t *testing.T) {
	p := newWorld(1, 1).page(t, Options{}, 0)
	for _, path := range []string{
		"history?minutes=x", "history?minutes=-1", "history?points=0", "history?points=1e9", "history?minutes=NaN", "latency?minutes=1e99",
		"history?since=-5", "history?top=-1", "calls?minutes=Inf", "history?top=1e300",
	} {
		r := get(p, "/api/v1/"+path)
		var v struct{ Error string }
		if r.Code != 400 || json.Unmarshal(r.Body.Bytes(), &v) != nil || v.Error == "" {
			t.Errorf("%s: %d %s", path, r.Code, r.Body)
		}
	}
	for path, code := range map[string]int{"/api/v1/none": 404, "/x": 404, "/assets/x/page.html": 404, "/assets/x/..%2fpage.go": 404, "/api/v1/latency?op=%00none": 200, "/api/v1/history?since=9e8": 200} {
		if r := get(p, path); r.Code != code {
			t.Errorf("%s: %d, want %d", path, r.Code, code)
		}
	}
	r := httptest.NewRecorder()
	p.ServeHTTP(r, httptest.NewRequest("POST", "/api/v1/status", nil))
	if r.Code != 405 {
		t.Errorf("POST: %d", r.Code)
	}
}

// Answers are compressed, and not sent again to who has them.
func TestTransfer(t *testing.T) {
	w := newWorld(4, 8)
	p := w.page(t, Options{}, time.Minute)
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/history", "/api/v1/calls", "/api/v1/latency", "/assets/" + assetVersion + "/page.css", "/assets/old/app.js"} {
		plain, z := get(p, path), get(p, path, "Accept-Encoding", "br, gzip;q=0.5")
		if plain.Code != 200 || plain.Header().Get("Content-Encoding") != "" || z.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %d, %q, %q", path, plain.Code, plain.Header().Get("Content-Encoding"), z.Header().Get("Content-Encoding"))
		}
		g, err := gzip.NewReader(z.Body)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(g); err != nil || !bytes.Equal(b, plain.Body.Bytes()) {
			t.Errorf("%s: what is compressed differs: %v", path, err)
		}
		tag := plain.Header().Get("ETag")
		if r := get(p, path, "If-None-Match", `"x", `+tag); tag == "" || r.Code != 304 || r.Body.Len() != 0 {
			t.Errorf("%s with its tag %s: %d, %d bytes", path, tag, r.Code, r.Body.Len())
		}
		if r := get(p, path, "Accept-Encoding", "gzip;q=0"); r.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed for who does not want that", path)
		}
		csp := plain.Header().Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || plain.Header().Get("X-Content-Type-Options") != "nosniff" || plain.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, plain.Header())
		}
	}
	if c := get(p, "/assets/"+assetVersion+"/app.js").Header().Get("Cache-Control"); !strings.Contains(c, "immutable") {
		t.Errorf("this version's files: %s", c)
	}
	if c := get(p, "/assets/old/app.js").Header().Get("Cache-Control"); c != "no-cache" {
		t.Errorf("another version's files: %s", c)
	}
}

// Figures that are no numbers, and more of everything than there can be, are no
// reason to fail.
func TestImpossibleFigures(t *testing.T) {
	w := newWorld(1, 1)
	w.edit = func(r *exporter.Reading) {
		m := *r.Cards[0].Metrics
		m.Power.Socket, m.Activity.GFX = smi.Some(smi.Watts(math.NaN())), smi.Some(smi.Ratio(math.Inf(1)))
		m.Temperatures = make([]smi.Temperature, 5000)
		m.Clocks = append(make([]smi.Clock, 5000), smi.Clock{Current: smi.Some(smi.Hertz(math.NaN()))})
		m.PCIe.Sent = smi.Some(smi.BytesPerSecond(math.Inf(-1)))
		m.Throttle.Violations = make([]smi.Violation, 5000)
		r.Cards[0].Metrics = &m
		procs := make([]smi.Process, 3000)
		for i := range procs {
			procs[i] = smi.Process{PID: uint32(i), VRAM: smi.Some(smi.Bytes(i))}
		}
		r.Cards[0].Processes = procs
		r.Sessions = make([]smi.Session, 3000)
	}
	p := w.page(t, Options{}, 30*time.Second)
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/history", "/api/v1/calls", "/api/v1/latency", "/api/v1/functions"} {
		if r := get(p, path); r.Code != 200 || r.Body.Len() > 4<<20 {
			t.Errorf("%s: %d, %d bytes", path, r.Code, r.Body.Len())
		}
	}
	s := p.status()
	if len(s.Processes) != maxProcesses || s.ProcessesLeftOut != 3000-maxProcesses || s.Processes[0].PID != 2999 || s.SessionsLeftOut != 3000-maxSessions {
		t.Errorf("%d processes, %d left out; %d sessions left out", len(s.Processes), s.ProcessesLeftOut, s.SessionsLeftOut)
	}
}

// A card that breaks says so as badly as it is, gives its reason once, and takes none of its errors along.
func TestCardGoes(t *testing.T) {
	w := newWorld(2, 1)
	errors := func(s *Status) (n uint64) {
		for _, c := range s.Cards {
			n += c.Uncorrectable.Or(0)
		}
		return n
	}
	w.edit = func(r *exporter.Reading) {
		for i := range r.Cards {
			r.Cards[i].ECC = &smi.ECC{Correctable: smi.Some(uint64(7)), Uncorrectable: smi.Some(uint64(3))}
		}
	}
	p := w.page(t, Options{}, 30*time.Second)
	if s := p.status(); errors(s) != 6 || s.Cards[1].State != StateOK {
		t.Fatalf("%d errors, %s", errors(s), s.Cards[1].State)
	}
	why := &smi.Failure{Code: smi.ErrIO, Detail: "the card has fallen off the bus"}
	gone := func(r *exporter.Reading) {
		c := &r.Cards[1]
		c.Metrics, c.ECC, c.Processes = nil, nil, nil
		c.MetricsErr, c.ECCErr, c.ProcessesErr, c.InfoErr = why, why, why, why
	}
	w.change(func(r *exporter.Reading) { r.Cards[0].ECC = &smi.ECC{Uncorrectable: smi.Some(uint64(3))}; gone(r) })
	w.pass(p, 10*time.Second)
	s := p.status()
	if c := s.Cards[1]; c.State != StateGone || len(c.Problems) != 1 || c.Uncorrectable.Or(0) != 3 || c.Correctable.Or(0) != 7 || errors(s) != 6 {
		t.Errorf("%+v: %d errors in all", c, errors(s))
	}
	w.change(func(r *exporter.Reading) {
		gone(r)
		r.Cards[1].InfoErr, r.Cards[1].ECCErr = nil, nil
		r.Cards[1].ECC = &smi.ECC{}
	})
	if c := p.status().Cards[1]; c.State != StatePartial {
		t.Errorf("a card that tells something is %s", c.State)
	}
}

// Requests at once are bounded, and what is too much hears so.
func TestRequestsAreBounded(t *testing.T) {
	w := newWorld(1, 1)
	p := w.page(t, Options{MaxRequests: 2}, 0)
	hold, entered := make(chan struct{}), make(chan struct{}, 2)
	p.opt.Read = func() exporter.Reading {
		entered <- struct{}{}
		<-hold
		return exporter.Reading{}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { get(p, "/api/v1/status") })
		<-entered
	}
	if r := get(p, "/api/v1/status"); r.Code != 503 || r.Header().Get("Retry-After") == "" {
		t.Errorf("a third request: %d", r.Code)
	}
	close(hold)
	wg.Wait()
	if r := get(p, "/"); r.Code != 200 {
		t.Errorf("afterwards: %d", r.Code)
	}
}

func TestOptions(t *testing.T) {
	read := func() exporter.Reading { return exporter.Reading{} }
	for _, o := range []Options{{}, {Read: read, Step: time.Millisecond}, {Read: read, History: time.Second, Step: 2 * time.Second}, {Read: read, History: 48 * time.Hour}, {Read: read, MaxBytes: 10}} {
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	o := Options{Read: read, Sinks: func() []push.Stats { return nil }}
	env := map[string]string{"ROCWIRE_PAGE_TITLE": "Cards of the lab", "ROCWIRE_PAGE_HISTORY": "2h"}
	if err := o.FromEnv(func(k string) string { return env[k] }); err != nil {
		t.Fatal(err)
	}
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	if err := fs.Parse([]string{"--page-step", "10s", "--page-memory", "2M"}); err != nil {
		t.Fatal(err)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if p.opt.Title != "Cards of the lab" || p.steps != 720 || p.opt.MaxBytes != 2<<20 {
		t.Errorf("%+v, %d steps", p.opt, p.steps)
	}
	for _, bad := range []string{"", "x", "5X", "-1", "0", "5 M", "99999999999"} {
		if fs.Parse([]string{"--page-memory", bad}) == nil {
			t.Errorf("--page-memory %q is taken", bad)
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(Usage(), "--"+f.Name+" ") {
			t.Errorf("--%s is not in the help", f.Name)
		}
	})
	if err := o.FromEnv(func(string) string { return "soon" }); err == nil {
		t.Error("a history of \"soon\" is taken")
	}
}
