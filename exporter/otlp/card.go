package otlp

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// Attributes of the conventions for hardware: of a card, of metrics that all kinds of
// hardware share, and of a sensor or fan of a card.
var (
	gpuAttrs    = []string{"hw.id", "hw.name", "hw.model", "hw.vendor", "hw.serial_number", "hw.driver_version", "hw.firmware_version"}
	hwAttrs     = []string{"hw.id", "hw.name", "hw.type"}
	sensorAttrs = []string{"hw.id", "hw.name", "hw.parent", "hw.sensor_location"}
	fanAttrs    = []string{"hw.id", "hw.name", "hw.parent"}
)

// The metrics of the semantic conventions.
var (
	hwEnergy = define(counter, "hw.energy", "J", "Energy consumed by the component.", hwAttrs)
	hwErrors = define(intCounter, "hw.errors", "{error}", "Number of errors encountered by the component.", hwAttrs, with("error.type"))
	hwPower  = define(gauge, "hw.power", "W", "Instantaneous power consumed by the component.", hwAttrs)
	hwStatus = define(upDown, "hw.status", "1",
		"Operational status: `1` (true) or `0` (false) for each of the possible states.", hwAttrs, with("hw.state"))

	gpuIO = define(intCounter, "hw.gpu.io", "By", "Received and transmitted bytes by the GPU.", gpuAttrs,
		with("network.io.direction", "rocwire.link.type"))
	gpuMemLimit = define(upDown, "hw.gpu.memory.limit", "By", "Size of the GPU memory.", gpuAttrs)
	gpuMemUsage = define(upDown, "hw.gpu.memory.usage", "By", "GPU memory used.", gpuAttrs)
	gpuMemShare = define(gauge, "hw.gpu.memory.utilization", "1", "Fraction of GPU memory used.", gpuAttrs)
	gpuUse      = define(gauge, "hw.gpu.utilization", "1", "Fraction of time spent in a specific task.", gpuAttrs, with("hw.gpu.task"))

	hwTemp      = define(gauge, "hw.temperature", "Cel", "Temperature in degrees Celsius.", sensorAttrs)
	hwTempLimit = define(gauge, "hw.temperature.limit", "Cel", "Temperature limit in degrees Celsius.", sensorAttrs, with("hw.limit_type"))
	hwVoltage   = define(gauge, "hw.voltage", "V", "Voltage measured by the sensor.", sensorAttrs)
	fanSpeed    = define(gauge, "hw.fan.speed", "rpm", "Fan speed in revolutions per minute.", fanAttrs)
	fanLimit    = define(gauge, "hw.fan.speed.limit", "rpm", "Speed limit in rpm.", fanAttrs, with("hw.limit_type"))
	fanShare    = define(gauge, "hw.fan.speed_ratio", "1", "Fan speed expressed as a fraction of its maximum speed.", fanAttrs)
)

// cardPoints adds the figures of one card.
type cardPoints struct {
	*points
	card  *exporter.Card
	id    string // hw.id
	name  string // hw.name
	gpu   attrs  // of the conventions' metrics of a GPU
	hw    attrs  // of what all kinds of hardware have
	brief attrs  // of our own metrics
}

// newCardPoints names a card. An id that another card has already is not unique and gets
// the card's number.
func newCardPoints(p *points, c *exporter.Card, taken map[string]bool) *cardPoints {
	d := c.Device
	id := d.UUID
	if bdf, ok := d.BDF.Get(); ok && id == "" {
		id = bdf.String()
	}
	name := "gpu" + strconv.Itoa(d.Index)
	switch {
	case id == "":
		id = name
	case taken[id]:
		id += "/" + strconv.Itoa(d.Index)
	}
	taken[id] = true
	base := attrs{}.str("hw.id", id).str("hw.name", name)
	brief := base[:len(base):len(base)].str("hw.model", d.Name)
	gpu := brief[:len(brief):len(brief)]
	if i := c.Info; i != nil {
		serial := i.ASIC.Serial
		if serial == "" {
			serial = i.Board.Serial
		}
		gpu = gpu.str("hw.vendor", i.ASIC.VendorName).str("hw.serial_number", serial).str("hw.driver_version", i.Driver.Version).
			str("hw.firmware_version", i.VBIOS.Version)
	}
	return &cardPoints{points: p, card: c, id: id, name: name, gpu: gpu, brief: brief, hw: base[:len(base):len(base)].str("hw.type", "gpu")}
}

