package exporter

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// The list is AMD's, nothing left out and nothing invented.
func TestCompatNames(t *testing.T) {
	b, err := os.ReadFile("testdata/device-metrics-exporter-1.5.2.tsv") // names and the labels of their own
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(b)) {
		want = append(want, strings.TrimRight(line, "\n"))
	}
	for _, n := range compatList() {
		labels := slices.Sorted(slices.Values(n.labels))
		got = append(got, n.name+"\t"+strings.Join(labels, ","))
		if (n.absent == "") == (n.help == "") {
			t.Errorf("%s: either it is served and explained, or it says why not: %+v", n.name, n)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	for i, w := range want {
		name, labels, _ := strings.Cut(w, "\t")
		l := strings.Split(labels, ",")
		slices.Sort(l)
		want[i] = name + "\t" + strings.Join(l, ",")
	}
	if len(want) != 194 || !slices.Equal(got, want) {
		t.Errorf("%d names, want %d:\n%s\nwant\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the table calls our own metric is one.
func TestCompatOurs(t *testing.T) {
	own := map[string]bool{}
	for _, m := range metrics {
		own[m.name] = !m.compat
	}
	word, selector := regexp.MustCompile(`\b(gpu|hip|pcie)_[a-z_]+\b`), regexp.MustCompile(`\{.*\}`)
	for _, n := range compatList() {
		for _, w := range word.FindAllString(selector.ReplaceAllString(n.ours, ""), -1) {
			if !own[w] {
				t.Errorf("%s: %s is no metric of ours", n.name, w)
			}
		}
	}
	for name, m := range compatMetrics {
		for _, o := range metrics {
			if o.name == name && o != m {
				t.Errorf("%s is ours, too", name)
			}
		}
	}
}

func TestCompatTable(t *testing.T) {
	var b strings.Builder
	list := compatList()
	served := 0
	for _, n := range list {
		if n.absent == "" {
			served++
		}
	}
	fmt.Fprintf(&b, "# AMD's metric names\n\n"+
		"Made by `go test ./exporter -rewrite`; do not edit.\n\n"+
		"With `--metrics-compat=device-metrics-exporter` the names of AMD's device-metrics-exporter 1.5.2 are served beside ours, in AMD's units and with\n"+
		"AMD's labels, so that its dashboards and alerts work: %d of %d. The others are absent, for the reason given.\n\n"+
		"* All are gauges, as AMD has them, also what only grows.\n"+
		"* The labels `%s` are on every series; `gpu_nodes_total` has `hostname` alone.\n"+
		"* `kfd_process_id` is empty: AMD's list of all processes of the GPU would end every series of the GPU and begin new ones whenever a process\n"+
		"  starts or ends. Who uses a GPU is told by `gpu_process_info`, `gpu_process_vram_bytes` and their like.\n"+
		"* `pod`, `namespace`, `container` and `job_…` are filled in with `--compat-owner-labels`, of GPUs that one container was allocated, or on which processes of one Slurm job are;\n"+
		"  otherwise they are empty: a change of owner ends every series of the GPU. `gpu_allocation_info` has all owners, `gpu_process_info` containers and pods by process.\n"+
		"* `serial_number` and `card_model` are the board's, or else the chip's and the card's market name. What is not known is empty.\n"+
		"* `gpu_health` is 0 if the GPU does not answer although its machine does, had an uncorrectable error since its driver was loaded, or has as many bad\n"+
		"  pages as its limit; it is absent while nothing is known. `--health-thresholds` says otherwise, such as `uncorrectable=2,umc=0,bad-pages=8`.\n\n"+
		"| AMD's name | Labels of its own | Served | Our own metric |\n|---|---|---|---|\n", served, len(list), strings.Join(compatLabels, "`, `"))
	slices.SortFunc(list, func(a, b compatName) int { return strings.Compare(a.name, b.name) })
	for _, n := range list {
		yes, ours := n.help, ""
		if n.absent != "" {
			yes = "no: " + n.absent
		}
		if n.ours != "" {
			ours = "`" + strings.ReplaceAll(n.ours, "|", "\\|") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", n.name, strings.Join(n.labels, ", "), yes, ours)
	}
	golden(t, "../docs/metrics-compat.md", []byte(b.String()))
}

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
	e := start(t, Options{Source: src, Compat: CompatDME, Place: Place{Host: "gpu-1"}})
	e.src = src
	return e
}

// theirs are the series under AMD's names.
func theirs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		name = name[:strings.IndexAny(name, " {")]
		if compatMetrics[name] != nil {
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
	for name := range compatMetrics {
		f := families[name]
		if f == nil {
			t.Errorf("%s is said to be served and is not, by a card that tells everything", name)
			continue
		}
		for _, m := range f.Metric {
			for _, want := range compatMetrics[name].labels {
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
}

func TestCompatUnknown(t *testing.T) {
	if _, err := New(Options{Source: smitest.NewFake(), Compat: "dcgm"}); err == nil || !strings.Contains(err.Error(), CompatDME) {
		t.Errorf("unknown names: %v", err)
	}
}
