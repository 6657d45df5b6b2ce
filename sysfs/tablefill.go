package sysfs

import (
	"fmt"

	"github.com/rocwire/rocwire/smi"
)

// energyUnit is the unit of energy_accumulator: 15.259 µJ.
const energyUnit = 1.0 / (1 << 16)

// apu reports whether a table is of an APU. Their drivers do not agree on units
// before version 2.4, so their temperatures and powers are taken from hwmon, where
// the kernel has converted them, and from the table only what hwmon has not.
func (t *table) apu() bool { return t != nil && t.format >= 2 }

// activity is how busy the engines were.
func (t *table) activity() (a smi.Activity) {
	if t == nil {
		return a
	}
	a.GFX, a.UMC, a.MM = t.percent(averageGFXActivity), t.percent(averageUMCActivity), t.percent(averageMMActivity)
	rows := func(kind string, f field) {
		parts := max(t.at[f].parts, 1)
		if n, ok := t.get(numPartition); ok && parts > 1 {
			parts = min(parts, max(int(n), 1))
		}
		// A partition lists its own engines from 0; those of the card are numbered
		// through.
		next := 0
		for p := range parts {
			for i := range t.count(f) {
				v, ok := t.part(f, p, i)
				if !ok {
					continue
				}
				if r := ratio(float64(v) / 100); r.Ok() {
					a.Engines = append(a.Engines, smi.Engine{Kind: kind, Index: next, Busy: r})
				}
				next++
			}
		}
	}
	rows(smi.EngineGFX, gfxBusyInst)
	if t.has(vcnActivity) {
		rows(smi.EngineVCN, vcnActivity)
	} else {
		rows(smi.EngineVCN, vcnBusy)
	}
	if t.has(jpegActivity) {
		rows(smi.EngineJPEG, jpegActivity)
	} else {
		rows(smi.EngineJPEG, jpegBusy)
	}
	return a
}

// percent is a share in percent; in hundredths of it in version 2.4, and in those
// of versions 2.x that are beyond 100.
func (t *table) percent(f field) smi.Opt[smi.Ratio] {
	v, ok := t.float(f)
	if !ok {
		return smi.None[smi.Ratio]()
	}
	if t.format == 2 && (t.content == 4 || v > 100) {
		v /= 100
	}
	return ratio(v / 100)
}

// temperatures are the sensors of a table, without limits. Those of an APU are in
// hundredths of a degree.
func (t *table) temperatures() (ts []smi.Temperature) {
	scale := 1.0
	if t.apu() {
		scale = 0.01
	}
	add := func(sensor string, v uint64, ok bool) {
		if !ok {
			return
		}
		if c := celsius(float64(v) * scale); c.Ok() {
			ts = append(ts, smi.Temperature{Sensor: sensor, Current: c})
		}
	}
	for _, s := range []struct {
		sensor string
		f      field
	}{
		{smi.SensorEdge, temperatureEdge}, {smi.SensorEdge, temperatureGFX},
		{smi.SensorHotspot, temperatureHotspot}, {smi.SensorMem, temperatureMem},
		{smi.SensorVRGFX, temperatureVRGFX}, {smi.SensorVRSOC, temperatureVRSOC}, {smi.SensorVRMem, temperatureVRMem},
		{"soc", temperatureSOC},
	} {
		v, ok := t.get(s.f)
		add(s.sensor, v, ok)
	}
	for _, s := range []struct {
		sensor string
		f      field
	}{{"hbm", temperatureHBM}, {"xcd", temperatureXCD}} {
		for i := range t.count(s.f) {
			v, ok := t.index(s.f, i)
			add(fmt.Sprintf("%s%d", s.sensor, i), v, ok)
		}
	}
	return ts
}

// power is what the whole package draws now and on average.
func (t *table) power() (now, average smi.Opt[smi.Watts]) {
	if v, ok := t.float(currSocketPower); ok {
		now = watts(v)
	}
	if v, ok := t.float(averageSocketPower); ok {
		if t.apu() {
			v /= 1000
		}
		average = watts(v)
	}
	return now, average
}