// hardware adds what the conventions have for any GPU.
func (c *cardPoints) hardware(m *smi.Metrics) {
	size := m.VRAM.Total
	if c.card.Info != nil && c.card.Info.VRAM.Size.Ok() {
		size = c.card.Info.VRAM.Size
	}
	gpu, hw := c.gpu.set(), c.hw.set()
	gaugeOpt(c.points, gpuMemLimit, size, gpu)
	gaugeOpt(c.points, gpuMemUsage, m.VRAM.Used, gpu)
	if used, ok := m.VRAM.Used.Get(); ok && size.Or(0) > 0 {
		c.gauge(gpuMemShare, float64(used)/float64(size.Or(0)), gpu)
	}
	gaugeOpt(c.points, gpuUse, m.Activity.GFX, c.gpu.set(kv("hw.gpu.task", "general")))
	gaugeOpt(c.points, gpuUse, m.Activity.MM, c.gpu.set(kv("hw.gpu.task", "video")))
	gaugeOpt(c.points, hwPower, m.Power.Draw(), hw)
	counterOpt(c.points, hwEnergy, m.Energy, hw, time.Time{})
	for _, t := range m.Temperatures {
		at := c.sensor(t.Sensor)
		gaugeOpt(c.points, hwTemp, t.Current, at.set())
		gaugeOpt(c.points, hwTempLimit, t.Limit, at.set(kv("hw.limit_type", "high.degraded")))
		gaugeOpt(c.points, hwTempLimit, t.Shutdown, at.set(kv("hw.limit_type", "high.critical")))
	}
	gaugeOpt(c.points, hwVoltage, m.Voltages.GFX, c.sensor("vddgfx").set())
	gaugeOpt(c.points, hwVoltage, m.Voltages.SOC, c.sensor("vddsoc").set())
	gaugeOpt(c.points, hwVoltage, m.Voltages.Mem, c.sensor("vddmem").set())
	for _, f := range m.Fans {
		fan := "fan" + strconv.Itoa(f.Index)
		at := attrs{}.str("hw.id", c.id+"/"+fan).str("hw.name", c.name+" "+fan).str("hw.parent", c.id)
		gaugeOpt(c.points, fanSpeed, f.Speed, at.set())
		gaugeOpt(c.points, fanLimit, f.Max, at.set(kv("hw.limit_type", "max")))
		gaugeOpt(c.points, fanShare, f.Duty, at.set())
	}
}

// sensor names a sensor of the card.
func (c *cardPoints) sensor(at string) attrs {
	return attrs{}.str("hw.id", c.id+"/"+at).str("hw.name", c.name+" "+at).str("hw.parent", c.id).str("hw.sensor_location", at)
}

// errors adds the card's error counters.
func (c *cardPoints) errors(e *smi.ECC) {
	add := func(m *metric, v smi.Opt[uint64], of attrs, kind string, more ...attribute.KeyValue) {
		counterOpt(c.points, m, v, of.set(append(more, kv("error.type", kind))...), time.Time{})
	}
	each := func(m *metric, of attrs, corrected, uncorrected, deferred smi.Opt[uint64], more ...attribute.KeyValue) {
		add(m, corrected, of, "corrected", more...)
		add(m, uncorrected, of, "uncorrected", more...)
		add(m, deferred, of, "deferred", more...)
	}
	each(hwErrors, c.hw, e.Correctable, e.Uncorrectable, e.Deferred)
	for i := range e.Blocks {
		b := &e.Blocks[i]
		each(eccBlocks, c.brief, b.Correctable, b.Uncorrectable, b.Deferred, kv("rocwire.ecc.block", b.Block))
	}
}

// status adds the card's state: failed when it does not answer, degraded when it had
// errors that nobody could correct. While nobody can be asked it is not known.
func (c *cardPoints) status(m *smi.Metrics, e *smi.ECC, asked bool) {
	if m == nil && !asked {
		return
	}
	now := "ok"
	switch {
	case m == nil:
		now = "failed"
	case e != nil && e.UncorrectableErrors(nil) > 0:
		now = "degraded"
	}
	for _, s := range []string{"ok", "degraded", "failed"} {
		v := 0.0
		if s == now {
			v = 1
		}
		c.gauge(hwStatus, v, c.hw.set(attribute.String("hw.state", s)))
	}
}
