package provider

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// maxExtra is the size of the host's array.
const maxExtra = 64

// figures are what the host is told of a card's use.
type figures struct {
	watts, celsius float64
	rx, tx         uint64 // bytes per second over PCIe
	busy           uint32 // percent
	used           uint64 // bytes of memory
	extra          []extra
}

type extra struct {
	key   string
	value float64
}

// metrics are the figures of the devices and partitions of some UUIDs, nil for one that
// is nobody's or did not answer. The error says that no card that was asked for did.
func (h *host) metrics(ctx context.Context, l *library, uuids []string) ([]*figures, error) {
	cards, _, err := l.cards(ctx)
	list := make([]*figures, len(uuids))
	if err != nil {
		return list, err
	}
	links := l.linkFigures(ctx, cards)
	answered := false
	for i, uuid := range uuids {
		d := h.deviceOf(l, cards, uuid)
		if d == nil {
			continue
		}
		if d.Metrics == nil {
			err = d.MetricsErr.Err()
			continue
		}
		answered = true
		list[i] = figuresOf(d, links[d.Device.Index], l.rate(d.Device.Index))
	}
	if answered {
		err = nil
	}
	return list, err
}

// deviceOf is the source's device that answers for a UUID, nil if it is nobody's.
func (h *host) deviceOf(l *library, cards []card, uuid string) *smi.DeviceSnapshot {
	if c := find(cards, uuid); c != nil {
		return c.whole()
	}
	a := h.ledger.find(uuid)
	if a == nil {
		return nil
	}
	c := find(cards, a.card)
	if c == nil {
		return nil
	}
	for _, p := range c.parts {
		if l.part(p) == uint32(a.part) {
			return p
		}
	}
	return c.whole()
}

func figuresOf(d *smi.DeviceSnapshot, links *smi.XGMI, rate *traffic) *figures {
	m := d.Metrics
	f := &figures{
		watts: math.Max(0, finite(float64(m.Power.Draw().Or(0)))),
		rx:    count(m.PCIe.Received), tx: count(m.PCIe.Sent),
		busy: uint32(math.Round(percent(float64(m.Activity.GFX.Or(0))))),
		used: uint64(m.VRAM.Used.Or(0)),
	}
	for _, s := range []string{smi.SensorEdge, smi.SensorHotspot} { // some cards have no sensor at the edge
		if t, ok := m.Temperature(s).Get(); ok {
			f.celsius = finite(float64(t))
			break
		}
	}
	f.extra = extras(d, links, rate)
	return f
}

// extras are the figures that have no place of their own. Their keys become columns of
// TensorFusion's table of metrics; graphics_clock_mhz to nvlink_tx are those that it
// knows, for which AMD's cards have the like.
func extras(d *smi.DeviceSnapshot, links *smi.XGMI, rate *traffic) (list []extra) {
	m := d.Metrics
	add := func(key string, v float64, ok bool) {
		if ok && !math.IsNaN(v) && !math.IsInf(v, 0) && len(list) < maxExtra {
			list = append(list, extra{key, v})
		}
	}
	mhz := func(key, domain string) {
		v, ok := m.Clock(domain).Get()
		add(key, float64(v)/1e6, ok)
	}
	mhz("graphics_clock_mhz", smi.ClockGFX)
	mhz("sm_clock_mhz", smi.ClockGFX) // the compute units have that clock
	mhz("memory_clock_mhz", smi.ClockMem)
	mhz("video_clock_mhz", smi.ClockVideo)
	if rate != nil {
		add("nvlink_rx", rate.in, true)
		add("nvlink_tx", rate.out, true)
	}
	mhz("soc_clock_mhz", smi.ClockSOC)
	mhz("fabric_clock_mhz", smi.ClockDF)
	temperature := func(key, sensor string) {
		v, ok := m.Temperature(sensor).Get()
		add(key, float64(v), ok)
	}
	temperature("edge_temperature_celsius", smi.SensorEdge)
	temperature("hotspot_temperature_celsius", smi.SensorHotspot)
	temperature("memory_temperature_celsius", smi.SensorMem)
	plain(add, "power_cap_watts", m.Power.Cap, 1)
	plain(add, "energy_joules_total", m.Energy, 1)
	if len(m.Fans) > 0 {
		plain(add, "fan_speed_rpm", m.Fans[0].Speed, 1)
		plain(add, "fan_duty_percent", m.Fans[0].Duty, 100)
	}
	plain(add, "memory_activity_percent", m.Activity.UMC, 100)
	plain(add, "media_activity_percent", m.Activity.MM, 100)
	number(add, "gtt_used_bytes", m.GTT.Used)
	number(add, "pcie_replays_total", m.PCIe.Replays)
	if e := d.ECC; e != nil {
		number(add, "ecc_correctable_total", e.Correctable)
		number(add, "ecc_uncorrectable_total", e.Uncorrectable)
		number(add, "ecc_deferred_total", e.Deferred)
	}
	if s, ok := m.Throttle.Status.Get(); ok {
		add("throttled", map[bool]float64{true: 1}[s != 0], true)
	}
	throttle(add, m.Throttle.Violations)
	if links != nil {
		var in, out uint64
		known := false
		for _, k := range links.Links {
			known = known || k.Read.Ok() || k.Written.Ok()
			in += uint64(k.Read.Or(0))
			out += uint64(k.Written.Or(0))
		}
		add("xgmi_read_bytes_total", float64(in), known)
		add("xgmi_written_bytes_total", float64(out), known)
	}
	if s, ok := m.Stale.Get(); ok {
		add("metrics_age_seconds", s.Seconds(), true)
	}
	return list
}

