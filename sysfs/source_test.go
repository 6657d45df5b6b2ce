package sysfs

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

// machines are the trees that a test of everything goes over.
var machines = map[string]func(testing.TB) *sysfstest.Tree{
	"MI300X":    func(tb testing.TB) *sysfstest.Tree { return sysfstest.MI300X(tb, 8) },
	"MI210":     func(tb testing.TB) *sysfstest.Tree { return sysfstest.MI210(tb, 2) },
	"RX7900XTX": sysfstest.RX7900XTX,
	"APU":       sysfstest.APU,
	"APU3":      sysfstest.APU3,
}

// openTree opens a tree; nothing is answered from memory.
func openTree(tb testing.TB, t *sysfstest.Tree) *source {
	tb.Helper()
	s, err := open(newTree(t.Root), Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	s.scanFresh = 0
	tb.Cleanup(func() { s.Close() })
	return s
}

func TestSource(t *testing.T) {
	for name, build := range machines {
		t.Run(name, func(t *testing.T) {
			tree := build(t)
			tree.Process(4711, "python3")
			tree.Compute(4711, map[int]sysfstest.Use{0: {VRAM: 100 << 20, Queues: 2, Units: 9}})
			tree.Graphics(4711, 9, 0, 77, 4096, 2048, 1e9, 5)
			smitest.Run(t, func(t *testing.T) smi.Source { return openTree(t, tree) })
		})
	}
}

func TestDevices(t *testing.T) {
	tree := sysfstest.MI300X(t, 8)
	s := openTree(t, tree)
	ds, err := s.Devices(t.Context())
	if err != nil || len(ds) != 8 {
		t.Fatalf("%d cards, %v; want 8: another maker's card, connectors, render nodes and parts are none", len(ds), err)
	}
	want := smi.Device{
		Index: 1, BDF: smi.Some(smi.BDF{Bus: 0x26}), UUID: "8cff74a1-0000-1000-802c-c938055be371",
		Name: "AMD Instinct MI300X OAM", Target: "gfx942",
	}
	if ds[1] != want {
		t.Errorf("card 1 is %+v, want %+v", ds[1], want)
	}
	info, err := s.Info(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if info.IDs.DRMCard != smi.Some[uint32](57) || info.IDs.DRMRender != smi.Some[uint32](184) {
		t.Errorf("DRM numbers %v and %v, want 57 and 184", info.IDs.DRMCard, info.IDs.DRMRender)
	}
}

func TestNames(t *testing.T) {
	tree := sysfstest.RX7900XTX(t)
	name := func() string {
		t.Helper()
		ds, err := openTree(t, tree).Devices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ds[0].Name
	}
	if got, want := name(), "AMD gfx1100 (device 0x744c)"; got != want {
		t.Errorf("without a list of names: %q, want %q", got, want)
	}
	tree.Write(idsFile, "# comment\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\nbad\n")
	if got, want := name(), "AMD Radeon RX 7900 XTX"; got != want {
		t.Errorf("by libdrm's list: %q, want %q", got, want)
	}
	tree.Set(0, "product_name", "Model of the board\n")
	if got, want := name(), "Model of the board"; got != want {
		t.Errorf("by the board: %q, want %q", got, want)
	}
	tree.Set(0, "product_name", "\x1b[31mred\n")
	if got, want := name(), "AMD Radeon RX 7900 XTX"; got != want {
		t.Errorf("a name with control characters gave %q, want %q", got, want)
	}
}

func TestNoCard(t *testing.T) {
	tree := sysfstest.New(t)
	tree.Foreign(0)
	if _, err := Open(Options{Root: tree.Root}); !errors.Is(err, smi.ErrNoDriver) {
		t.Errorf("another maker's card alone: %v, want ErrNoDriver", err)
	}
	if _, err := Open(Options{Root: t.TempDir()}); !errors.Is(err, smi.ErrNoDriver) {
		t.Errorf("an empty root: %v, want ErrNoDriver", err)
	}
}

// A card that goes while others are read answers that it is gone, and only it.
func TestRemovedCard(t *testing.T) {
	tree := sysfstest.MI300X(t, 3)
	s := openTree(t, tree)
	tree.Move(tree.Cards[1].Dir, "away")
	snap, err := smi.TakeSnapshot(t.Context(), s)
	if err != nil || len(snap.Devices) != 3 {
		t.Fatalf("%+v, %v", snap, err)
	}
	for i, d := range snap.Devices {
		for what, f := range map[string]*smi.Failure{"info": d.InfoErr, "metrics": d.MetricsErr, "ecc": d.ECCErr, "processes": d.ProcessesErr} {
			if gone := i == 1; gone != errors.Is(f.Err(), smi.ErrUnavailable) || !gone && f != nil {
				t.Errorf("card %d, %s: %v", i, what, f.Err())
			}
		}
	}
	for what, ask := range map[string]func() error{
		"firmware":   func() error { _, err := s.Firmware(t.Context(), 1); return err },
		"bad pages":  func() error { _, err := s.BadPages(t.Context(), 1); return err },
		"xgmi":       func() error { _, err := s.XGMI(t.Context(), 1); return err },
		"partitions": func() error { _, err := s.Partitions(t.Context(), 1); return err },
		"set":        func() error { return s.Set(t.Context(), 1, smi.Setting{PerfLevel: smi.PerfHigh}) },
	} {
		if err := ask(); !errors.Is(err, smi.ErrUnavailable) {
			t.Errorf("%s of a removed card: %v", what, err)
		}
	}
	tree.Move("away", tree.Cards[1].Dir)
	tree.Move(tree.Cards[1].Dir+"/hwmon/hwmon5", tree.Cards[1].Dir+"/hwmon/hwmon31")
	m, err := s.Metrics(t.Context(), 1)
	if err != nil || !m.Power.Cap.Ok() {
		t.Errorf("a card that came back with another hwmon: %+v, %v", m, err)
	}
	// The driver lets go of it.
	tree.Set(1, "uevent", "PCI_SLOT_NAME="+tree.Cards[1].BDF+"\n")
	tree.Remove(tree.Cards[1].Dir + "/mem_info_vram_used")
	if _, err := s.Metrics(t.Context(), 1); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("metrics of a card without its driver: %v", err)
	}
}
