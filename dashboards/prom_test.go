package dashboards

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/freeport"
)

// parse reads JSON.
func parse[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %.300s", err, raw)
	}
	return v
}

// tool is a command of Prometheus 3: from the folder where the CI unpacks Debian's
// packages, run with the C library there, or the one of this machine.
func tool(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	tree := debtree.Path(t)
	exe, loader := filepath.Join(tree, "usr/bin", name), filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2")
	if _, err := os.Stat(exe); err == nil {
		if _, err := os.Stat(loader); err == nil {
			return exec.Command(loader, append([]string{"--library-path", filepath.Join(tree, "usr/lib/x86_64-linux-gnu"), exe}, args...)...)
		}
		return exec.Command(exe, args...)
	}
	exe, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED, no query and no rule is tested: there is no %s; get it with\n\tscripts/fetch_debian.sh %s prometheus promtool libc6", name, tree)
	}
	if out, err := exec.Command(exe, "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "version 3.") {
		t.Skipf("SKIPPED, no query and no rule is tested: %s is not Prometheus 3; get that with\n\tscripts/fetch_debian.sh %s prometheus promtool libc6", exe, tree)
	}
	return exec.Command(exe, args...)
}

// server is a Prometheus that runs.
type server struct {
	t     *testing.T
	base  string
	began time.Time
}

// startPrometheus starts one with a configuration, and waits until it is ready.
func startPrometheus(t *testing.T, config string) *server {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	addr := freeport.Later(t)
	cmd := tool(t, "prometheus", "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", addr, "--log.level", "warn", "--enable-feature", "native-histograms")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if b, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Prometheus says:\n%.4000s", b)
		}
	})
	s := &server{t, "http://" + addr, time.Now()}
	eventually(t, time.Minute, "Prometheus is ready", func() bool {
		r, err := http.Get(s.base + "/-/ready")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return s
}

// eventually waits for something, with a bound that only a failure reaches.
func eventually(t *testing.T, bound time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", bound, what)
		}
	}
}

// ask asks the HTTP API. An error is its own, as text.
func (s *server) ask(path string, query url.Values) (json.RawMessage, error) {
	r, err := http.PostForm(s.base+"/api/v1/"+path, query)
	if path[0] == 'l' || path == "rules" { // label values and rules are only told to GET
		r, err = http.Get(s.base + "/api/v1/" + path + "?" + query.Encode())
	}
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w: %.200s", r.Status, err, raw)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s", answer.Error)
	}
	return answer.Data, nil
}

// series is one of an answer.
type series struct {
	labels map[string]string
	values []float64
}

// known tells if any of its values is a number.
func (s *series) known() bool {
	for _, v := range s.values {
		if v == v {
			return true
		}
	}
	return false
}

// query asks for now, or for all time since the server was started, the last moment of which is now too: what was seen before to be there is
// there then.
func (s *server) query(expr string, instant bool) ([]series, error) {
	now := time.Now()
	if instant {
		return s.at(now, expr)
	}
	start := now.Add(-now.Sub(s.began).Truncate(time.Second))
	return s.run("query_range", url.Values{"query": {expr}, "start": {stamp(start)}, "end": {stamp(now)}, "step": {"1"}})
}

// at asks for a moment.
func (s *server) at(now time.Time, expr string) ([]series, error) {
	return s.run("query", url.Values{"query": {expr}, "time": {stamp(now)}})
}

func (s *server) run(path string, form url.Values) ([]series, error) {
	raw, err := s.ask(path, form)
	if err != nil {
		return nil, err
	}
	data := parse[struct {
		ResultType string
		Result     json.RawMessage
	}](s.t, raw)
	if data.ResultType != "vector" && data.ResultType != "matrix" {
		return nil, fmt.Errorf("the answer is a %s", data.ResultType)
	}
	var list []series
	for _, r := range parse[[]struct {
		Metric map[string]string
		Value  []any
		Values [][]any
	}](s.t, data.Result) {
		one := series{labels: r.Metric}
		for _, v := range append(r.Values, r.Value) {
			if len(v) == 2 {
				f, err := strconv.ParseFloat(v[1].(string), 64)
				if err != nil {
					return nil, err
				}
				one.values = append(one.values, f)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

func stamp(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }

// await waits until a query has an answer.
func (s *server) await(what, expr string) {
	s.t.Helper()
	eventually(s.t, 60*time.Second, what+": "+expr, func() bool {
		list, err := s.query(expr, true)
		return err == nil && len(list) > 0
	})
}
