package amdsmi

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Metrics implements smi.Source. The first reading of a card takes a tenth of a
// second longer: the library watches the limits for so long.
func (s *Source) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	return ask(ctx, s, index, askMetrics, (*reader).metrics)
}

func (r *reader) metrics() (*smi.Metrics, error) {
	m := &smi.Metrics{Time: time.Now()}
	// The firmware's own table: what the other functions do not tell is there.
	table := r.get(fnGPUMetrics, r.l().gpuMetrics.size)
	r.activity(m, table)
	m.VRAM, m.VisibleVRAM, m.GTT = r.memoryUse(memVRAM), r.memoryUse(memVisible), r.memoryUse(memGTT)
	m.Clocks = r.clocks(table)
	r.power(m, table)
	m.Temperatures = r.temperatures(table)
	m.Energy = r.energy()
	m.Fans = r.fans()
	r.pcie(&m.PCIe)
	r.throttle(&m.Throttle, table)
	if v, ok := r.getUint32(fnPerfLevel).Get(); ok {
		m.PerfLevel = perfLevels[v]
	}
	return answer(r, m)
}

// percent is a share of 100; more than all makes no sense.
func percent(o smi.Opt[uint64]) smi.Opt[smi.Ratio] {
	return optMap(o, func(v uint64) (smi.Ratio, bool) { return smi.Percent(float64(v)), v <= 100 })
}

// or is the first value that is available.
func or[T any](values ...smi.Opt[T]) smi.Opt[T] {
	for _, v := range values {
		if v.Ok() {
			return v
		}
	}
	return smi.None[T]()
}

func (r *reader) activity(m *smi.Metrics, table buf) {
	l, t := &r.l().engineUsage, &r.l().gpuMetrics
	b := r.get(fnActivity, l.size)
	m.Activity.GFX = or(percent(b.num(l.gfxActivity)), percent(table.num(t.averageGfxActivity)))
	m.Activity.UMC = or(percent(b.num(l.umcActivity)), percent(table.num(t.averageUmcActivity)))
	m.Activity.MM = or(percent(b.num(l.mmActivity)), percent(table.num(t.averageMmActivity)))
	x := &r.l().gpuXcpMetrics
	m.Activity.Engines = append(m.Activity.Engines, r.engines(smi.EngineGFX, table, field{}, x.gfxBusyInst)...)
	m.Activity.Engines = append(m.Activity.Engines, r.engines(smi.EngineVCN, table, t.vcnActivity, x.vcnBusy)...)
	m.Activity.Engines = append(m.Activity.Engines, r.engines(smi.EngineJPEG, table, t.jpegActivity, x.jpegBusy)...)
}

// engines lists the single engines of a kind: from the whole card's array, or from
// those of its partitions, which newer firmware fills instead.
func (r *reader) engines(kind string, table buf, whole, part field) (list []smi.Engine) {
	for i := range int(whole.count) {
		if busy := percent(table.numAt(whole, i)); busy.Ok() {
			list = append(list, smi.Engine{Kind: kind, Index: i, Busy: busy})
		}
	}
	if len(list) > 0 {
		return list
	}
	r.eachPart(table, func(x buf) {
		for i := range int(part.count) {
			if busy := percent(x.numAt(part, i)); busy.Ok() {
				list = append(list, smi.Engine{Kind: kind, Index: len(list), Busy: busy})
			}
		}
	})
	return list
}

// eachPart calls f with the table of each partition that there is.
func (r *reader) eachPart(table buf, f func(buf)) {
	t := &r.l().gpuMetrics
	n, ok := asInt(table.num(t.numPartition)).Get()
	if !ok {
		return
	}
	for p := range min(n, int(t.xcpStats.count)) {
		f(table.part(t.xcpStats, p))
	}
}

// Kinds of memory (amdsmi_memory_type_t).
const (
	memVRAM    = 0
	memVisible = 1
	memGTT     = 2
)

// bytes calls a function that tells an amount of one kind of memory.
func (r *reader) bytes(fn function, kind uint64) smi.Opt[smi.Bytes] {
	return optMap(r.getUint64(fn, kind), func(v uint64) (smi.Bytes, bool) { return smi.Bytes(v), v <= 1<<56 })
}

func (r *reader) memoryUse(kind uint64) smi.MemoryUse {
	u := smi.MemoryUse{Total: r.bytes(fnMemoryTotal, kind), Used: r.bytes(fnMemoryUsage, kind)}
	if u.Used.Or(0) > u.Total.Or(^smi.Bytes(0)) {
		u.Used = smi.None[smi.Bytes]()
	}
	return u
}

// energy is the accumulator times its resolution in microjoules.
func (r *reader) energy() smi.Opt[smi.Joules] {
	count, c := r.mem.alloc(8)
	resolution, f := r.mem.alloc(4)
	stamp, _ := r.mem.alloc(8)
	if r.call(fnEnergyCount, count, resolution, stamp) != nil {
		return smi.None[smi.Joules]()
	}
	unit, ok := f.float32()
	if !ok || unit <= 0 || unit > 1e6 {
		return smi.None[smi.Joules]()
	}
	return optMap(c.counter(oneUint64), func(v uint64) (smi.Joules, bool) {
		return smi.Joules(float64(v) * unit / 1e6), true
	})
}

// fanUnits is AMDSMI_MAX_FAN_SPEED: fan speeds that are no turns are parts of it.
const fanUnits = 255

// maxFans is how many fans are looked for; the library does not tell their number.
const maxFans = 4

func (r *reader) fans() (list []smi.Fan) {
	for i := range uint64(maxFans) {
		speed := optMap(r.getInt64(fnFanRPMs, i), func(v int64) (smi.RPM, bool) { return smi.RPM(v), v >= 0 && v < 1e6 })
		duty := optMap(r.getInt64(fnFanSpeed, i), func(v int64) (smi.Ratio, bool) {
			return smi.Ratio(v) / fanUnits, v >= 0 && v <= fanUnits
		})
		if !speed.Ok() && !duty.Ok() {
			return list
		}
		// Some cards tell the highest turns here, others the highest duty, 255.
		max := optMap(r.getUint64(fnFanSpeedMax, i), func(v uint64) (smi.RPM, bool) { return smi.RPM(v), v > fanUnits && v < 1e6 })
		list = append(list, smi.Fan{Index: int(i), Speed: speed, Duty: duty, Max: max})
	}
	return list
}

// perfLevels are the values of amdsmi_dev_perf_level_t.
var perfLevels = map[uint64]string{
	0: smi.PerfAuto, 1: smi.PerfLow, 2: smi.PerfHigh, 3: smi.PerfManual, 4: smi.PerfStandard,
	5: smi.PerfPeak, 6: smi.PerfMinMem, 7: smi.PerfMinGFX, 8: smi.PerfDeterminism,
}