func plain[T ~float64](add func(string, float64, bool), key string, v smi.Opt[T], factor float64) {
	x, ok := v.Get()
	add(key, float64(x)*factor, ok)
}

func number[T ~uint64](add func(string, float64, bool), key string, v smi.Opt[T]) {
	x, ok := v.Get()
	add(key, float64(x), ok)
}

// throttle adds for how long each limit held the card back; of limits that single dies
// have, the die that was held back longest.
func throttle(add func(string, float64, bool), list []smi.Violation) {
	var kinds []string
	total := map[string]float64{}
	for _, v := range list {
		t, ok := v.Total.Get()
		if !ok {
			continue
		}
		if _, seen := total[v.Kind]; !seen {
			kinds = append(kinds, v.Kind)
		}
		total[v.Kind] = math.Max(total[v.Kind], t.Seconds())
	}
	for _, k := range kinds {
		add("throttle_"+column(k)+"_seconds_total", total[k], true)
	}
}

// column is a text as the name of a database's column.
func column(s string) string {
	s = strings.ReplaceAll(tensorfusion.Name(s), "-", "_")
	return s
}

// traffic is what a card's links to other cards carried.
type traffic struct {
	at          time.Time
	read, wrote uint64
	in, out     float64 // bytes per second, between the last two looks
	looks       int
}

// linkFigures are what the cards' links carried, and notes how fast that grows.
func (l *library) linkFigures(ctx context.Context, cards []card) map[int]*smi.XGMI {
	m, err := l.links.get(ctx, l.ctx, time.Second, func(ctx context.Context) (map[int]*smi.XGMI, error) {
		m, _, _ := each(cards, func(c *card) (*smi.XGMI, error) { return l.src.XGMI(ctx, c.source()) })
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, x := range m {
			if len(x.Links) == 0 || x.Stale.Ok() {
				continue
			}
			t := l.traffic[i]
			if t == nil {
				t = &traffic{}
				l.traffic[i] = t
			}
			t.note(time.Now(), x)
		}
		return m, nil
	})
	if err != nil {
		return nil
	}
	return m
}

func (t *traffic) note(now time.Time, x *smi.XGMI) {
	var read, wrote uint64
	for _, k := range x.Links {
		read += uint64(k.Read.Or(0))
		wrote += uint64(k.Written.Or(0))
	}
	if s := now.Sub(t.at).Seconds(); t.looks > 0 && s > 0 {
		t.in, t.out = 0, 0
		if read >= t.read && wrote >= t.wrote { // else the card was reset
			t.in, t.out = float64(read-t.read)/s, float64(wrote-t.wrote)/s
		}
	}
	t.at, t.read, t.wrote = now, read, wrote
	t.looks++
}

// rate is how fast a card's links carry now; nil if that is not known.
func (l *library) rate(index int) *traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.traffic[index]
	if t == nil || t.looks < 2 {
		return nil
	}
	r := *t
	return &r
}
