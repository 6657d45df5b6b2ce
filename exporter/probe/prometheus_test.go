package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi/smitest"
)

// server is a real Prometheus, from Debian's package.
func server(t *testing.T) string {
	tree := debtree.Path(t)
	p := filepath.Join(tree, "usr/bin/prometheus")
	if _, err := os.Stat(p); err != nil {
		t.Skipf("no prometheus: run scripts/fetch_debian.sh %s prometheus", tree)
	}
	return p
}

// block is a code block of a page of the documentation.
func block(t *testing.T, page, kind string) string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(b), "```"+kind+"\n")
	text, _, ok2 := strings.Cut(rest, "```")
	if !ok1 || !ok2 {
		t.Fatalf("%s has no %s", page, kind)
	}
	return text
}

// The scrape configuration of the documentation, with a real Prometheus, an exporter,
// and three workers of which two are discovered by the documentation's file.
func TestPrometheus(t *testing.T) {
	bin := server(t)
	dir := t.TempDir()
	one, two, three := worker(t), worker(t), worker(t)

	file := filepath.Join(dir, "workers.json")
	doc := strings.NewReplacer("gpu-1:18515", one.Addr, "gpu-2:18515", two.Addr).Replace(block(t, "../../docs/prometheus.md", "json"))
	if err := os.WriteFile(file, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := discovery.New(discovery.Options{Sources: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	d.Refresh(t.Context())
	h := start(t, Options{Listed: d, Allow: []string{three.Addr}, Exporter: exporter.Options{Compat: collector.CompatDME}})
	if err := h.own.Register(Discovered{Discovery: d}); err != nil {
		t.Fatal(err)
	}
	own, err := exporter.New(exporter.Options{Source: smitest.NewFake(smitest.Cards()...), More: []prometheus.Collector{h}, Compat: collector.CompatDME})
	if err != nil {
		t.Fatal(err)
	}
	own.Poll(t.Context())
	mux := http.NewServeMux()
	mux.Handle("/", own.Handler())
	mux.Handle("/probe", h)
	mux.Handle("/sd", h.SD())
	srv := httptest.NewServer(mux)
	defer srv.Close()

	self := strings.TrimPrefix(srv.URL, "http://")
	config := "global: {scrape_interval: 1s, scrape_timeout: 900ms}\n" +
		strings.NewReplacer("gpu-exporter:9400", self, "gpu-1:18515", three.Addr).Replace(block(t, "../../docs/prometheus.md", "yaml"))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	listen := freeport.Later(t)
	var log bytes.Buffer
	cmd := exec.Command(bin, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+listen, "--enable-feature=native-histograms")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s", log.String())
		}
	}()
	want := []string{
		"rocwire " + self + "  1",
		"rocwire-probe " + three.Addr + "  1",
		"rocwire-workers " + one.Addr + " training 1",
		"rocwire-workers " + two.Addr + " training 1",
	}
	slices.Sort(want)
	eventually(t, listen, "up", want)
	eventually(t, listen, `gpu_power_watts{gpu="0"} > 400`, replace(want, "412"))
	eventually(t, listen, `probe_success`, replace(want[1:], "1"))
	eventually(t, listen, `gpu_package_power`, replace(want, "412"))
	eventually(t, listen, `histogram_count(hip_rpc_duration_seconds{job="rocwire-probe"})`, []string{"rocwire-probe " + three.Addr + "  1"})
	eventually(t, listen, `gpu_exporter_discovery_targets`, []string{"rocwire " + self + "  2"})
	// A target that fails its scrape would be told so.
	eventually(t, listen, `scrape_samples_scraped < 20`, nil)

	three.Stop()
	eventually(t, listen, `probe_success{job="rocwire-probe"}`, []string{"rocwire-probe " + three.Addr + "  0"})
	eventually(t, listen, `up{job="rocwire-probe"}`, []string{"rocwire-probe " + three.Addr + "  1"})
	// What is gone is stale at once, and does not stay for five minutes.
	eventually(t, listen, `hip_sessions{job="rocwire-probe"}`, nil)
}

// replace gives lines another value.
func replace(lines []string, value string) (list []string) {
	for _, l := range lines {
		list = append(list, l[:strings.LastIndexByte(l, ' ')+1]+value)
	}
	return list
}

// eventually waits for a query to have exactly these results: job, instance, pool, value.
func eventually(t *testing.T, listen, query string, want []string) {
	t.Helper()
	var got []string
	for range 600 {
		got = ask(listen, query)
		if slices.Equal(got, want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s:\n got %q\nwant %q", query, got, want)
}

func ask(listen, query string) (lines []string) {
	resp, err := http.Get("http://" + listen + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return []string{err.Error()}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return []string{err.Error()}
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.Unmarshal(b, &answer); err != nil || resp.StatusCode != 200 {
		return []string{fmt.Sprint(resp.Status, err, string(b))}
	}
	for _, r := range answer.Data.Result {
		lines = append(lines, fmt.Sprintf("%s %s %s %v", r.Metric["job"], r.Metric["instance"], r.Metric["pool"], r.Value[1]))
	}
	slices.Sort(lines)
	return lines
}
