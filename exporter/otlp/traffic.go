package otlp

import (
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// traffic adds up what PCIe links carried. No source counts it; what they tell is the
// rate of the last moments, and so the sum of rate × time, taken at every reading, is as
// good as can be had.
type traffic struct {
	cards map[int]*carried
}

// carried is one card's.
type carried struct {
	device         smi.Device
	since, at      time.Time // of the first and the last figures, in the source's time
	sent, received float64
}

// longestGap is for how long one rate may stand: what nobody measured is not counted.
const longestGap = 10 * time.Second

// look takes what a reading tells.
func (t *traffic) look(r *exporter.Reading) {
	if t.cards == nil {
		t.cards = map[int]*carried{}
	}
	for i := range r.Cards {
		c := &r.Cards[i]
		m := c.Metrics
		if !c.Fresh || m == nil || m.Stale.Ok() || !m.PCIe.Sent.Ok() || !m.PCIe.Received.Ok() {
			continue
		}
		k := t.cards[c.Device.Index]
		if k == nil || k.device != c.Device {
			t.cards[c.Device.Index] = &carried{device: c.Device, since: m.Time, at: m.Time}
			continue
		}
		if gap := m.Time.Sub(k.at); gap > 0 && gap <= longestGap {
			k.sent += float64(m.PCIe.Sent.Or(0)) * gap.Seconds()
			k.received += float64(m.PCIe.Received.Or(0)) * gap.Seconds()
		}
		k.at = m.Time
	}
}

// traffic adds what the card's links carried.
func (c *cardPoints) traffic(t *traffic) {
	if k := t.cards[c.card.Device.Index]; k != nil && k.device == c.card.Device && k.at.After(k.since) {
		c.counter(gpuIO, k.sent, c.gpu.set(kv("network.io.direction", "transmit"), kv("rocwire.link.type", "pcie")), k.since)
		c.counter(gpuIO, k.received, c.gpu.set(kv("network.io.direction", "receive"), kv("rocwire.link.type", "pcie")), k.since)
	}
	x := c.card.Detail.XGMI
	if x == nil || len(x.Links) == 0 {
		return
	}
	var read, written smi.Bytes
	for i := range x.Links {
		l := &x.Links[i]
		if !l.Read.Ok() || !l.Written.Ok() {
			return // a sum without a part of it would fall when that is missing
		}
		read += l.Read.Or(0)
		written += l.Written.Or(0)
	}
	c.counter(gpuIO, float64(written), c.gpu.set(kv("network.io.direction", "transmit"), kv("rocwire.link.type", "xgmi")), time.Time{})
	c.counter(gpuIO, float64(read), c.gpu.set(kv("network.io.direction", "receive"), kv("rocwire.link.type", "xgmi")), time.Time{})
}