// energy is the reading of the energy counter. Only the counters of 64 bits are
// taken: the others turn over within minutes. A card that has none leaves it 0.
func (t *table) energy() (float64, bool) {
	v, ok := t.get(energyAccumulator)
	if !ok || v == 0 || v >= 1<<60 {
		return 0, false
	}
	return float64(v) * energyUnit, true
}

// clocks are the current clocks, without their ranges.
func (t *table) clocks() (cs []smi.Clock) {
	add := func(domain string, index int, f field, i int) bool {
		v, ok := t.index(f, i)
		if !ok {
			return false
		}
		h := hertz(float64(v) * 1e6)
		if h.Ok() {
			cs = append(cs, smi.Clock{Domain: domain, Index: index, Current: h})
		}
		return h.Ok()
	}
	for _, c := range []struct {
		domain  string
		f, then field
	}{
		{smi.ClockGFX, currentGFXClk, averageGFXClk},
		{smi.ClockMem, currentUClk, averageUClk},
		{smi.ClockSOC, currentSOCClk, averageSOCClk},
		{smi.ClockDF, currentFClk, averageFClk},
		{smi.ClockVideo, currentVClk0, averageVClk},
		{smi.ClockData, currentDClk0, none},
	} {
		f := c.f
		if !t.has(f) {
			f = c.then // version 3.0 has averages only
		}
		n := 0
		for i := range t.count(f) {
			if add(c.domain, i, f, i) {
				n = i + 1
			}
		}
		switch {
		case n == 0:
		case c.f == currentVClk0:
			add(c.domain, n, currentVClk1, 0)
		case c.f == currentDClk0:
			add(c.domain, n, currentDClk1, 0)
		}
	}
	if locks, ok := t.get(gfxClkLockStatus); ok {
		for i := range cs {
			if cs[i].Domain == smi.ClockGFX && cs[i].Index < 32 {
				cs[i].Locked = smi.Some(locks>>cs[i].Index&1 != 0)
			}
		}
	}
	return cs
}

// voltages of the rails, from millivolts.
func (t *table) voltages() (v smi.Voltages) {
	read := func(f field) smi.Opt[smi.Volts] {
		mv, ok := t.float(f)
		if !ok {
			return smi.None[smi.Volts]()
		}
		return volts(mv / 1000)
	}
	v.GFX, v.SOC, v.Mem = read(voltageGFX), read(voltageSOC), read(voltageMem)
	return v
}

// pcie is the link and its counters.
func (t *table) pcie() (p smi.PCIe) {
	if v, ok := t.get(pcieLinkWidth); ok {
		p.Width = lanes(v)
	}
	if v, ok := t.float(pcieLinkSpeed); ok {
		p.Speed = transfers(v * 1e8)
	}
	// The headers disagree on the unit of the bandwidth; the vendor's tools show it
	// as megabits per second, and accumulated readings fit nothing else.
	if v, ok := t.float(pcieBandwidthInst); ok && v < 1e9 {
		p.Bandwidth = smi.Some(smi.BytesPerSecond(v * 1e6 / 8))
	}
	counter := func(f field) smi.Opt[uint64] {
		v, ok := t.get(f)
		if !ok {
			return smi.None[uint64]()
		}
		return count(v)
	}
	p.Recoveries, p.Replays, p.ReplayRollovers = counter(pcieL0ToRecovery), counter(pcieReplay), counter(pcieReplayRollover)
	p.NAKsSent, p.NAKsReceived = counter(pcieNAKSent), counter(pcieNAKReceived)
	return p
}

// throttle is the chip-independent set of reasons for lower clocks.
func (t *table) throttle() smi.Opt[uint64] {
	v, ok := t.get(indepThrottleStatus)
	if !ok {
		return smi.None[uint64]()
	}
	return smi.Some(v)
}

// maxBandwidth is the highest rate of the card's memory.
func (t *table) maxBandwidth() smi.Opt[smi.BytesPerSecond] {
	v, ok := t.float(memMaxBandwidth)
	if !ok || v == 0 || v > 1e6 {
		return smi.None[smi.BytesPerSecond]()
	}
	return smi.Some(smi.BytesPerSecond(v * 1e9))
}
