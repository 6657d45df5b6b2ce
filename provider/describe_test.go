package provider

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestWantsGo(t *testing.T) {
	main := func(path string, deps ...string) func() (*buildinfo.BuildInfo, error) {
		b := &debug.BuildInfo{Main: debug.Module{Path: path}}
		for _, d := range deps {
			b.Deps = append(b.Deps, &debug.Module{Path: d})
		}
		return func() (*buildinfo.BuildInfo, error) { return b, nil }
	}
	no := func() (*buildinfo.BuildInfo, error) { return nil, errors.New("no Go program") }
	for _, c := range []struct {
		variable string
		program  func() (*buildinfo.BuildInfo, error)
		want     bool
	}{
		{"", no, false}, {"", main("example.com/x"), false}, {"", main(goModule), true}, {"", main("example.com/x", "a", goModule), true},
		{"c", main(goModule), false}, {"GO", no, true}, {"auto", main(goModule), true},
	} {
		if got := wantsGo(c.variable, c.program); got != c.want {
			t.Errorf("%q: %v", c.variable, got)
		}
	}
}

func TestMounts(t *testing.T) {
	got, bad := mounts(" /a:/b, /c/../d ,x:/y,/z:y,,/" + strings.Repeat("l", 512))
	if !slices.Equal(got, []mount{{"/a", "/b"}, {"/d", "/d"}}) || len(bad) != 3 {
		t.Errorf("%v %v", got, bad)
	}
}

