package smitest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
)

func testFirmware(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		fs, err := src.Firmware(ctx, d.Index)
		if !optional(t, "Firmware", err) {
			return
		}
		last := ""
		for _, f := range fs {
			if f.Name <= last {
				t.Errorf("card %d: firmware %q stands after %q", d.Index, f.Name, last)
			}
			last = f.Name
			if f.Version == "" {
				t.Errorf("card %d: firmware %q without a version", d.Index, f.Name)
			}
			checkNumbers(t, "Firmware", f)
		}
	})
}

func testECC(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		e, err := src.ECC(ctx, d.Index)
		if !optional(t, "ECC", err) {
			return
		}
		checkNumbers(t, "ECC", *e)
		seen := map[string]bool{}
		for _, b := range e.Blocks {
			if b.Block == "" || seen[b.Block] {
				t.Errorf("card %d: block %q without a name or twice", d.Index, b.Block)
			}
			seen[b.Block] = true
			oneOf(t, "state of a block", b.State, smi.RASEnabled, smi.RASDisabled)
			for _, c := range []struct{ part, all smi.Opt[uint64] }{{b.Correctable, e.Correctable}, {b.Uncorrectable, e.Uncorrectable}, {b.Deferred, e.Deferred}} {
				if part, ok := c.part.Get(); ok && c.all.Ok() && part > c.all.Or(0) {
					t.Errorf("card %d: block %s had %d errors, the card %d", d.Index, b.Block, part, c.all.Or(0))
				}
			}
		}
	})
}

func testBadPages(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		ps, err := src.BadPages(ctx, d.Index)
		if !optional(t, "BadPages", err) {
			return
		}
		for _, p := range ps {
			if p.Size == 0 || p.State == "" {
				t.Errorf("card %d: bad page %+v", d.Index, p)
			}
			oneOf(t, "state of a page", p.State, smi.PageReserved, smi.PagePending, smi.PageUnreservable)
			checkNumbers(t, "BadPage", p)
		}
	})
}

func testXGMI(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		x, err := src.XGMI(ctx, d.Index)
		if !optional(t, "XGMI", err) {
			return
		}
		checkNumbers(t, "XGMI", *x)
		oneOf(t, "XGMI errors", x.Errors, smi.XGMINoErrors, smi.XGMIError, smi.XGMIMultipleErrors)
		for _, l := range x.Links {
			oneOf(t, "state of a link", l.State, smi.LinkUp, smi.LinkDown, smi.LinkDisabled)
			if own, ok := d.BDF.Get(); ok && l.Peer == smi.Some(own) {
				t.Errorf("card %d has a link to itself", d.Index)
			}
		}
	})
}

func testPartitions(t *testing.T, src smi.Source) {
	compute, memory := computePartitions, memoryPartitions
	each(t, src, func(ctx context.Context, d smi.Device) {
		p, err := src.Partitions(ctx, d.Index)
		if !optional(t, "Partitions", err) {
			return
		}
		checkNumbers(t, "Partitions", *p)
		oneOf(t, "compute partition", p.Compute, compute...)
		oneOf(t, "memory partition", p.Memory, memory...)
		for _, m := range p.Memories {
			oneOf(t, "memory partition", "="+m, prefixed("=", memory)...)
		}
		for _, f := range p.Profiles {
			oneOf(t, "compute partition", "="+f.Type, prefixed("=", compute)...)
			if f.Partitions < 1 {
				t.Errorf("card %d: profile %s makes %d parts", d.Index, f.Type, f.Partitions)
			}
			for _, r := range f.Resources {
				if r.Kind == "" || r.SharedBy < 1 {
					t.Errorf("card %d: profile %s: %+v", d.Index, f.Type, r)
				}
			}
		}
	})
}

// prefixed makes a list in which the empty string would not be found.
func prefixed(prefix string, list []string) (p []string) {
	for _, s := range list {
		p = append(p, prefix+s)
	}
	return p
}

