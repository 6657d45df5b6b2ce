package sysfs

import "github.com/rocwire/rocwire/smi"

// violations turns the running counters of a table into the share of time in which
// each limit was in force since the last look. The counters count in cycles of the
// firmware; accumulation_counter counts all of them.
type violations struct {
	cycles uint64
	before map[limit]uint64
	ratios map[limit]smi.Opt[smi.Ratio]
}

// limit is one limit of the whole card or of one die.
type limit struct {
	kind  string
	index int
}

var cardLimits = []struct {
	kind string
	f    field
}{
	{smi.ViolationProcHot, prochotResidency},
	{smi.ViolationPower, pptResidency},
	{smi.ViolationSocketThermal, socketThermalResidency},
	{smi.ViolationVRThermal, vrThermalResidency},
	{smi.ViolationHBMThermal, hbmThermalResidency},
}

var dieLimits = []struct {
	kind string
	f    field
}{
	{smi.ViolationHostLimit, gfxBelowHostLimit},
	{smi.ViolationHostPower, gfxBelowHostLimitPPT},
	{smi.ViolationHostThermal, gfxBelowHostLimitThermal},
	{smi.ViolationLowUse, gfxLowUtilization},
	{smi.ViolationHostTotal, gfxBelowHostLimitTotal},
}

// look reads a table and returns its limits. The first look knows of each limit only
// that it exists.
func (vs *violations) look(t *table) (list []smi.Violation) {
	cycles, ok := t.get(accumulationCounter)
	if !ok {
		return nil
	}
	now := map[limit]uint64{}
	var order []limit
	see := func(l limit, v uint64) {
		now[l] = v
		order = append(order, l)
	}
	for _, c := range cardLimits {
		if v, ok := t.get(c.f); ok {
			see(limit{c.kind, 0}, v)
		}
	}
	parts := 1
	if n, ok := t.get(numPartition); ok {
		parts = min(max(int(n), 1), numXCP)
	}
	for _, d := range dieLimits {
		next := 0
		for p := range parts {
			for i := range t.count(d.f) {
				if v, ok := t.part(d.f, p, i); ok {
					see(limit{d.kind, next}, v)
					next++
				}
			}
		}
	}
	// The same reading twice (the driver keeps one for a millisecond) says nothing
	// new; a counter that fell began anew.
	if vs.before == nil || cycles != vs.cycles {
		ratios := map[limit]smi.Opt[smi.Ratio]{}
		for l, v := range now {
			before, seen := vs.before[l]
			if seen && v >= before && cycles > vs.cycles {
				ratios[l] = smi.Some(smi.Ratio(min(float64(v-before)/float64(cycles-vs.cycles), 1)))
			}
		}
		vs.cycles, vs.before, vs.ratios = cycles, now, ratios
	}
	for _, l := range order {
		one := smi.Violation{Kind: l.kind, Index: l.index, Ratio: vs.ratios[l]}
		if r, ok := one.Ratio.Get(); ok {
			one.Active = smi.Some(r > 0)
		}
		list = append(list, one)
	}
	return list
}

// energy keeps the energy counter from falling: when the card was reset or the
// counter turned over, it goes on from where it was.
type energy struct {
	last, base float64
}

func (e *energy) look(v float64) smi.Opt[smi.Joules] {
	if v < e.last {
		e.base += e.last
	}
	e.last = v
	return smi.Some(smi.Joules(e.base + v))
}
