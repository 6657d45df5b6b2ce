package exporter

import (
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// fullCards are smitest's cards, the first with every figure there is.
func fullCards() []smi.DeviceSnapshot {
	cards := smitest.Cards()
	d := &cards[0]
	i, m := d.Info, d.Metrics
	i.IDs = smi.IDs{
		KFD: smi.Some(uint64(54321)), KFDNode: smi.Some(uint32(2)), Partition: smi.Some(uint32(0)), DRMCard: smi.Some(uint32(1)),
		DRMRender: smi.Some(uint32(128)), HIP: smi.Some(uint32(0)), HIPUUID: "GPU-50d7af8c31c0f2a1",
	}
	i.Board = smi.Board{Model: "102-G30211", Serial: "692251", FRU: "FRU1", Product: "Instinct MI300X OAM", Manufacturer: "AMD"}
	i.VBIOS = smi.VBIOS{Name: "MI300X", Date: "2024/05/01", PartNumber: "113-M3000100", Version: "022.040.003"}
	i.Limits = smi.Limits{MaxPower: smi.Some(smi.Watts(750)), MinPower: smi.Some(smi.Watts(100))}
	i.PCIe = smi.PCIeInfo{
		MaxWidth: smi.Some(16), MaxSpeed: smi.Some(smi.TransfersPerSecond(32e9)), Generation: smi.Some(5), Slot: smi.SlotOAM,
	}
	i.NUMA = smi.NUMA{Node: smi.Some(0), CPUs: "0-63,128-191"}
	i.Virtualization = smi.VirtualizationBareMetal

	m.GTT = smi.MemoryUse{Total: smi.Some(smi.MiB(1024)), Used: smi.Some(smi.MiB(12))}
	m.VisibleVRAM = smi.MemoryUse{Total: smi.Some(smi.MiB(256)), Used: smi.Some(smi.MiB(9))}
	m.Activity.Engines = []smi.Engine{
		{Kind: smi.EngineGFX, Busy: smi.Some(smi.Ratio(0.7))}, {Kind: smi.EngineGFX, Index: 1, Busy: smi.Some(smi.Ratio(0.8))},
		{Kind: smi.EngineVCN, Busy: smi.Some(smi.Ratio(0))}, {Kind: smi.EngineJPEG},
	}
	m.Clocks[0].Locked, m.Clocks[0].DeepSleep = smi.Some(false), smi.Some(true)
	m.Power.DefaultCap, m.Power.MinCap, m.Power.Managed = smi.Some(smi.Watts(700)), smi.Some(smi.Watts(50)), smi.Some(true)
	m.Temperatures[0].Shutdown = smi.Some(smi.Celsius(110))
	m.Voltages = smi.Voltages{GFX: smi.Some(smi.Volts(0.8)), SOC: smi.Some(smi.Volts(0.9)), Mem: smi.Some(smi.Volts(1.1))}
	m.Fans = []smi.Fan{{Speed: smi.Some(smi.RPM(1500)), Duty: smi.Some(smi.Ratio(0.5)), Max: smi.Some(smi.RPM(3000))}, {Index: 1}}
	m.PCIe = smi.PCIe{
		Width: smi.Some(8), Speed: smi.Some(smi.TransfersPerSecond(16e9)), Bandwidth: smi.Some(smi.BytesPerSecond(3e9)),
		Sent: smi.Some(smi.BytesPerSecond(1e9)), Received: smi.Some(smi.BytesPerSecond(2e9)), Replays: smi.Some(uint64(3)),
		ReplayRollovers: smi.Some(uint64(1)), Recoveries: smi.Some(uint64(4)), NAKsSent: smi.Some(uint64(5)), NAKsReceived: smi.Some(uint64(6)),
	}
	m.Throttle = smi.Throttle{Violations: []smi.Violation{
		{Kind: smi.ViolationPower, Total: smi.Some(smi.Duration(2500 * time.Millisecond)), Ratio: smi.Some(smi.Ratio(0.1)), Active: smi.Some(true)},
		{Kind: smi.ViolationHostPower, Index: 1, Ratio: smi.Some(smi.Ratio(0))},
	}}
	m.PerfLevel = smi.PerfAuto
	d.ECC = &smi.ECC{
		Correctable: smi.Some(uint64(12)), Uncorrectable: smi.Some(uint64(1)), Deferred: smi.Some(uint64(2)),
		Blocks: []smi.ECCBlock{
			{Block: "umc", State: smi.RASEnabled, Correctable: smi.Some(uint64(10)), Uncorrectable: smi.Some(uint64(1)), Deferred: smi.Some(uint64(2))},
			{Block: "gfx", State: smi.RASEnabled, Correctable: smi.Some(uint64(2)), Uncorrectable: smi.Some(uint64(0))},
			{Block: "fuse", State: smi.RASDisabled},
			{Block: "ih"},
		},
		EEPROMVersion: smi.Some(uint32(0x30000)), Parity: smi.Some(false), SingleBit: smi.Some(true), DoubleBit: smi.Some(true),
		Poison: smi.Some(true), BadPageLimit: smi.Some(uint32(256)),
	}
	p := &d.Processes[0]
	p.GTT, p.HostMemory, p.Evicted = smi.Some(smi.MiB(3)), smi.Some(smi.MiB(4)), smi.Some(smi.Duration(time.Second/4))
	p.GFXTime, p.EncodeTime = smi.Some(smi.Duration(time.Second)), smi.Some(smi.Duration(2*time.Second))
	p.User, p.InnerPID, p.Command = "rocm", 7, "hip-worker --token=secret"
	p.Container = &smi.Container{ID: strings.Repeat("ab", 32), Name: "worker", PodUID: "11-22", Pod: "gpu-pool-0", Namespace: "pool"}
	return cards
}

// With the checks of client_golang's pedantic registry: names, labels, nothing that was not
// described, nothing twice.
func TestConsistent(t *testing.T) {
	cards := fullCards()
	cards[0].Processes = append(cards[0].Processes, cards[0].Processes...)
	cards[0].Processes[1].Name = "\xff\xfe"
	cards[0].ECC.Blocks = append(cards[0].ECC.Blocks, cards[0].ECC.Blocks...)
	e := start(t, Options{Source: smitest.NewFake(cards...), Sessions: smitest.Clients{}, Calls: someCalls(), Runtime: true})
	e.Poll(t.Context())
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(e.Exporter.metrics, collectors.NewGoCollector())
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got {
		names = append(names, f.GetName())
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "go_goroutines") || !slices.Contains(names, "gpu_ecc_errors_total") {
		t.Errorf("families %v", names)
	}
	// Five counters and three states, left out of two scrapes.
	if n := value(e.metrics(t), `gpu_exporter_dropped_series_total{collector="ecc"}`); n != "16" {
		t.Errorf("blocks told twice: %s dropped", n)
	}
}

// What a card does not tell has no series.
func TestNothingMadeUp(t *testing.T) {
	e := start(t, Options{Source: smitest.NewFake(fullCards()...)})
	e.Poll(t.Context())
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)\{[^}]*gpu="1"`).FindAllStringSubmatch(e.metrics(t), -1) {
		got = append(got, m[1])
	}
	want := []string{
		"gpu_info", "gpu_metrics_stale_seconds", "gpu_process_dropped_total", "gpu_snapshot_age_seconds", "gpu_snapshot_duration_seconds", "gpu_up",
		"gpu_vram_size_bytes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("a card that tells only the size of its memory has %v, want %v", got, want)
	}
	if s := e.metrics(t); strings.Contains(s, "secret") {
		t.Error("a command line is served")
	}
}

// Figures that a source marks as old are shown as old, and not at all when they
// are too old.
func TestStale(t *testing.T) {
	cards := fullCards()[:1]
	src := smitest.NewFake(cards...)
	e := start(t, Options{Source: src, MaxAge: 30 * time.Second})
	for _, c := range []struct {
		stale time.Duration
		shown bool
	}{{0, true}, {10 * time.Second, true}, {29 * time.Second, false}} {
		fresh, old := cards[0], smi.Opt[smi.Duration]{}
		fresh.Metrics, fresh.ECC = fresh.Metrics.Clone(), fresh.ECC.Clone()
		if c.stale != 0 {
			old = smi.Some(smi.Duration(c.stale))
		}
		fresh.Metrics.Stale, fresh.ECC.Stale = old, old
		src.SetCards(fresh)
		e.Poll(t.Context())
		e.clock.advance(2 * time.Second) // between reading and scrape
		want := map[string]string{
			`gpu_metrics_stale_seconds{gpu="0"}`: "0", `gpu_ecc_stale_seconds{gpu="0"}`: "0", `gpu_processes_stale_seconds{gpu="0"}`: "0",
			`gpu_snapshot_age_seconds{gpu="0"}`: fmt.Sprint((2*time.Second + c.stale).Seconds()), `gpu_up{gpu="0"}`: "1", `gpu_power_watts{gpu="0"}`: "412",
			`gpu_ecc_errors_total{gpu="0",severity="correctable"}`: "12", `gpu_exporter_collector_success{collector="ecc"}`: "1",
			`gpu_exporter_collector_success{collector="device"}`: "1", `gpu_processes{gpu="0"}`: "2", `gpu_compute_units{gpu="0"}`: "304",
		}
		if c.stale != 0 {
			age := fmt.Sprint((2*time.Second + c.stale).Seconds())
			want[`gpu_metrics_stale_seconds{gpu="0"}`], want[`gpu_ecc_stale_seconds{gpu="0"}`] = age, age
		}
		if !c.shown {
			want[`gpu_up{gpu="0"}`], want[`gpu_power_watts{gpu="0"}`], want[`gpu_ecc_errors_total{gpu="0",severity="correctable"}`] = "0", "", ""
			want[`gpu_exporter_collector_success{collector="ecc"}`], want[`gpu_exporter_collector_success{collector="device"}`] = "0", "0"
		}
		s := e.metrics(t)
		for series, w := range want {
			if got := value(s, series); got != w {
				t.Errorf("figures %v old: %s = %q, want %q", c.stale, series, got, w)
			}
		}
	}
}

// Of too many processes those that hold most are shown, and the others counted.
func TestMaxProcesses(t *testing.T) {
	card := smitest.Cards()[0]
	card.Processes = nil
	for i := range 10 {
		card.Processes = append(card.Processes, smi.Process{PID: uint32(100 + i), VRAM: smi.Some(smi.Bytes(1000 * (i % 5)))})
	}
	e := start(t, Options{Source: smitest.NewFake(card), MaxProcesses: 3})
	e.Poll(t.Context())
	e.metrics(t)
	s := e.metrics(t)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^gpu_process_info\{.*,pid="(\d+)"`).FindAllStringSubmatch(s, -1) {
		got = append(got, m[1])
	}
	if want := []string{"103", "104", "109"}; !slices.Equal(got, want) {
		t.Errorf("processes %v, want %v", got, want)
	}
	if a, b := value(s, `gpu_processes{gpu="0"}`), value(s, `gpu_process_dropped_total{gpu="0"}`); a != "10" || b != "14" {
		t.Errorf("%s processes, %s dropped by two scrapes; want 10 and 14", a, b)
	}
}

