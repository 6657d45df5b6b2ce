package amdsmi

import (
	"context"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// Set implements smi.Source. The library needs root for it. A change of partitions
// changes which cards there are: the source goes on with those it knew.
func (s *Source) Set(ctx context.Context, index int, set smi.Setting) error {
	_, err := ask(ctx, s, index, askSet, func(r *reader) (struct{}, error) {
		err := set.Check()
		if err == nil {
			err = r.set(&set)
		}
		return struct{}{}, err
	})
	return err
}

func (r *reader) set(s *smi.Setting) error {
	const fan, capSensor = 0, 0
	switch {
	case s.PowerCap.Ok():
		return r.setPowerCap(capSensor, s.PowerCap.Or(0))
	case s.PerfLevel != "":
		for v, name := range perfLevels {
			if name == s.PerfLevel {
				return r.change(fnSetPerfLevel, v)
			}
		}
		return smi.Errorf(smi.ErrInvalid, "no performance level %q", s.PerfLevel)
	case s.Clock != nil:
		return r.setClock(s.Clock)
	case s.Determinism.Ok():
		f := s.Determinism.Or(0)
		if err := checkClock(smi.ClockGFX, f); err != nil {
			return err
		}
		return r.change(fnSetDeterminism, uint64(f/1e6))
	case s.Fan.Ok():
		duty := s.Fan.Or(-1)
		if !(duty >= 0 && duty <= 1) {
			return smi.Errorf(smi.ErrInvalid, "a fan runs from 0 to 1, not at %v", duty)
		}
		return r.change(fnSetFanSpeed, fan, uint64(duty*fanUnits+0.5))
	case s.FanAuto:
		return r.change(fnResetFan, fan)
	case s.ComputePartition != "":
		v := slices.Index(computePartitions, s.ComputePartition)
		if v < 1 {
			return smi.Errorf(smi.ErrInvalid, "no compute partition %q", s.ComputePartition)
		}
		return r.change(fnSetComputePartition, uint64(v))
	case s.MemoryPartition != "":
		for v, name := range memoryPartitions {
			if name == s.MemoryPartition {
				return r.change(fnSetMemoryPartition, v)
			}
		}
		return smi.Errorf(smi.ErrInvalid, "no memory partition %q", s.MemoryPartition)
	case s.Reset:
		return r.change(fnResetGPU)
	}
	return smi.ErrNotSupported
}

// change calls a function that changes the card.
func (r *reader) change(fn function, args ...uint64) error {
	err := r.call(fn, args...)
	if smi.CodeOf(err) == smi.ErrNoPermission {
		return smi.Errorf(smi.ErrNoPermission, "GPU %d: %w; only root may change a GPU", r.card.index, err)
	}
	if err != nil {
		return r.explain(err)
	}
	return nil
}

func (r *reader) setPowerCap(sensor uint64, w smi.Watts) error {
	c := r.powerCap()
	lo, hi := c.min.Or(0), c.max.Or(9999)
	if !(w > 0 && w >= lo && w <= hi) {
		return smi.Errorf(smi.ErrInvalid, "GPU %d takes power caps from %v to %v W, not %v", r.card.index, lo, hi, w)
	}
	return r.change(fnSetPowerCap, sensor, uint64(w*1e6+0.5))
}

// settable are the clocks that have limits to set.
var settable = map[string]clockKind{smi.ClockGFX: clockGFX, smi.ClockMem: clockMem}

// Limits of a clock (amdsmi_clk_limit_type_t).
const (
	limitMin = 0
	limitMax = 1
)

func (r *reader) setClock(c *smi.ClockRange) error {
	kind, ok := settable[c.Domain]
	if !ok {
		if slices.ContainsFunc(domains, func(d clockDomain) bool { return d.domain == c.Domain }) {
			return smi.Errorf(smi.ErrNotSupported, "the library sets limits of the clocks gfx and mem, not of %s", c.Domain)
		}
		return smi.Errorf(smi.ErrInvalid, "no clock %q", c.Domain)
	}
	lo, hasLo := c.Min.Get()
	hi, hasHi := c.Max.Get()
	if !hasLo && !hasHi || hasLo && hasHi && lo > hi {
		return smi.Errorf(smi.ErrInvalid, "no clock can run from %v to %v Hz", c.Min, c.Max)
	}
	for _, v := range []smi.Opt[smi.Hertz]{c.Min, c.Max} {
		if f, ok := v.Get(); ok {
			if err := checkClock(c.Domain, f); err != nil {
				return err
			}
		}
	}
	// The library refuses a minimum above the maximum in force: the higher limit
	// first if the range moves up.
	if hasHi && hasLo && lo > r.clock(kind).max.Or(0) {
		if err := r.change(fnSetClockLimit, uint64(kind), limitMax, uint64(hi/1e6)); err != nil {
			return err
		}
		return r.change(fnSetClockLimit, uint64(kind), limitMin, uint64(lo/1e6))
	}
	if hasLo {
		if err := r.change(fnSetClockLimit, uint64(kind), limitMin, uint64(lo/1e6)); err != nil {
			return err
		}
	}
	if hasHi {
		return r.change(fnSetClockLimit, uint64(kind), limitMax, uint64(hi/1e6))
	}
	return nil
}

// checkClock says whether a clock may be asked for. What exactly a card takes only
// the driver knows.
func checkClock(domain string, f smi.Hertz) error {
	const most = 10e9
	if !(f >= 1e6 && f <= most) {
		return smi.Errorf(smi.ErrInvalid, "%v Hz is no frequency of the clock %s", f, domain)
	}
	return nil
}
