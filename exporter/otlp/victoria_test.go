package otlp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/internal/freeport"
)

// victoria is a VictoriaMetrics of Debian's packages.
func victoria(t *testing.T) (base string) {
	t.Helper()
	tree := debtree.Path(t)
	program := filepath.Join(tree, "usr/bin/victoria-metrics")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("SKIPPED, nothing is sent to a real VictoriaMetrics: no %s; get it with\n\tscripts/fetch_debian.sh %s victoria-metrics", program, tree)
	}
	addr := freeport.Later(t)
	cmd := exec.Command(program, "-httpListenAddr="+addr, "-storageDataPath="+t.TempDir(), "-retentionPeriod=1y", "-memory.allowedBytes=64MiB", "-loggerLevel=ERROR")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	base = "http://" + addr
	eventually(t, "VictoriaMetrics answers", func() bool {
		resp, err := http.Get(base + "/health")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return base
}

// sample is one series as VictoriaMetrics exports it.
type sample struct {
	Metric     map[string]string
	Values     []float64
	Timestamps []int64
}

func exported(t *testing.T, base string) map[string][]sample {
	t.Helper()
	get(t, base+"/internal/force_flush")
	list := map[string][]sample{}
	in := bufio.NewScanner(strings.NewReader(get(t, base+"/api/v1/export?match[]="+url.QueryEscape(`{__name__!=""}`))))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var s sample
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		list[s.Metric["__name__"]] = append(list[s.Metric["__name__"]], s)
	}
	return list
}

func get(t *testing.T, u string) string {
	t.Helper()
	resp, err := http.Get(u)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(u, resp.Status, string(b), err)
	}
	return string(b)
}

// A real database takes what we send: every number is there with its attributes and its
// time, and it finds the quantiles of latencies.
func TestVictoriaMetrics(t *testing.T) {
	base := victoria(t)
	reading := fullReading()
	reading.Time = time.Now().Truncate(time.Millisecond).Add(-time.Minute)
	s := newSink(t, &source{r: reading}, func(o *Options) {
		o.Metrics.Endpoint = base + "/opentelemetry"
		o.Place.Cluster = "blue"
	})
	s.Export()
	send(t, s)
	if st := s.Stats()[0]; st.Sent != 1 || st.Refused != 0 {
		t.Fatalf("%+v", st)
	}
	got := exported(t, base)

	sm, err := NewProducer(s.opt, s.producer.from).Produce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := arrive(t, sm)
	numbers := 0
	for key, want := range a.values {
		name, _, _ := strings.Cut(key, "{")
		if ofManyReadings(key) {
			continue
		}
		if n := matching(got[name], a.attrs[key], want, reading.Time); n != 1 {
			t.Errorf("%s = %g is there %d times", key, want, n)
		}
		numbers++
	}
	if numbers < 300 {
		t.Errorf("only %d numbers", numbers)
	}
	for _, list := range got {
		for _, s := range list {
			if s.Metric["service.name"] != "rocwire.test" || s.Metric["k8s.cluster.name"] != "blue" || s.Metric["service.instance.id"] == "" {
				t.Errorf("without its resource: %v", s.Metric)
			}
		}
	}
	for _, q := range []float64{0.5, 0.99} {
		query := fmt.Sprintf(`histogram_quantile(%g, sum by (vmrange) ({__name__="hip.rpc.duration_bucket","rpc.method"="hipMalloc","rocwire.side"="client"}))`, q)
		var answer struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		text := get(t, base+"/api/v1/query?query="+url.QueryEscape(query)+"&time="+strconv.FormatInt(reading.Time.Unix()+1, 10))
		if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Data.Result) != 1 {
			t.Fatal(text, err)
		}
		v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
		want := 20e-6 + q*1e-4
		if err != nil || math.Abs(v-want) > 0.1*want {
			t.Errorf("the %g quantile is %g, want %g", q, v, want)
		}
	}
	// Its resource must not hide whose process a point belongs to.
	key := a.has(t, "process.gpu.memory.usage", "process.pid", "3000")
	if n := matching(got["process.gpu.memory.usage"], map[string]string{"process.pid": "3000", "k8s.pod.name": a.attrs[key]["k8s.pod.name"]}, a.values[key], reading.Time); n != 1 {
		t.Error("process 3000 is there", n, "times")
	}
}

// matching counts the series that have these attributes and this value at this time.
func matching(list []sample, attrs map[string]string, value float64, at time.Time) (n int) {
	for _, s := range list {
		ok := true
		for k, v := range attrs {
			ok = ok && s.Metric[k] == v
		}
		for i := range s.Values {
			if ok && s.Timestamps[i] == at.UnixMilli() && math.Abs(s.Values[i]-value) <= 1e-12*math.Abs(value) {
				n++
			}
		}
	}
	return n
}
