// Package smitest checks that an smi.Source keeps the promises of package smi, and
// has a source made of fixed figures for the tests of whatever reads one.
package smitest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// Run tests the source that open returns. Every subtest opens its own.
func Run(t *testing.T, open func(t *testing.T) smi.Source) {
	t.Helper()
	for _, c := range []struct {
		name string
		f    func(*testing.T, smi.Source)
	}{
		{"Devices", testDevices},
		{"Info", testInfo},
		{"Metrics", testMetrics},
		{"CountersNeverFall", testCounters},
		{"Processes", testProcesses},
		{"Firmware", testFirmware},
		{"ECC", testECC},
		{"BadPages", testBadPages},
		{"XGMI", testXGMI},
		{"Partitions", testPartitions},
		{"Topology", testTopology},
		{"EventsEnd", testEvents},
		{"BadSettings", testBadSettings},
		{"BadFaults", testBadFaults},
		{"BadIndex", testBadIndex},
		{"CancelledQuestion", testCancelled},
		{"ResultsBelongToTheCaller", testOwnership},
		{"Encodings", testEncodings},
		{"Snapshot", testSnapshot},
		{"Concurrent", testConcurrent},
		{"Close", testClose},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := open(t)
			defer src.Close()
			c.f(t, src)
		})
	}
}

// each calls f for every card; a source without a card fails, as nothing would be
// tested.
func each(t *testing.T, src smi.Source, f func(ctx context.Context, d smi.Device)) {
	t.Helper()
	devices, err := src.Devices(t.Context())
	if err != nil {
		t.Fatalf("Devices: %v", err)
	}
	if len(devices) == 0 {
		t.Fatal("the source has no card")
	}
	for _, d := range devices {
		f(t.Context(), d)
	}
}

// optional reports whether a question got its answer; "not supported" is one too.
func optional(t *testing.T, what string, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

// oneOf checks a text that is one of some constants, or not available.
func oneOf(t *testing.T, what, v string, known ...string) {
	t.Helper()
	if v != "" && !slices.Contains(known, v) {
		t.Errorf("%s %q is none of %q", what, v, known)
	}
}

var (
	clocks = []string{
		smi.ClockGFX, smi.ClockMem, smi.ClockSOC, smi.ClockDF, smi.ClockVideo, smi.ClockData, smi.ClockDCEF, smi.ClockPCIe,
	}
	violations = []string{
		smi.ViolationProcHot, smi.ViolationPower, smi.ViolationSocketThermal, smi.ViolationVRThermal, smi.ViolationHBMThermal, smi.ViolationHostLimit,
		smi.ViolationHostPower, smi.ViolationHostThermal, smi.ViolationHostTotal, smi.ViolationLowUse,
	}
	perfLevels = []string{
		smi.PerfAuto, smi.PerfLow, smi.PerfHigh, smi.PerfManual, smi.PerfStandard, smi.PerfPeak, smi.PerfMinMem, smi.PerfMinGFX, smi.PerfDeterminism,
	}
	computePartitions = []string{"SPX", "DPX", "TPX", "QPX", "CPX"}
	memoryPartitions  = []string{"NPS1", "NPS2", "NPS4", "NPS8"}

	eventKinds = []string{
		smi.EventVMFault, smi.EventThermalThrottle, smi.EventPreReset, smi.EventPostReset, smi.EventMigrateStart, smi.EventMigrateEnd, smi.EventPageFaultStart,
		smi.EventPageFaultEnd, smi.EventQueueEviction, smi.EventQueueRestore, smi.EventUnmap, smi.EventProcessStart, smi.EventProcessEnd, smi.EventRingHang,
		smi.EventECC, smi.EventLinkChange, smi.EventLost, smi.EventFound, smi.EventMissed, smi.EventKernelCheck,
	}
)

func testDevices(t *testing.T, src smi.Source) {
	uuids, bdfs := map[string]bool{}, map[smi.BDF]bool{}
	next := 0
	each(t, src, func(ctx context.Context, d smi.Device) {
		if d.Index != next {
			t.Errorf("card %d has index %d", next, d.Index)
		}
		next++
		if d.Name == "" {
			t.Errorf("card %d has no name", d.Index)
		}
		if d.UUID != "" && uuids[d.UUID] {
			t.Errorf("UUID %s twice", d.UUID)
		}
		uuids[d.UUID] = true
		if b, ok := d.BDF.Get(); ok {
			if bdfs[b] {
				t.Errorf("PCI address %s twice", b)
			}
			bdfs[b] = true
			if b.Device > 31 || b.Function > 7 {
				t.Errorf("card %d has an impossible PCI address %+v", d.Index, b)
			}
		}
	})
	again, err := src.Devices(t.Context())
	if err != nil || len(again) != next {
		t.Errorf("the second list: %d cards, %v; the first had %d", len(again), err, next)
	}
}

func testInfo(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		info, err := src.Info(ctx, d.Index)
		if !optional(t, "Info", err) {
			return
		}
		if info.Device != d {
			t.Errorf("Info says %+v, Devices %+v", info.Device, d)
		}
		checkNumbers(t, "Info", *info)
		for _, c := range info.ASIC.Serial {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				t.Errorf("serial %q is not hexadecimal digits", info.ASIC.Serial)
				break
			}
		}
		if n, ok := info.ASIC.ComputeUnits.Get(); ok && n <= 0 {
			t.Errorf("%d compute units", n)
		}
		oneOf(t, "slot", info.PCIe.Slot, smi.SlotPCIe, smi.SlotOAM, smi.SlotCEM)
		oneOf(t, "virtualization", info.Virtualization, smi.VirtualizationBareMetal, smi.VirtualizationHost, smi.VirtualizationGuest, smi.VirtualizationPassthrough)
		for _, c := range info.Caches {
			if c.Level < 1 {
				t.Errorf("a cache of level %d", c.Level)
			}
		}
		lo, ok1 := info.Limits.MinPower.Get()
		hi, ok2 := info.Limits.MaxPower.Get()
		if ok1 && ok2 && lo > hi {
			t.Errorf("power from %v W to %v W", lo, hi)
		}
	})
}

