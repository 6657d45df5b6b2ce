package exporter

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func compatCards() []smi.DeviceSnapshot {
	cards := fullCards()
	m := cards[0].Metrics
	m.Clocks = append(m.Clocks,
		smi.Clock{Domain: smi.ClockDF, Current: smi.Some(smi.MHz(1800))}, // AMD has no name for it
		smi.Clock{Domain: smi.ClockSOC, Current: smi.Some(smi.MHz(1000))},
		smi.Clock{Domain: smi.ClockVideo, Current: smi.Some(smi.MHz(600))}, smi.Clock{Domain: smi.ClockData, Current: smi.Some(smi.MHz(500))})
	m.Activity.Engines[3].Busy = smi.Some(smi.Ratio(0.25))
	m.Temperatures = append(m.Temperatures, smi.Temperature{Sensor: smi.SensorEdge, Current: smi.Some(smi.Celsius(40))},
		smi.Temperature{Sensor: "hbm0", Current: smi.Some(smi.Celsius(47))}, smi.Temperature{Sensor: "hbm1", Current: smi.Some(smi.Celsius(48))})
	m.Throttle.Violations = nil
	for i, k := range []string{
		smi.ViolationProcHot, smi.ViolationPower, smi.ViolationSocketThermal, smi.ViolationVRThermal, smi.ViolationHBMThermal, smi.ViolationHostLimit,
	} {
		m.Throttle.Violations = append(m.Throttle.Violations, smi.Violation{Kind: k, Ratio: smi.Some(smi.Ratio(float64(i) / 8))})
	}
	for die := range 2 {
		for _, k := range []string{smi.ViolationHostPower, smi.ViolationHostThermal, smi.ViolationHostTotal, smi.ViolationLowUse} {
			m.Throttle.Violations = append(m.Throttle.Violations, smi.Violation{Kind: k, Index: die, Ratio: smi.Some(smi.Ratio(float64(die) / 2))})
		}
	}
	cards[0].ECC.Blocks = nil
	for i, b := range smi.ECCBlocks {
		n := uint64(i)
		cards[0].ECC.Blocks = append(cards[0].ECC.Blocks,
			smi.ECCBlock{Block: b, State: smi.RASEnabled, Correctable: smi.Some(n), Uncorrectable: smi.Some(uint64(0)), Deferred: smi.Some(2 * n)})
	}
	return cards
}

func compatEnv(t *testing.T, cards ...smi.DeviceSnapshot) *env {
	src := smitest.NewFake(cards...)
	src.SetDetails(fullDetail())
	e := start(t, Options{Source: src, Compat: collector.CompatDME, Place: Place{Host: "gpu-1"}})
	e.src = src
	return e
}

// compatNames are AMD's names that are served, with their labels.
var compatNames = func() map[string][]string {
	names := map[string][]string{}
	for _, m := range collector.Metrics() {
		if m.Compat {
			names[m.Name] = m.Labels
		}
	}
	return names
}()

// theirs are the series under AMD's names.
func theirs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		name = name[:strings.IndexAny(name, " {")]
		if compatNames[name] != nil {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestCompatGolden(t *testing.T) {
	e := compatEnv(t, compatCards()...)
	e.Poll(t.Context())
	text := e.metrics(t)
	golden(t, "testdata/compat.txt", []byte(theirs(text)))
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, labels := range compatNames {
		f := families[name]
		if f == nil {
			t.Errorf("%s is said to be served and is not, by a card that tells everything", name)
			continue
		}
		for _, m := range f.Metric {
			for _, want := range labels {
				if !slices.ContainsFunc(m.Label, func(l *labelPair) bool { return l.GetName() == want }) {
					t.Errorf("%s lacks the label %s", name, want)
				}
			}
		}
	}
	// The card that knows nothing has nothing but its health.
	for _, m := range regexp.MustCompile(`(?m)^(\w+)\{.*gpu_id="1"`).FindAllStringSubmatch(text, -1) {
		if m[1] != "gpu_health" && m[1] != "gpu_total_vram" {
			t.Errorf("%s of a card that does not tell it", m[1])
		}
	}
	without := start(t, Options{Source: smitest.NewFake(compatCards()...)})
	without.Poll(t.Context())
	if s := theirs(without.metrics(t)); s != "" {
		t.Errorf("AMD's names although nobody asked for them:\n%s", s)
	}
}

func TestCompatHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healthOf := func(e *env) string {
			m := regexp.MustCompile(`(?m)^gpu_health\{.*gpu_id="0".*\} (\S+)$`).FindStringSubmatch(e.metrics(t))
			if m == nil {
				return ""
			}
			return m[1]
		}
		good := compatCards()[0]
		good.ECC.Uncorrectable = smi.Some(uint64(0))
		limit := good
		limit.ECC = good.ECC.Clone()
		limit.ECC.BadPageLimit = smi.Some(uint32(2)) // it has two
		failing := good
		failing.Metrics, failing.MetricsErr = nil, &smi.Failure{Code: smi.ErrIO, Detail: "dead"}
		poor := smitest.Cards()[1]
		poor.Device.Index, poor.Info.Device.Index = 0, 0
		for name, c := range map[string]struct {
			card smi.DeviceSnapshot
			want string
		}{
			"good": {good, "1"}, "uncorrectable": {compatCards()[0], "0"}, "bad pages": {limit, "0"}, "no figures": {failing, "0"},
			"no error counters": {poor, "1"},
		} {
			e := compatEnv(t, c.card)
			if h := healthOf(e); h != "" {
				t.Errorf("%s: %q before anything is known", name, h)
			}
			e.Poll(t.Context())
			if h := healthOf(e); h != c.want {
				t.Errorf("%s: health %q, want %q", name, h, c.want)
			}
		}
		e := compatEnv(t, good)
		e.Poll(t.Context())
		e.src.Fail(smi.Errorf(smi.ErrUnavailable, "gone"))
		e.Poll(t.Context())
		if h := healthOf(e); h != "" {
			t.Errorf("the machine is gone: health %q", h)
		}
		e.src.Fail(nil)
		e.Poll(t.Context())
		release := e.src.Hang(0)
		defer release()
		e.opt.Timeout = 20 * time.Millisecond
		e.clock.advance(20 * time.Second)
		e.Poll(t.Context())
		e.clock.advance(20 * time.Second)
		e.Poll(t.Context())
		if h := healthOf(e); h != "0" {
			t.Errorf("the card is silent: health %q", h)
		}
	})
}

func TestCompatUnknown(t *testing.T) {
	if _, err := New(Options{Source: smitest.NewFake(), Compat: "dcgm"}); err == nil || !strings.Contains(err.Error(), collector.CompatDME) {
		t.Errorf("unknown names: %v", err)
	}
}
