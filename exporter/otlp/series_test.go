package otlp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// crowd is a card with many processes, each with all that is known about one.
func crowd(n int) exporter.Reading {
	d := smitest.Machine(1, 2)[0]
	like := d.Processes[1]
	d.Processes = nil
	for i := range n {
		p := like
		p.PID, p.Session, p.VRAM = uint32(10000+i), fmt.Sprint(i), smi.Some(smi.Bytes(i))
		d.Processes = append(d.Processes, p)
	}
	return exporter.Reading{Time: time.Now(), Cards: []exporter.Card{{DeviceSnapshot: d, Fresh: true}}}
}

// The SDK's limit of 2000 series does not apply: 5000 processes arrive, each with its own
// figures, and no request is larger than receivers take.
func TestManySeries(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 2500
	}
	r, a := collect(t, &source{r: crowd(n)}, nil)
	got := map[string]float64{}
	for key, attrs := range a.attrs {
		if strings.HasPrefix(key, "process.gpu.memory.usage{") {
			got[attrs["process.pid"]] = a.values[key]
		}
		if _, overflow := attrs["otel.metric.overflow"]; overflow {
			t.Error(key)
		}
	}
	for i := range n {
		if v, ok := got[fmt.Sprint(10000+i)]; !ok || v != float64(i) {
			t.Fatalf("process %d: %g %t", 10000+i, v, ok)
		}
	}
	requests, largest := 0, 0
	for _, m := range r.metrics {
		requests++
		largest = max(largest, proto.Size(m))
	}
	t.Logf("%d points in %d requests, the largest has %d bytes", len(a.points), requests, largest)
	if largest > maxBody || requests < 2 {
		t.Errorf("%d requests, the largest has %d bytes", requests, largest)
	}
	if v := a.values[a.has(t, "rocwire.exporter.series.dropped")]; v != 0 {
		t.Errorf("%g series were dropped", v)
	}
}

// What is too much is left out and counted, and so is what is there twice.
func TestMaxSeries(t *testing.T) {
	reading := crowd(50)
	reading.Cards[0].Processes = append(reading.Cards[0].Processes, reading.Cards[0].Processes[0])
	_, a := collect(t, &source{r: reading}, func(o *Options) { o.MaxSeries = 40 })
	counts := map[string]int{}
	for key := range a.points {
		name, _, _ := strings.Cut(key, "{")
		counts[name]++
	}
	if counts["process.gpu.memory.usage"] != 40 || counts["process.gpu.gtt.usage"] != 40 {
		t.Errorf("%v", counts)
	}
	// Five metrics with one series for each process and process.gpu.time with two tasks.
	want := float64(5*(51-40) + 2*51 - 40)
	if v := a.values[a.has(t, "rocwire.exporter.series.dropped")]; v != want {
		t.Errorf("%g series were dropped, want %g", v, want)
	}
	for key, n := range a.points {
		if n != 1 {
			t.Error(key, n)
		}
	}
}

// Names may be anything.
func TestHostileNames(t *testing.T) {
	reading := crowd(3)
	p := reading.Cards[0].Processes
	p[0].Name, p[1].Name, p[2].Name = "\xff\xfe\x00", strings.Repeat("ä", 5000), strings.Repeat("\xc3", 1<<20)
	_, a := collect(t, &source{r: reading}, nil)
	for pid, want := range map[string]string{"10000": "\uFFFD\x00", "10001": strings.Repeat("ä", 128), "10002": "\uFFFD"} {
		key := a.has(t, "process.gpu.memory.usage", "process.pid", pid)
		if got := a.attrs[key]["process.executable.name"]; got != want {
			t.Errorf("%s is called %.20q, want %.20q", pid, got, want)
		}
	}
}

// A request that is too large is divided, down to single points.
func TestLargeRequests(t *testing.T) {
	reading := crowd(200)
	for i := range reading.Cards[0].Processes {
		p := &reading.Cards[0].Processes[i]
		long := strings.Repeat("x", maxValue)
		p.User, p.Origin = long, long
		p.Container = &smi.Container{ID: long, Name: long, PodUID: long, Pod: long, Namespace: long}
		p.Client = &smi.Client{Host: long, Executable: long, User: long, Container: long, Pod: long, Namespace: long}
	}
	r, a := collect(t, &source{r: reading}, nil)
	n := 0
	for key := range a.points {
		if strings.HasPrefix(key, "process.gpu.") {
			n++
		}
	}
	if n != 200*7 {
		t.Errorf("%d points of processes came, want %d", n, 200*7)
	}
	for _, m := range r.metrics {
		if s := proto.Size(m); s > maxBody {
			t.Errorf("a request has %d bytes", s)
		}
	}
}

// A card that says nothing, or is old, has a status and no figures.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*exporter.Reading)
		want   string
		power  bool
	}{
		"ok": {func(*exporter.Reading) {}, "ok", true},
		"uncorrectable errors": {func(r *exporter.Reading) {
			e := *r.Cards[0].ECC
			e.Uncorrectable = smi.Some(uint64(1))
			r.Cards[0].ECC = &e
		}, "degraded", true},
		"uncorrectable errors of a part, and no total": {func(r *exporter.Reading) {
			r.Cards[0].ECC = &smi.ECC{Blocks: []smi.ECCBlock{{Block: "umc", Uncorrectable: smi.Some(uint64(1))}}}
		}, "degraded", true},
		"silent":         {func(r *exporter.Reading) { r.Cards[0].Fresh = false }, "failed", false},
		"no metrics":     {func(r *exporter.Reading) { r.Cards[0].MetricsErr = &smi.Failure{Code: smi.ErrIO} }, "failed", false},
		"old metrics":    {func(r *exporter.Reading) { r.Cards[0].Metrics.Stale = smi.Some(smi.Duration(time.Hour)) }, "failed", false},
		"a little stale": {func(r *exporter.Reading) { r.Cards[0].Metrics.Stale = smi.Some(smi.Duration(time.Second)) }, "ok", true},
		"nobody to ask":  {func(r *exporter.Reading) { r.Err, r.Cards[0].Fresh = errTest, false }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			reading := fullReading()
			reading.Cards = reading.Cards[:1]
			c.change(&reading)
			_, a := collect(t, &source{r: reading}, nil)
			got := ""
			power := false
			for key, attrs := range a.attrs {
				if strings.HasPrefix(key, "hw.status{") && a.values[key] == 1 {
					got += attrs["hw.state"]
				}
				power = power || strings.HasPrefix(key, "hw.power{")
			}
			if got != c.want || power != c.power {
				t.Errorf("status %q, want %q; power %t, want %t", got, c.want, power, c.power)
			}
		})
	}
}

// Two cards that say they are the same one are told apart.
func TestSameID(t *testing.T) {
	reading := fullReading()
	reading.Cards[1].Device.UUID = reading.Cards[0].Device.UUID
	_, a := collect(t, &source{r: reading}, nil)
	id := reading.Cards[0].Device.UUID
	a.has(t, "hw.power", "hw.id", id)
	a.has(t, "hw.power", "hw.id", id+"/1")
}

func TestRecord(t *testing.T) {
	body := bytes.Repeat([]byte("points "), 1000)
	record, err := pack(body)
	if err != nil || len(record) > len(body)/10 {
		t.Fatal(len(record), err)
	}
	if got, err := unpack(record); err != nil || !bytes.Equal(got, body) {
		t.Error(len(got), err)
	}
	bomb, err := pack(make([]byte, maxBody+1))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string][]byte{"empty": nil, "no gzip": body, "cut": record[:len(record)-9], "bomb": bomb} {
		if _, err := unpack(r); !isPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