func testMetrics(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		m, err := src.Metrics(ctx, d.Index)
		if !optional(t, "Metrics", err) {
			return
		}
		if m.Time.IsZero() {
			t.Errorf("card %d: metrics without a time", d.Index)
		}
		checkNumbers(t, "Metrics", *m)
		for name, use := range map[string]smi.MemoryUse{"VRAM": m.VRAM, "visible VRAM": m.VisibleVRAM, "GTT": m.GTT} {
			used, ok1 := use.Used.Get()
			total, ok2 := use.Total.Get()
			if ok1 && ok2 && used > total {
				t.Errorf("card %d uses %d of %d bytes of %s", d.Index, used, total, name)
			}
		}
		type key struct {
			name  string
			index int
		}
		seen := map[key]bool{}
		for _, c := range m.Clocks {
			k := key{"clock " + c.Domain, c.Index}
			if c.Domain == "" || seen[k] {
				t.Errorf("card %d: clock %q %d without a name or twice", d.Index, c.Domain, c.Index)
			}
			oneOf(t, "clock", c.Domain, clocks...)
			seen[k] = true
			lo, ok1 := c.Min.Get()
			hi, ok2 := c.Max.Get()
			if ok1 && ok2 && lo > hi {
				t.Errorf("card %d: clock %s from %v to %v", d.Index, c.Domain, lo, hi)
			}
		}
		for _, s := range m.Temperatures {
			k := key{"sensor " + s.Sensor, 0}
			if s.Sensor == "" || seen[k] {
				t.Errorf("card %d: sensor %q without a name or twice", d.Index, s.Sensor)
			}
			seen[k] = true
		}
		for _, e := range m.Activity.Engines {
			k := key{"engine " + e.Kind, e.Index}
			if seen[k] {
				t.Errorf("card %d: engine %q %d twice", d.Index, e.Kind, e.Index)
			}
			seen[k] = true
			oneOf(t, "engine", "x"+e.Kind, "x"+smi.EngineGFX, "x"+smi.EngineVCN, "x"+smi.EngineJPEG)
		}
		for _, v := range m.Throttle.Violations {
			k := key{"violation " + v.Kind, v.Index}
			if v.Kind == "" || seen[k] {
				t.Errorf("card %d: violation %q %d without a name or twice", d.Index, v.Kind, v.Index)
			}
			seen[k] = true
			oneOf(t, "violation", v.Kind, violations...)
		}
		oneOf(t, "performance level", m.PerfLevel, perfLevels...)
		if m.Stale.Ok() {
			t.Errorf("card %d: figures that were just read are %v s old", d.Index, m.Stale.Or(0).Seconds())
		}
	})
}

func testProcesses(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		ps, err := src.Processes(ctx, d.Index)
		if !optional(t, "Processes", err) {
			return
		}
		info, _ := src.Info(ctx, d.Index)
		last := uint32(0)
		for _, p := range ps {
			if p.Device != d.Index {
				t.Errorf("card %d lists a process of card %d", d.Index, p.Device)
			}
			if p.PID <= last {
				t.Errorf("card %d: process %d stands after %d", d.Index, p.PID, last)
			}
			last = p.PID
			checkNumbers(t, "Process", p)
			oneOf(t, "origin", p.Origin, smi.OriginSession, smi.OriginSim, smi.OriginAMDSMI, smi.OriginKFD, smi.OriginFDInfo)
			if info == nil {
				continue
			}
			if n, ok := p.CUOccupancy.Get(); ok && n > info.ASIC.ComputeUnits.Or(math.MaxInt) {
				t.Errorf("process %d occupies %d compute units, the card has %v", p.PID, n, info.ASIC.ComputeUnits)
			}
			if v, ok := p.VRAM.Get(); ok && v > info.VRAM.Size.Or(math.MaxUint64) {
				t.Errorf("process %d holds %d bytes, the card has %v", p.PID, v, info.VRAM.Size)
			}
		}
	})
}

func testSnapshot(t *testing.T, src smi.Source) {
	snap, err := smi.TakeSnapshot(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Time.IsZero() {
		t.Error("a snapshot without a time")
	}
	devices, _ := src.Devices(t.Context())
	if len(snap.Devices) != len(devices) {
		t.Fatalf("a snapshot of %d cards, there are %d", len(snap.Devices), len(devices))
	}
	for i, d := range snap.Devices {
		if d.Device != devices[i] {
			t.Errorf("card %d is %+v, in the snapshot %+v", i, devices[i], d.Device)
		}
		if (d.Info == nil) != (d.InfoErr != nil) || (d.Metrics == nil) != (d.MetricsErr != nil) {
			t.Errorf("card %d: a figure and its error must be one or the other: %+v", i, d)
		}
		if (d.ECC == nil) != (d.ECCErr != nil) {
			t.Errorf("card %d: ECC and its error must be one or the other: %+v", i, d)
		}
		for q, f := range map[string]*smi.Failure{"Info": d.InfoErr, "Metrics": d.MetricsErr, "ECC": d.ECCErr, "Processes": d.ProcessesErr} {
			optional(t, q, f.Err())
		}
	}
}

func testConcurrent(t *testing.T, src smi.Source) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := smi.TakeSnapshot(t.Context(), src); err != nil {
					t.Error(err)
					return
				}
				if _, err := src.Processes(t.Context(), 0); err != nil && !errors.Is(err, smi.ErrNotSupported) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
