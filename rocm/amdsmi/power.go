package amdsmi

import "github.com/rocwire/rocwire/smi"

// watts is a power in whole watts; 10 kW and more are none of a card.
func watts(o smi.Opt[uint64]) smi.Opt[smi.Watts] {
	return optMap(o, func(v uint64) (smi.Watts, bool) { return smi.Watts(v), v < 10_000 })
}

// microwatts is a power in millionths of a watt.
func microwatts(o smi.Opt[uint64]) smi.Opt[smi.Watts] {
	return optMap(o, func(v uint64) (smi.Watts, bool) { return smi.Watts(float64(v) / 1e6), v < 10_000_000_000 })
}

// millivolts is a potential in thousandths of a volt; a rail that is off has 0.
func millivolts(o smi.Opt[uint64]) smi.Opt[smi.Volts] {
	return optMap(o, func(v uint64) (smi.Volts, bool) { return smi.Volts(float64(v) / 1e3), v < 100_000 })
}

// capInfo is the card's power limit and its range.
type capInfo struct{ now, usual, min, max smi.Opt[smi.Watts] }

func (r *reader) powerCap() capInfo {
	const sensor = 0
	l := &r.l().powerCapInfo
	b := r.get(fnPowerCapInfo, l.size, sensor)
	c := capInfo{microwatts(b.num(l.powerCap)), microwatts(b.num(l.defaultPowerCap)), microwatts(b.num(l.minPowerCap)), microwatts(b.num(l.maxPowerCap))}
	if c.max == smi.Some(smi.Watts(0)) { // a card that tells no range
		c.min, c.max = smi.None[smi.Watts](), smi.None[smi.Watts]()
	}
	return c
}

func (r *reader) power(m *smi.Metrics, table buf) {
	l, t := &r.l().powerInfo, &r.l().gpuMetrics
	b := r.get(fnPowerInfo, l.size)
	m.Power.Socket = or(watts(b.num(l.currentSocketPower)), watts(table.num(t.currentSocketPower)))
	m.Power.Average = or(watts(b.num(l.averageSocketPower)), watts(table.num(t.averageSocketPower)))
	c := r.powerCap()
	m.Power.Cap, m.Power.DefaultCap, m.Power.MinCap, m.Power.MaxCap = c.now, c.usual, c.min, c.max
	m.Power.Managed = r.get(fnPowerManagement, 1).flag(oneBool)
	m.Voltages = smi.Voltages{
		GFX: or(millivolts(b.num(l.gfxVoltage)), millivolts(table.num(t.voltageGfx))),
		SOC: or(millivolts(b.num(l.socVoltage)), millivolts(table.num(t.voltageSoc))),
		Mem: or(millivolts(b.num(l.memVoltage)), millivolts(table.num(t.voltageMem))),
	}
}
