package amdsmi

import (
	"strconv"

	"github.com/rocwire/rocwire/smi"
)

// sensor is one of amdsmi_temperature_type_t.
type sensor uint64

// Figures of a sensor (amdsmi_temperature_metric_t).
const (
	tempCurrent   = 0
	tempCritical  = 5
	tempEmergency = 7
)

// sensors are those that have a function; the table has more.
var sensors = []struct {
	sensor sensor
	name   string
}{
	{0, smi.SensorEdge}, {1, smi.SensorHotspot}, {2, smi.SensorMem}, {7, smi.SensorPLX},
	{3, "hbm0"}, {4, "hbm1"}, {5, "hbm2"}, {6, "hbm3"},
}

// limits of a sensor.
type limits struct{ slow, off smi.Opt[smi.Celsius] }

// celsius is a temperature the library tells in degrees, or, some of its versions
// for some sensors, in thousandths: no card is 1000 degrees hot.
func celsius(v int64) (smi.Celsius, bool) {
	c := smi.Celsius(v)
	if v >= 1000 || v <= -1000 {
		c /= 1000
	}
	return c, c > -50 && c < 250
}

// degrees is a temperature of the table.
func degrees(o smi.Opt[uint64]) smi.Opt[smi.Celsius] {
	return optMap(o, func(v uint64) (smi.Celsius, bool) { return smi.Celsius(v), v < 250 })
}

func (r *reader) temperature(s sensor, figure uint64) smi.Opt[smi.Celsius] {
	return optMap(r.getInt64(fnTempMetric, uint64(s), figure), celsius)
}

// limitsOf asks for a sensor's limits once.
func (r *reader) limitsOf(s sensor) limits {
	r.card.mu.Lock()
	l, known := r.card.limits[s]
	r.card.mu.Unlock()
	if known {
		return l
	}
	l = limits{slow: r.temperature(s, tempCritical), off: r.temperature(s, tempEmergency)}
	for _, v := range []*smi.Opt[smi.Celsius]{&l.slow, &l.off} {
		if v.Or(1) <= 0 { // 0 is how a card says that there is none
			*v = smi.None[smi.Celsius]()
		}
	}
	r.card.mu.Lock()
	r.card.limits[s] = l
	r.card.mu.Unlock()
	return l
}

func (r *reader) temperatures(table buf) []smi.Temperature {
	t := &r.l().gpuMetrics
	fallback := map[string]field{smi.SensorEdge: t.temperatureEdge, smi.SensorHotspot: t.temperatureHotspot, smi.SensorMem: t.temperatureMem}
	var list []smi.Temperature
	add := func(name string, now smi.Opt[smi.Celsius], l limits) {
		if now.Ok() {
			list = append(list, smi.Temperature{Sensor: name, Current: now, Limit: l.slow, Shutdown: l.off})
		}
	}
	stacks := 0
	for _, s := range sensors {
		now := or(r.temperature(s.sensor, tempCurrent), degrees(table.num(fallback[s.name])))
		if !now.Ok() {
			continue
		}
		if s.sensor >= 3 && s.sensor <= 6 {
			stacks++
		}
		add(s.name, now, r.limitsOf(s.sensor))
	}
	if stacks == 0 {
		each := t.temperatureHbmStacks // since ABI 27
		if !table.numAt(each, 0).Ok() {
			each = t.temperatureHbm
		}
		for i := range int(each.count) {
			add("hbm"+strconv.Itoa(i), degrees(table.numAt(each, i)), limits{})
		}
	}
	add(smi.SensorVRGFX, degrees(table.num(t.temperatureVrgfx)), limits{})
	add(smi.SensorVRSOC, degrees(table.num(t.temperatureVrsoc)), limits{})
	add(smi.SensorVRMem, degrees(table.num(t.temperatureVrmem)), limits{})
	dies := 0
	r.eachPart(table, func(x buf) {
		each := r.l().gpuXcpMetrics.temperatureXcd // since ABI 27
		for i := range int(each.count) {
			if now := degrees(x.numAt(each, i)); now.Ok() {
				add("xcd"+strconv.Itoa(dies), now, limits{})
				dies++
			}
		}
	})
	return list
}