func TestResultOf(t *testing.T) {
	for err, want := range map[error]result{
		nil: success, smi.ErrNotFound: notFound, smi.ErrNotSupported: notSupported, smi.ErrNoPermission: notSupported, smi.ErrBusy: exhausted,
		smi.ErrInternal: internalError, smi.ErrTimeout: operationFailed, smi.ErrInvalid: operationFailed, context.DeadlineExceeded: operationFailed,
	} {
		if got := resultOf(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// The cards that sources are tested with, one of which knows little.
func TestFigures(t *testing.T) {
	first := smitest.Cards()
	first[0].Metrics.PCIe.Received, first[0].Metrics.PCIe.Sent = smi.Some(smi.BytesPerSecond(3e9)), smi.Some(smi.BytesPerSecond(5e6))
	src := smitest.NewFake(first...)
	h := sourceHost(t, src)
	ctx := context.Background()
	l := opened(t, h)
	list, err := h.devices(ctx, l)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].uuid != "12ff74a1-0000-1000-8012-3456789abcde" || list[0].units != 304 || list[0].memory == 0 || list[0].tflops < 1300 || list[0].capabilities.partitioning {
		t.Errorf("%+v", list[0])
	}
	if list[1].model == "" || list[1].numa != -1 || list[1].node != "" || list[1].capabilities.maxPartitions != 1 {
		t.Errorf("%+v", list[1])
	}
	figures, err := h.metrics(ctx, l, []string{list[0].uuid, list[1].uuid})
	if err != nil || figures[0] == nil {
		t.Fatalf("%v, %v", figures, err)
	}
	if figures[0].rx != 3e9 || figures[0].tx != 5e6 { // bytes per second, in columns that others call KB
		t.Errorf("received %v, sent %v", figures[0].rx, figures[0].tx)
	}
	seen := map[string]bool{}
	for _, x := range figures[0].extra {
		if seen[x.key] || math.IsNaN(x.value) || len(x.key) > 63 {
			t.Errorf("%q %v", x.key, x.value)
		}
		seen[x.key] = true
	}
	rows, err := h.processes(ctx, l, 1024)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	if one, err := h.processes(ctx, l, 1); err != nil || len(one) != 1 || one[0].used < rows[0].used || one[0].used < rows[1].used {
		t.Errorf("%+v, %v", one, err)
	}
	if topo, err := h.topology(ctx, l); err != nil || len(topo) != 2 || len(topo[0].peers) != 2 || topo[0].peers[0].level != levelSelf {
		t.Errorf("%+v, %v", topo, err)
	}

	// A card that does not answer any more stays in the list; its figures are missing.
	cards := smitest.Cards()
	cards[0].Info, cards[0].InfoErr = nil, &smi.Failure{Code: smi.ErrIO}
	cards[0].Metrics, cards[0].MetricsErr = nil, &smi.Failure{Code: smi.ErrIO}
	src.SetCards(cards...)
	again, err := h.devices(ctx, lookAgain(t, h))
	if err != nil || len(again) != 2 || again[0].uuid != list[0].uuid || again[0].units != 304 {
		t.Errorf("%+v, %v", again, err)
	}
	src.Fail(smi.Errorf(smi.ErrIO, "broken"))
	lookAgain(t, h).now.forget()
}

// Figures that are none never reach the host.
func TestNoFigures(t *testing.T) {
	cards := smitest.Cards()[:1]
	m := cards[0].Metrics.Clone()
	nan := math.NaN()
	m.Power = smi.Power{Socket: smi.Some(smi.Watts(nan)), Cap: smi.Some(smi.Watts(math.Inf(1)))}
	m.Activity.GFX = smi.Some(smi.Ratio(nan))
	m.Temperatures = []smi.Temperature{{Sensor: smi.SensorEdge, Current: smi.Some(smi.Celsius(math.Inf(-1)))}}
	m.PCIe.Received, m.PCIe.Sent = smi.Some(smi.BytesPerSecond(-5)), smi.Some(smi.BytesPerSecond(math.Inf(1)))
	m.Clocks = []smi.Clock{{Domain: smi.ClockGFX, Current: smi.Some(smi.Hertz(nan))}}
	for i := range 200 { // more than the host has room for
		m.Throttle.Violations = append(m.Throttle.Violations, smi.Violation{Kind: fmt.Sprint("k", i), Total: smi.Some(smi.Duration(i))})
	}
	cards[0].Metrics = m
	h := sourceHost(t, smitest.NewFake(cards...))
	f, err := h.metrics(context.Background(), opened(t, h), []string{cards[0].Device.UUID})
	if err != nil || f[0] == nil {
		t.Fatal(err)
	}
	if g := f[0]; g.watts != 0 || g.celsius != 0 || g.busy != 0 || g.rx != 0 || g.tx != 0 || len(g.extra) != maxExtra {
		t.Errorf("%+v", g)
	}
	for _, x := range f[0].extra {
		if math.IsNaN(x.value) || math.IsInf(x.value, 0) || x.key == "graphics_clock_mhz" || x.key == "power_cap_watts" {
			t.Errorf("%+v", x)
		}
	}
}

// A process's share is measured over the window, whatever the rate of asking.
func TestShare(t *testing.T) {
	start := time.Now()
	for _, step := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, time.Minute} {
		var h history
		busy := time.Duration(0)
		for i := range 200 {
			h.note(start.Add(time.Duration(i)*step), busy)
			busy += step / 4
		}
		if s, ok := h.share(); !ok || math.Abs(s-0.25) > 0.001 || len(h.looks) > 40 {
			t.Errorf("every %v: %v %v, %d looks", step, s, ok, len(h.looks))
		}
		h.note(start.Add(201*step), 0) // another process of that number
		if _, ok := h.share(); ok {
			t.Error("a share of what is not known")
		}
	}
}

func TestDistance(t *testing.T) {
	at := func(node int) *card {
		c := &card{info: &smi.Info{}}
		if node >= 0 {
			c.info.NUMA.Node = smi.Some(node)
		}
		return c
	}
	hops := func(kind string, n uint64) *smi.Path {
		return &smi.Path{Type: kind, Hops: smi.Some(n), MaxBandwidth: smi.Some(smi.BytesPerSecond(5e10))}
	}
	for _, c := range []struct {
		a, b int
		p    *smi.Path
		want level
		rate int64
	}{
		{0, 1, hops(smi.LinkXGMI, 1), levelInternal, 5e10},
		{0, 0, hops(smi.LinkPCIe, 2), levelHostBridge, 5e10},
		{0, 0, hops(smi.LinkPCIe, 3), levelNUMANode, 5e10},
		{0, 1, hops(smi.LinkPCIe, 3), levelSystem, 5e10},
		{0, 1, hops(smi.LinkPCIe, 2), levelSystem, 5e10},
		{0, 0, nil, levelNUMANode, 0}, {0, 1, nil, levelSystem, 0}, {-1, 0, nil, levelUnknown, 0},
	} {
		if l, rate := distance(at(c.a), at(c.b), c.p); l != c.want || rate != c.rate {
			t.Errorf("%+v: %v %v", c, l, rate)
		}
	}
}

func TestTraffic(t *testing.T) {
	links := func(in, out smi.Bytes) *smi.XGMI {
		return &smi.XGMI{Links: []smi.XGMILink{{Read: smi.Some(in), Written: smi.Some(out)}, {Read: smi.Some(in)}}}
	}
	now := time.Now()
	var tr traffic
	tr.note(now, links(100, 10))
	tr.note(now.Add(2*time.Second), links(300, 30))
	if tr.in != 200 || tr.out != 10 || tr.looks != 2 {
		t.Errorf("%+v", tr)
	}
	tr.note(now.Add(3*time.Second), links(0, 0)) // reset
	if tr.in != 0 || tr.out != 0 {
		t.Errorf("%+v", tr)
	}
}
