package amdsmi

import (
	"slices"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// residencies are the firmware's counts of how long each limit was in force, in
// units of its own loop, whose number since then is total.
type residencies struct {
	at     time.Time
	total  uint64
	counts map[limitKey]uint64
	result []smi.Violation // of the time before
}

// limitKey is one limit of the card, or of one of its dies.
type limitKey struct {
	kind  string
	index int
}

// freshness is how long the last reading serves to compute shares of the time since.
const freshness = 10 * time.Second

func (r *reader) throttle(t *smi.Throttle, table buf) {
	t.Status = table.counter(r.l().gpuMetrics.indepThrottleStatus)
	now, ok := r.residencies(table)
	r.card.mu.Lock()
	last := r.card.last
	r.card.mu.Unlock()
	switch {
	case !ok || last.counts == nil || now.at.Sub(last.at) > freshness || now.total < last.total:
		now.result = r.violations()
	case now.total == last.total: // asked again before the firmware counted
		t.Violations = slices.Clone(last.result)
		return
	default:
		now.result = since(last, now)
	}
	if ok {
		r.card.mu.Lock()
		r.card.last = now
		r.card.mu.Unlock()
	}
	t.Violations = slices.Clone(now.result)
}

// residencies reads the counts off the table.
func (r *reader) residencies(table buf) (residencies, bool) {
	t, x := &r.l().gpuMetrics, &r.l().gpuXcpMetrics
	now := residencies{at: time.Now(), counts: map[limitKey]uint64{}}
	total, ok := table.counter(t.accumulationCounter).Get()
	if !ok || total == 0 {
		return now, false
	}
	now.total = total
	for kind, f := range map[string]field{
		smi.ViolationProcHot: t.prochotResidencyAcc, smi.ViolationPower: t.pptResidencyAcc, smi.ViolationSocketThermal: t.socketThmResidencyAcc,
		smi.ViolationVRThermal: t.vrThmResidencyAcc, smi.ViolationHBMThermal: t.hbmThmResidencyAcc,
	} {
		if v, ok := table.counter(f).Get(); ok {
			now.counts[limitKey{kind, 0}] = v
		}
	}
	for kind, f := range map[string]field{
		smi.ViolationHostLimit: x.gfxBelowHostLimitAcc, smi.ViolationHostPower: x.gfxBelowHostLimitPptAcc, smi.ViolationHostThermal: x.gfxBelowHostLimitThmAcc,
		smi.ViolationHostTotal: x.gfxBelowHostLimitTotalAcc, smi.ViolationLowUse: x.gfxLowUtilizationAcc,
	} {
		die := 0
		r.eachPart(table, func(p buf) {
			for i := range int(f.count) {
				if v, ok := p.counterAt(f, i).Get(); ok {
					now.counts[limitKey{kind, die}] = v
					die++
				}
			}
		})
	}
	return now, true
}

// violationOrder is the order limits are listed in.
var violationOrder = []string{
	smi.ViolationProcHot, smi.ViolationPower, smi.ViolationSocketThermal, smi.ViolationVRThermal, smi.ViolationHBMThermal,
	smi.ViolationHostLimit, smi.ViolationHostPower, smi.ViolationHostThermal, smi.ViolationHostTotal, smi.ViolationLowUse,
}

// since says what share of the time between two readings each limit was in force.
func since(last, now residencies) (list []smi.Violation) {
	span := float64(now.total - last.total)
	for _, kind := range violationOrder {
		for i := 0; ; i++ {
			count, ok := now.counts[limitKey{kind, i}]
			if !ok {
				break
			}
			before, ok := last.counts[limitKey{kind, i}]
			if !ok || count < before {
				continue
			}
			list = append(list, smi.Violation{
				Kind: kind, Index: i, Active: smi.Some(count > before),
				Ratio: smi.Some(smi.Ratio(min(1, float64(count-before)/span))),
			})
		}
	}
	return list
}

// violations asks the library, which watches the limits for a tenth of a second.
func (r *reader) violations() (list []smi.Violation) {
	l := &r.l().violationStatus
	b := r.get(fnViolationStatus, l.size)
	for _, v := range []struct {
		kind        string
		per, active field
	}{
		{smi.ViolationProcHot, l.perProchotThrm, l.activeProchotThrm},
		{smi.ViolationPower, l.perPptPwr, l.activePptPwr},
		{smi.ViolationSocketThermal, l.perSocketThrm, l.activeSocketThrm},
		{smi.ViolationVRThermal, l.perVrThrm, l.activeVrThrm},
		{smi.ViolationHBMThermal, l.perHbmThrm, l.activeHbmThrm},
		{smi.ViolationHostLimit, l.perGfxClkBelowHostLimit, l.activeGfxClkBelowHostLimit},
		{smi.ViolationHostPower, l.perGfxClkBelowHostLimitPwr, l.activeGfxClkBelowHostLimitPwr},
		{smi.ViolationHostThermal, l.perGfxClkBelowHostLimitThm, l.activeGfxClkBelowHostLimitThm},
		{smi.ViolationHostTotal, l.perGfxClkBelowHostLimitTotal, l.activeGfxClkBelowHostLimitTotal},
		{smi.ViolationLowUse, l.perLowUtilization, l.activeLowUtilization},
	} {
		die := 0
		for i := range int(v.per.count) {
			ratio := percent(b.numAt(v.per, i))
			active := optMap(b.numAt(v.active, i), func(v uint64) (bool, bool) { return v == 1, v <= 1 })
			if !ratio.Ok() && !active.Ok() {
				continue
			}
			list = append(list, smi.Violation{Kind: v.kind, Index: die, Ratio: ratio, Active: active})
			die++
		}
	}
	return list
}