// oldList is a source whose list of processes was not answered in time.
type oldList struct {
	*smitest.Fake
	age time.Duration
}

func (o *oldList) Snapshot(context.Context) (*smi.Snapshot, error) {
	d := fullCards()[0]
	d.ProcessesStale = smi.Some(smi.Duration(o.age))
	return &smi.Snapshot{Time: smitest.Then, Devices: []smi.DeviceSnapshot{d}}, nil
}

func TestStaleProcesses(t *testing.T) {
	src := &oldList{Fake: smitest.NewFake(fullCards()[0])}
	e := start(t, Options{Source: src, MaxAge: 30 * time.Second})
	for age, want := range map[time.Duration][4]string{
		5 * time.Second:  {"6", "2", "3.145728e+06", "1"},
		30 * time.Second: {"31", "", "", "0"},
	} {
		src.age = age
		e.Poll(t.Context())
		e.clock.advance(time.Second)
		s := e.metrics(t)
		got := [4]string{
			value(s, `gpu_processes_stale_seconds{gpu="0"}`), value(s, `gpu_processes{gpu="0"}`), value(s, `gpu_process_gtt_bytes{gpu="0",pid="4711"}`),
			value(s, `gpu_exporter_collector_success{collector="process"}`),
		}
		if got != want {
			t.Errorf("processes %v old: %q, want %q", age, got, want)
		}
		if p := value(s, `gpu_power_watts{gpu="0"}`); p != "412" {
			t.Errorf("processes %v old: %q W", age, p)
		}
	}
}