func testTopology(t *testing.T, src smi.Source) {
	devices, err := src.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	topo, err := src.Topology(t.Context())
	if !optional(t, "Topology", err) {
		return
	}
	checkNumbers(t, "Topology", *topo)
	n := len(devices)
	seen := map[[2]int]bool{}
	for _, p := range topo.Paths {
		pair := [2]int{p.From, p.To}
		if p.From < 0 || p.From >= n || p.To < 0 || p.To >= n || p.From == p.To || seen[pair] {
			t.Errorf("a path from card %d to card %d of %d, or twice", p.From, p.To, n)
		}
		seen[pair] = true
		oneOf(t, "path", p.Type, smi.LinkPCIe, smi.LinkXGMI)
		lo, ok1 := p.MinBandwidth.Get()
		hi, ok2 := p.MaxBandwidth.Get()
		if ok1 && ok2 && lo > hi {
			t.Errorf("bandwidth from %v to %v", lo, hi)
		}
	}
	if len(seen) != n*(n-1) {
		t.Errorf("%d paths between %d cards", len(seen), n)
	}
}

// Events end with their context, and none is told afterwards.
func testEvents(t *testing.T, src smi.Source) {
	devices, err := src.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, already := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if already {
			cancel()
		} else {
			time.AfterFunc(30*time.Millisecond, cancel)
		}
		over := false // unguarded: the race detector notices who tells events elsewhere
		err := src.Events(ctx, func(e smi.Event) {
			if over {
				t.Error("an event after the end")
			}
			checkEvent(t, e, len(devices))
		})
		over = true
		if !errors.Is(err, context.Canceled) && !errors.Is(err, smi.ErrNotSupported) {
			t.Errorf("Events = %v, want that its context was cancelled", err)
		}
		cancel()
	}
}

func checkEvent(t *testing.T, e smi.Event, cards int) {
	t.Helper()
	if e.Time.IsZero() || e.Kind == "" {
		t.Errorf("event %+v without time or kind", e)
	}
	oneOf(t, "event", e.Kind, eventKinds...)
	if e.Kind == smi.EventMissed && e.Device != smi.NoCard || e.Device < smi.NoCard || e.Device >= cards {
		t.Errorf("event %s is about card %d of %d", e.Kind, e.Device, cards)
	}
}

// refused reports whether a change that must not be made was refused for a sensible
// reason.
func refused(err error, reasons ...smi.Code) bool {
	for _, r := range append(reasons, smi.ErrNotSupported, smi.ErrNoPermission) {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}

// What makes no sense is refused and changes nothing.
func testBadSettings(t *testing.T, src smi.Source) {
	for name, s := range map[string]smi.Setting{
		"nothing":                    {},
		"two things":                 {PowerCap: smi.Some(smi.Watts(300)), Reset: true},
		"a cap of a gigawatt":        {PowerCap: smi.Some(smi.Watts(1e9))},
		"a negative cap":             {PowerCap: smi.Some(smi.Watts(-1))},
		"an unknown level":           {PerfLevel: "nonsense"},
		"an unknown clock":           {Clock: &smi.ClockRange{Domain: "nonsense", Max: smi.Some(smi.MHz(1000))}},
		"a clock of a terahertz":     {Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some(smi.Hertz(1e12))}},
		"determinism at a terahertz": {Determinism: smi.Some(smi.Hertz(1e12))},
		"more than the fan":          {Fan: smi.Some(smi.Ratio(2))},
		"an unknown partition":       {ComputePartition: "nonsense"},
		"an unknown division":        {MemoryPartition: "nonsense"},
	} {
		if err := src.Set(t.Context(), 0, s); !refused(err, smi.ErrInvalid) {
			t.Errorf("setting %s: %v", name, err)
		}
	}
	if err := src.Set(t.Context(), -1, smi.Setting{FanAuto: true}); !refused(err, smi.ErrNotFound) {
		t.Errorf("setting something of no card: %v", err)
	}
}

func testBadFaults(t *testing.T, src smi.Source) {
	in := smi.InjectorOf(src)
	if in == nil {
		return
	}
	if err := in.Inject(t.Context(), 0, smi.Fault{Kind: "nonsense"}); !refused(err, smi.ErrInvalid) {
		t.Errorf("an unknown fault: %v", err)
	}
	if err := in.Inject(t.Context(), -1, smi.Fault{Kind: smi.FaultThermal}); !refused(err, smi.ErrNotFound) {
		t.Errorf("a fault of no card: %v", err)
	}
}
