// Package smitest checks that an smi.Source keeps the promises of package smi, and
// has a source made of fixed figures for the tests of whatever reads one.
package smitest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

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
		{"EnergyNeverFalls", testEnergy},
		{"Processes", testProcesses},
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
		for name, use := range map[string]smi.MemoryUse{"VRAM": m.VRAM, "GTT": m.GTT} {
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
	})
}

func testEnergy(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		var last smi.Joules
		for range 5 {
			m, err := src.Metrics(ctx, d.Index)
			if err != nil {
				return
			}
			e, ok := m.Energy.Get()
			if !ok {
				return
			}
			if e < last {
				t.Errorf("card %d: energy fell from %v J to %v J", d.Index, last, e)
			}
			last = e
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

func testBadIndex(t *testing.T, src smi.Source) {
	devices, err := src.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, len(devices), len(devices) + 1, math.MaxInt32, math.MinInt32} {
		_, err1 := src.Info(t.Context(), i)
		_, err2 := src.Metrics(t.Context(), i)
		_, err3 := src.Processes(t.Context(), i)
		for q, err := range map[string]error{"Info": err1, "Metrics": err2, "Processes": err3} {
			if !errors.Is(err, smi.ErrNotFound) {
				t.Errorf("%s(%d) = %v, want ErrNotFound", q, i, err)
			}
		}
	}
}

// A cancelled question ends; it may still have been answered.
func testCancelled(t *testing.T, src smi.Source) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := src.Metrics(ctx, 0)
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("Metrics with a cancelled context: %v", err)
	}
	if _, err := src.Devices(t.Context()); err != nil {
		t.Errorf("after a cancelled question: %v", err)
	}
}

// Whoever scribbles over an answer must not change the next one.
func testOwnership(t *testing.T, src smi.Source) {
	ctx := t.Context()
	ds, _ := src.Devices(ctx)
	want := append([]smi.Device(nil), ds...)
	for i := range ds {
		ds[i] = smi.Device{Name: "scribble", Index: -7}
	}
	if again, _ := src.Devices(ctx); !reflect.DeepEqual(again, want) {
		t.Errorf("Devices after scribbling: %+v, want %+v", again, want)
	}
	if info, err := src.Info(ctx, 0); err == nil {
		keep := *info
		*info = smi.Info{}
		if again, _ := src.Info(ctx, 0); again == nil || !reflect.DeepEqual(*again, keep) {
			t.Errorf("Info after scribbling: %+v, want %+v", again, keep)
		}
	}
	if m, err := src.Metrics(ctx, 0); err == nil {
		for i := range m.Clocks {
			m.Clocks[i].Domain = "scribble"
		}
		for i := range m.Temperatures {
			m.Temperatures[i].Sensor = "scribble"
		}
		again, err := src.Metrics(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if again.Clock("scribble").Ok() || again.Temperature("scribble").Ok() {
			t.Error("scribbling over clocks and sensors reached the source")
		}
	}
}

func testEncodings(t *testing.T, src smi.Source) {
	snap, err := smi.TakeSnapshot(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(snap)
	if err != nil {
		t.Fatalf("JSON: %v", err)
	}
	var fromJSON smi.Snapshot
	if err := json.Unmarshal(j, &fromJSON); err != nil {
		t.Fatalf("JSON: %v", err)
	}
	if again, err := json.Marshal(fromJSON); err != nil || string(again) != string(j) {
		t.Errorf("JSON changed on its way (%v):\n%s\n%s", err, j, again)
	}
	m, err := msgpack.Marshal(snap)
	if err != nil {
		t.Fatalf("MessagePack: %v", err)
	}
	var fromPack smi.Snapshot
	if err := msgpack.Unmarshal(m, &fromPack); err != nil {
		t.Fatalf("MessagePack: %v", err)
	}
	fromPack.Time = fromPack.Time.In(snap.Time.Location())
	for i := range fromPack.Devices {
		if m, o := fromPack.Devices[i].Metrics, snap.Devices[i].Metrics; m != nil && o != nil {
			m.Time = m.Time.In(o.Time.Location())
		}
	}
	if again, _ := json.Marshal(fromPack); string(again) != string(j) {
		t.Errorf("MessagePack changed the figures:\n%s\n%s", j, again)
	}
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
		for q, f := range map[string]*smi.Failure{"Info": d.InfoErr, "Metrics": d.MetricsErr, "Processes": d.ProcessesErr} {
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

func testClose(t *testing.T, src smi.Source) {
	if err := src.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	if _, err := src.Devices(t.Context()); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("Devices after Close: %v, want ErrUnavailable", err)
	}
	if _, err := src.Metrics(t.Context(), 0); !errors.Is(err, smi.ErrUnavailable) {
		t.Errorf("Metrics after Close: %v, want ErrUnavailable", err)
	}
}