// limitedClients have quotas, one of them is away, and their worker traces.
type limitedClients struct{ smitest.Clients }

func (limitedClients) Sessions() []smi.Session {
	list := smitest.Clients{}.Sessions()
	list[0].Quotas = []smi.SessionQuota{
		{Device: 0, Quota: smi.Quota{Memory: smi.Some(smi.Bytes(16 << 30)), Compute: smi.Some(smi.Ratio(0.5))}},
		{Device: 1, Quota: smi.Quota{Compute: smi.Some(smi.Ratio(0.25))}, Together: "token ada"},
	}
	list[1].Quotas = list[0].Quotas[1:]
	list[1].Parked = true
	return list
}

func (limitedClients) SessionTotals() smi.SessionTotals {
	t := smitest.Clients{}.SessionTotals()
	t.DroppedSpans, t.Untranslated = smi.Some(uint64(7)), smi.Some(uint64(3))
	t.ModulesHeld, t.ModuleHits, t.ModulesSaved = smi.Some(smi.Bytes(1000)), smi.Some(uint64(5)), smi.Some(smi.Bytes(4000))
	return t
}

// What a session may have is told where it has a quota, what was not traced where calls are, what was not sent where modules are kept.
func TestQuotasAndSpans(t *testing.T) {
	for sessions, want := range map[smi.Sessions]int{limitedClients{}: 9, smitest.Clients{}: 0} {
		e, err := New(Options{Source: smitest.NewFake(), Sessions: sessions})
		if err != nil {
			t.Fatal(err)
		}
		e.Poll(t.Context())
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		text := w.Body.String()
		n := 0
		for _, line := range []string{
			`hip_session_memory_limit_bytes{gpu="0",quota_of="session 17",session="17"} 1.7179869184e+10`,
			`hip_session_compute_limit_ratio{gpu="0",quota_of="session 17",session="17"} 0.5`,
			`hip_session_compute_limit_ratio{gpu="1",quota_of="token ada",session="17"} 0.25`,
			`hip_session_compute_limit_ratio{gpu="1",quota_of="token ada",session="18"} 0.25`, `hip_worker_dropped_spans_total 7`, `hip_worker_untranslated_code_total 3`,
			`hip_worker_modules_kept_bytes 1000`, `hip_worker_module_hits_total 5`, `hip_worker_module_saved_bytes_total 4000`,
		} {
			n += strings.Count(text, "\n"+line+"\n")
		}
		if n != want || strings.Count(text, "\nhip_session_compute_limit_ratio{") != want/3 {
			t.Errorf("%T: %d of %d lines in\n%s", sessions, n, want, text)
		}
	}
}
