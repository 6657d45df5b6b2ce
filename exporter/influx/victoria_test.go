package influx

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter/rows/rowstest"
	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/freeport"
)

// victoria is a VictoriaMetrics of Debian's packages.
type victoria struct {
	program, addr, data string
	cmd                 *exec.Cmd
}

func newVictoria(t *testing.T) *victoria {
	t.Helper()
	tree := debtree.Path(t)
	v := &victoria{program: filepath.Join(tree, "usr/bin/victoria-metrics"), data: t.TempDir()}
	if _, err := os.Stat(v.program); err != nil {
		t.Skipf("SKIPPED, no lines are sent to a real VictoriaMetrics: no %s; get it with\n\tscripts/fetch_debian.sh %s victoria-metrics", v.program, tree)
	}
	v.addr = freeport.Later(t)
	t.Cleanup(func() { v.stop(t) })
	return v
}

func (v *victoria) start(t *testing.T) {
	t.Helper()
	v.cmd = exec.Command(v.program, "-httpListenAddr="+v.addr, "-storageDataPath="+v.data, "-retentionPeriod=1y", "-memory.allowedBytes=64MiB",
		"-dedup.minScrapeInterval=1ms", "-loggerLevel=ERROR")
	v.cmd.Stderr = os.Stderr
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, "VictoriaMetrics answers", func() bool {
		answer, err := http.Get("http://" + v.addr + "/health")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

func (v *victoria) stop(t *testing.T) {
	t.Helper()
	if v.cmd == nil {
		return
	}
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = v.cmd.Wait() // however it ends
	v.cmd = nil
}

func (v *victoria) get(t *testing.T, path string) io.Reader {
	t.Helper()
	answer, err := http.Get("http://" + v.addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, answer.Status, b, err)
	}
	return strings.NewReader(string(b))
}

// samples are all values that it has, by series and time.
func (v *victoria) samples(t *testing.T) map[string][]float64 {
	t.Helper()
	v.get(t, "/internal/force_flush")
	got := map[string][]float64{}
	in := bufio.NewScanner(v.get(t, "/api/v1/export?start=0&end="+strconv.FormatInt(time.Now().Add(24*time.Hour).Unix(), 10)+"&match[]="+url.QueryEscape(`{__name__!=""}`)))
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var s struct {
			Metric     map[string]string
			Values     []float64
			Timestamps []int64
		}
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		name := s.Metric["__name__"]
		delete(s.Metric, "__name__")
		for i, f := range s.Values {
			key := sample(name, s.Metric, s.Timestamps[i])
			got[key] = append(got[key], f)
		}
	}
	return got
}

func sample(name string, labels map[string]string, time int64) string {
	var b strings.Builder
	b.WriteString(name)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, " %s=%q", k, labels[k])
	}
	fmt.Fprintf(&b, " %d", time)
	return b.String()
}

// expected are the samples of all rows: a series for each field. VictoriaMetrics knows no
// texts, and has 0 for them.
func expected(ref *rowstest.Reference) map[string]float64 {
	want := map[string]float64{}
	for table, list := range ref.Tables {
		for _, row := range list {
			labels := map[string]string{}
			for k, v := range row {
				if text, ok := v.(string); ok && isTag(table, k) {
					labels[k] = strings.ReplaceAll(text, `\`, "/")
				}
			}
			for k, v := range row {
				var f float64
				switch v := v.(type) {
				case float64:
					f = v
				case int64:
					f = float64(v)
				case uint64:
					f = float64(v)
				case bool:
					if v {
						f = 1
					}
				}
				if k != "ts" && !isTag(table, k) {
					want[sample(table+"_"+k, labels, row["ts"].(int64))] = f
				}
			}
		}
	}
	return want
}

// A real database reads our lines as we mean them, hostile names and all, and has every
// figure once, though it was away in between.
func TestVictoriaMetrics(t *testing.T) {
	v := newVictoria(t)
	v.start(t)
	ref, work, dir := rowstest.NewReference(place), rowstest.NewWork(), t.TempDir()
	o := Options{URL: "http://" + v.addr + "/write"}
	p := start(t, o, dir, work, ref)
	p.put(10)
	p.drained(t)
	v.stop(t)
	p.put(20)
	p.stop()
	ref.Restart()
	q := start(t, o, dir, work, ref)
	q.put(5)
	wait(t, "an attempt fails", func() bool { return q.Stats().Failures > 0 })
	v.start(t)
	q.drained(t)

	want, got := expected(ref), map[string][]float64{}
	wait(t, "everything can be found", func() bool {
		got = v.samples(t)
		return len(got) >= len(want)
	})
	shown := 0
	differ := func(format string, args ...any) {
		if shown++; shown <= 10 {
			t.Errorf(format, args...)
		}
	}
	for s, v := range want {
		// It keeps twelve digits or so.
		if g := got[s]; len(g) != 1 || math.Abs(g[0]-v) > 1e-9*math.Abs(v) {
			differ("%v instead of %v: %s", g, v, s)
		}
	}
	for s := range got {
		if _, ok := want[s]; !ok {
			differ("should not be there: %s", s)
		}
	}
	t.Logf("%d samples, %+v", len(want), q.Stats())
}
