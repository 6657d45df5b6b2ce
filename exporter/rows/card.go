package rows

import (
	"fmt"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// maxStale is how old figures may be that a card could not tell in time.
const maxStale = 30 * time.Second

// card is a card of a reading, with what rows need.
type card struct {
	*exporter.Card
	uuid      Value
	tflops    smi.Opt[float64]     // peak
	units     int                  // compute units; 0: unknown
	size      smi.Opt[smi.Bytes]   // of its memory
	metrics   *smi.Metrics         // nil: nothing recent is known
	processes []*smi.Process       // those that are shown
	users     bool                 // processes is known
	shares    map[uint32]*interval // by process, of those that are shown
}

func (b *builder) cards() []card {
	list := make([]card, 0, len(b.reading.Cards))
	names := map[string]bool{}
	for i := range b.reading.Cards {
		c := b.card(&b.reading.Cards[i])
		if names[c.uuid.text] && !c.uuid.IsNull() { // parts of one card may have one name
			c.uuid = textOf(fmt.Sprintf("%s-gpu%d", c.uuid.text, c.Device.Index))
		}
		names[c.uuid.text] = true
		list = append(list, c)
	}
	return list
}

func (b *builder) card(r *exporter.Card) card {
	c := card{Card: r}
	if id, ok := tensorfusion.Identify(r.Device, r.Info); ok {
		c.uuid = textOf(id)
	}
	if r.Info != nil {
		c.units = max(0, r.Info.ASIC.ComputeUnits.Or(0))
		if v, _ := tensorfusion.TFLOPS(r.Info, uint64(c.units)); v > 0 {
			c.tflops = smi.Some(v)
		}
		c.size = r.Info.VRAM.Size
	}
	if !r.Fresh {
		return c
	}
	if m := r.Metrics; m != nil && r.MetricsErr == nil && current(r, m.Stale) {
		c.metrics = m
		if m.VRAM.Total.Ok() {
			c.size = m.VRAM.Total
		}
	}
	if r.ProcessesErr == nil && current(r, r.ProcessesStale) {
		c.users = true
		c.processes = b.maker.largest(r.Processes)
		c.shares = b.intervals(&c)
	}
	return c
}

// current reports whether figures are young enough for a row with the time of now.
func current(r *exporter.Card, stale smi.Opt[smi.Duration]) bool {
	s, ok := stale.Get()
	return !ok || r.Age+time.Duration(s) <= maxStale
}

// flops are the TFLOPS that a percentage of the card's peak is.
func (c *card) flops(percent Value) Value {
	peak, ok := c.tflops.Get()
	if percent.IsNull() || !ok {
		return Value{}
	}
	return floatOf(percent.Float() / 100 * peak)
}

func (b *builder) gpuUsage(cards []card) {
	place := &b.maker.place
	for i := range cards {
		c := &cards[i]
		m := c.metrics
		if m == nil || c.uuid.IsNull() {
			continue
		}
		temperature := m.Temperature(smi.SensorEdge)
		if !temperature.Ok() {
			temperature = m.Temperature(smi.SensorHotspot)
		}
		busy := scaled(m.Activity.GFX, 100)
		mhz := func(domain string) Value { return scaled(m.Clock(domain), 1e-6) }
		b.add(gpuUsage, c.uuid, textOf(place.Host), textOf(place.Pool),
			scaled(m.PCIe.Received, 1), scaled(m.PCIe.Sent, 1), scaled(temperature, 1),
			bytesOf(m.VRAM.Used), share(m.VRAM.Used, c.size), busy, c.flops(busy), scaled(m.Power.Draw(), 1),
			mhz(smi.ClockGFX), mhz(smi.ClockGFX), mhz(smi.ClockMem), mhz(smi.ClockVideo), scaled(c.Detail.Links.Read, 1), scaled(c.Detail.Links.Written, 1))
	}
}
