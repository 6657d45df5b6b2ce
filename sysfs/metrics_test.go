package sysfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

func metrics(t *testing.T, s *source, index int) *smi.Metrics {
	t.Helper()
	m, err := s.Metrics(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestMetricsMI300X(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	s := openTree(t, tree)
	m := metrics(t, s, 0)
	equal(t, "gfx", m.Activity.GFX, smi.Some[smi.Ratio](0.87))
	equal(t, "umc", m.Activity.UMC, smi.Some[smi.Ratio](0.34))
	equal(t, "mm", m.Activity.MM, smi.None[smi.Ratio]())
	equal(t, "engines", len(m.Activity.Engines), 8+4+40)
	equal(t, "engine 3", m.Activity.Engines[3], smi.Engine{Kind: smi.EngineGFX, Index: 3, Busy: smi.Some[smi.Ratio](0.83)})
	equal(t, "vcn", m.Activity.Engines[8], smi.Engine{Kind: smi.EngineVCN, Busy: smi.Some[smi.Ratio](0.11)})
	equal(t, "vram", m.VRAM.Used, smi.Some[smi.Bytes](10<<30))
	equal(t, "hotspot", m.Temperatures[0], smi.Temperature{Sensor: smi.SensorHotspot,
		Current: smi.Some[smi.Celsius](47), Limit: smi.Some[smi.Celsius](100), Shutdown: smi.Some[smi.Celsius](105)})
	equal(t, "power", m.Power, smi.Power{Socket: smi.Some[smi.Watts](612), Cap: smi.Some[smi.Watts](750), DefaultCap: smi.Some[smi.Watts](750),
		MinCap: smi.Some[smi.Watts](0), MaxCap: smi.Some[smi.Watts](750), Managed: smi.Some(true)})
	equal(t, "energy", m.Energy, smi.Some[smi.Joules](15e9/65536))
	equal(t, "die 7", m.Clocks[7], smi.Clock{Domain: smi.ClockGFX, Index: 7, Current: smi.Some[smi.Hertz](1907e6),
		Min: smi.Some[smi.Hertz](500e6), Max: smi.Some[smi.Hertz](2100e6), Locked: smi.Some(false), DeepSleep: smi.Some(false)})
	equal(t, "data fabric", m.Clock(smi.ClockDF), smi.Some[smi.Hertz](1800e6))
	equal(t, "pcie", m.PCIe, smi.PCIe{Width: smi.Some(16), Speed: smi.Some[smi.TransfersPerSecond](32e9),
		Bandwidth: smi.Some[smi.BytesPerSecond](1.6e9), Replays: smi.Some[uint64](5), ReplayRollovers: smi.Some[uint64](1),
		Recoveries: smi.Some[uint64](3), NAKsSent: smi.Some[uint64](2), NAKsReceived: smi.Some[uint64](4)})
	equal(t, "level", m.PerfLevel, smi.PerfAuto)
	equal(t, "fans", len(m.Fans), 0)
	equal(t, "limits", len(m.Throttle.Violations), 5+4*8)
	equal(t, "a limit at first", m.Throttle.Violations[1], smi.Violation{Kind: smi.ViolationPower})

	// A second later: 1000 cycles more, in a quarter of them at the limit of power, and
	// die 1 below its clock in half of them.
	table := sysfstest.Table(tree.Get(0, "gpu_metrics")).U32(40, 1_001_000).U32(48, 50_250).U64(344+184, 0, 10_500)
	tree.Set(0, "gpu_metrics", string(table))
	want := map[limit]smi.Opt[smi.Ratio]{}
	for _, v := range m.Throttle.Violations {
		want[limit{v.Kind, v.Index}] = smi.Some[smi.Ratio](0)
	}
	want[limit{smi.ViolationPower, 0}] = smi.Some[smi.Ratio](0.25)
	want[limit{smi.ViolationHostPower, 1}] = smi.Some[smi.Ratio](0.5)
	for range 2 { // the second time the table is the same one, and so are the shares
		got := map[limit]smi.Opt[smi.Ratio]{}
		for _, v := range metrics(t, s, 0).Throttle.Violations {
			got[limit{v.Kind, v.Index}] = v.Ratio
			equal(t, v.Kind+" active", v.Active, smi.Some(v.Ratio.Or(0) > 0))
		}
		equal(t, "shares", got, want)
	}
	// The card is reset: the counters begin anew, energy goes on.
	tree.Set(0, "gpu_metrics", string(table.U32(40, 10).U32(48, 5).U64(24, 65536)))
	m = metrics(t, s, 0)
	equal(t, "energy after a reset", m.Energy, smi.Some[smi.Joules](15e9/65536+1))
	equal(t, "a limit after a reset", m.Throttle.Violations[1].Ratio, smi.None[smi.Ratio]())
}

func TestMetricsMI210(t *testing.T) {
	s := openTree(t, sysfstest.MI210(t, 2))
	m := metrics(t, s, 1)
	equal(t, "average power", m.Power.Average, smi.Some[smi.Watts](42))
	equal(t, "power now", m.Power.Socket, smi.None[smi.Watts]())
	equal(t, "range of the cap", [2]smi.Opt[smi.Watts]{m.Power.MinCap, m.Power.MaxCap}, [2]smi.Opt[smi.Watts]{smi.Some[smi.Watts](100), smi.Some[smi.Watts](300)})
	equal(t, "hbm1", m.Temperature("hbm1"), smi.Some[smi.Celsius](32))
	equal(t, "edge limit", m.Temperatures[0].Limit, smi.Some[smi.Celsius](100))
	equal(t, "gfx clock", m.Clocks[0], smi.Clock{Domain: smi.ClockGFX, Current: smi.Some[smi.Hertz](1650e6),
		Min: smi.Some[smi.Hertz](500e6), Max: smi.Some[smi.Hertz](1700e6), DeepSleep: smi.Some(false)})
	equal(t, "replays", m.PCIe.Replays, smi.Some[uint64](6))
	equal(t, "energy", m.Energy, smi.Some[smi.Joules](100))
	equal(t, "throttle", m.Throttle.Status, smi.Some[uint64](1<<16))
	equal(t, "voltages", m.Voltages, smi.Voltages{SOC: smi.Some[smi.Volts](0.793), GFX: smi.Some[smi.Volts](0.812)})
}

func TestMetricsRX7900XTX(t *testing.T) {
	s := openTree(t, sysfstest.RX7900XTX(t))
	m := metrics(t, s, 0)
	equal(t, "fan", m.Fans, []smi.Fan{{Speed: smi.Some[smi.RPM](740), Duty: smi.Some[smi.Ratio](58.0 / 255), Max: smi.Some[smi.RPM](3300)}})
	equal(t, "display clock", m.Clock(smi.ClockDCEF), smi.Some[smi.Hertz](417e6))
	equal(t, "hotspot limit", m.Temperatures[1].Limit, smi.Some[smi.Celsius](110))
	equal(t, "mm", m.Activity.MM, smi.Some[smi.Ratio](0.03))
}

// An APU's temperatures and power are hwmon's, whose unit is known.
func TestMetricsAPU(t *testing.T) {
	tree := sysfstest.APU(t)
	m := metrics(t, openTree(t, tree), 0)
	equal(t, "edge", m.Temperature(smi.SensorEdge), smi.Some[smi.Celsius](45))
	equal(t, "soc", m.Temperature("soc"), smi.Some[smi.Celsius](43.87))
	equal(t, "power", m.Power.Socket, smi.Some[smi.Watts](9.12))
	equal(t, "gfx", m.Activity.GFX, smi.Some[smi.Ratio](0.23))
	equal(t, "gfx clock", m.Clock(smi.ClockGFX), smi.Some[smi.Hertz](800e6))
	equal(t, "data fabric", m.Clock(smi.ClockDF), smi.Some[smi.Hertz](1200e6))
	equal(t, "voltages", m.Voltages, smi.Voltages{GFX: smi.Some[smi.Volts](0.906), SOC: smi.Some[smi.Volts](0.843)})
	tree.Remove(tree.Cards[0].Dir + "/hwmon")
	m = metrics(t, openTree(t, tree), 0)
	equal(t, "edge without hwmon", m.Temperature(smi.SensorEdge), smi.Some[smi.Celsius](45.12))
	equal(t, "average without hwmon", m.Power.Average, smi.Some[smi.Watts](9.8))

	m = metrics(t, openTree(t, sysfstest.APU3(t)), 0)
	equal(t, "edge", m.Temperature(smi.SensorEdge), smi.Some[smi.Celsius](51))
	equal(t, "gfx", m.Activity.GFX, smi.Some[smi.Ratio](0.37))
	equal(t, "mm", m.Activity.MM, smi.Some[smi.Ratio](0.02))
	equal(t, "gfx clock", m.Clock(smi.ClockGFX), smi.Some[smi.Hertz](800e6))
}

// Without a table that is known, the text files tell what they can.
func TestWithoutTable(t *testing.T) {
	tree := sysfstest.MI300X(t, 1)
	tree.Set(0, "gpu_metrics", string(sysfstest.NewTable(64, 9, 9)))
	m := metrics(t, openTree(t, tree), 0)
	equal(t, "gfx", m.Activity.GFX, smi.Some[smi.Ratio](0.87))
	equal(t, "power", m.Power.Socket, smi.Some[smi.Watts](612))
	equal(t, "hotspot", m.Temperature(smi.SensorHotspot), smi.Some[smi.Celsius](47))
	equal(t, "gfx clock", m.Clock(smi.ClockGFX), smi.Some[smi.Hertz](1935e6))
	equal(t, "link", m.PCIe.Speed, smi.Some[smi.TransfersPerSecond](32e9))
	equal(t, "energy", m.Energy, smi.None[smi.Joules]())
}

// Files that hold nonsense give no figures, and no wrong ones.
func TestNonsense(t *testing.T) {
	for _, text := range []string{"", "\n", "-1000000\n", "N/A\n", "99999999999999999999\n", "18446744073709551615\n", "4294967295\n", strings.Repeat("1", 5000), "\x00\xff\n"} {
		tree := sysfstest.RX7900XTX(t)
		dir := filepath.Join(tree.Root, tree.Cards[0].Dir)
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || d.Name() == "uevent" || strings.HasSuffix(path, "/name") || strings.HasSuffix(path, "_label") {
				return err
			}
			return os.WriteFile(path, []byte(text), 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
		m := metrics(t, openTree(t, tree), 0)
		m.Time = time.Time{}
		if !reflect.DeepEqual(*m, smi.Metrics{}) {
			t.Errorf("files of %.20q gave figures: %+v", text, *m)
		}
	}
}

// fifo makes a file of a card block whoever reads it, until release.
func fifo(t *testing.T, tree *sysfstest.Tree, card int, name string) (release func(text string)) {
	t.Helper()
	path := filepath.Join(tree.Root, tree.Cards[card].Dir, name)
	os.Remove(path)
	if err := unix.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	return func(text string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		os.Remove(path)
		f.WriteString(text)
		f.Close()
	}
}

// pcie_bw measures for a second: nobody waits for it, and its figures come later.
func TestSlowFile(t *testing.T) {
	tree := sysfstest.MI210(t, 1)
	release := fifo(t, tree, 0, "pcie_bw")
	s := openTree(t, tree)
	for range 3 {
		if m := metrics(t, s, 0); m.PCIe.Bandwidth.Ok() {
			t.Fatalf("a bandwidth that was not measured: %v", m.PCIe.Bandwidth)
		}
	}
	release("1000 500 256\n")
	for range 2000 {
		if metrics(t, s, 0).PCIe.Bandwidth.Ok() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p := metrics(t, s, 0).PCIe
	equal(t, "sent", p.Sent, smi.Some[smi.BytesPerSecond](128e3))
	equal(t, "received", p.Received, smi.Some[smi.BytesPerSecond](256e3))
	equal(t, "together", p.Bandwidth, smi.Some[smi.BytesPerSecond](384e3))
}

// A card that hangs in the driver keeps nobody longer than he is willing to wait, is
// read only once, and keeps no other card from answering.
func TestHangingCard(t *testing.T) {
	tree := sysfstest.MI300X(t, 2)
	table := tree.Get(0, "gpu_metrics")
	release := fifo(t, tree, 0, "gpu_metrics")
	s := openTree(t, tree)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	for range 4 {
		go func() {
			_, err := s.Metrics(ctx, 0)
			errs <- err
		}()
	}
	metrics(t, s, 1)
	cancel()
	for range 4 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the metrics of a card that hangs: %v", err)
		}
	}
	done := make(chan *smi.Metrics)
	go func() {
		m, _ := s.Metrics(context.Background(), 0)
		done <- m
	}()
	release(table)
	if m := <-done; m == nil || !m.Activity.GFX.Ok() {
		t.Errorf("when it answers again: %+v", m)
	}
}
