package sysfs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Metrics implements smi.Source.
func (s *source) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	return ask(ctx, s, "metrics", index, (*smi.Metrics).Clone, s.metrics)
}

func (s *source) metrics(c *card) (*smi.Metrics, error) {
	m := &smi.Metrics{Time: time.Now()}
	// Every card has this file, so it tells whether there is still a card.
	used, err := c.number("mem_info_vram_used")
	if err != nil && (gone(err) || smi.CodeOf(err) == smi.ErrIO) {
		if lost := c.present(); lost != nil {
			return nil, lost
		}
	}
	m.VRAM = memoryUse(figure(c, "mem_info_vram_total", memory), optional(used, err, memory))
	m.VisibleVRAM = memoryUse(figure(c, "mem_info_vis_vram_total", memory), figure(c, "mem_info_vis_vram_used", memory))
	m.GTT = memoryUse(figure(c, "mem_info_gtt_total", memory), figure(c, "mem_info_gtt_used", memory))

	t := s.table(c)
	hw := c.sensors()
	m.Activity = t.activity()
	if !m.Activity.GFX.Ok() {
		m.Activity.GFX = figure(c, "gpu_busy_percent", percent)
	}
	if !m.Activity.UMC.Ok() {
		m.Activity.UMC = figure(c, "mem_busy_percent", percent)
	}
	if !m.Activity.MM.Ok() && t == nil {
		m.Activity.MM = figure(c, "vcn_busy_percent", percent)
	}
	m.Temperatures = hw.temperatures(c, t.temperatures(), t.apu())
	m.Power.Socket, m.Power.Average = t.power()
	hw.power(c, &m.Power, t.apu())
	m.Clocks = c.clocks(t.clocks())
	m.Voltages = t.voltages()
	hw.voltages(c, &m.Voltages)
	m.Fans = hw.fanList(c)
	if len(m.Fans) == 0 {
		if v, ok := t.float(currentFanSpeed); ok && v > 0 {
			if r := rpm(v); r.Ok() {
				m.Fans = []smi.Fan{{Speed: r}}
			}
		}
	}
	m.PCIe = c.pcie(t)
	m.Throttle.Status = t.throttle()
	c.mu.Lock()
	if v, ok := t.energy(); ok {
		m.Energy = c.meter.look(v)
	}
	m.Throttle.Violations = c.limits.look(t)
	c.mu.Unlock()
	if level := c.line("power_dpm_force_performance_level"); slices.Contains(perfLevels, level) {
		m.PerfLevel = level
		m.Power.Managed = smi.Some(true)
	}
	return m, nil
}

// table is the card's gpu_metrics, nil if it has none that is known.
func (s *source) table(c *card) (t *table) {
	err := c.tree.with(c.at("gpu_metrics"), maxTable, func(b []byte) (err error) {
		t, err = parseTable(append([]byte(nil), b...))
		return err
	})
	if err != nil {
		if code := smi.CodeOf(err); code == smi.ErrBadData || code == smi.ErrNotSupported && !gone(err) {
			s.once("a card's gpu_metrics cannot be used", "gpu", c.Index, "pci", c.BDF.String(), "reason", err)
		}
		return nil
	}
	return t
}

func optional[T any](v uint64, err error, f func(uint64) smi.Opt[T]) smi.Opt[T] {
	if err != nil {
		return smi.None[T]()
	}
	return f(v)
}

func percent(v uint64) smi.Opt[smi.Ratio] { return ratio(float64(v) / 100) }

// memoryUse is how full a memory is; more than full is no figure.
func memoryUse(total, used smi.Opt[smi.Bytes]) smi.MemoryUse {
	if t, ok := total.Get(); ok && used.Or(0) > t {
		used = smi.None[smi.Bytes]()
	}
	return smi.MemoryUse{Total: total, Used: used}
}

// pcie is the link: what the table has not comes from PCI's own files, which for
// cards behind a bridge of their own tell of the link to that bridge.
func (c *card) pcie(t *table) smi.PCIe {
	p := t.pcie()
	if !p.Width.Ok() {
		p.Width = figure(c, "current_link_width", lanes)
	}
	if !p.Speed.Ok() {
		p.Speed = linkSpeed(c.line("current_link_speed"))
	}
	if !p.Replays.Ok() {
		p.Replays = figure(c, "pcie_replay_count", count)
	}
	if !p.Bandwidth.Ok() {
		if sent, received, ok := c.slow.rates(c); ok {
			p.Sent, p.Received = smi.Some(sent), smi.Some(received)
			p.Bandwidth = smi.Some(sent + received)
		}
	}
	return p
}

// lost is err, or that the card is gone if that is why.
func (c *card) lost(err error) error {
	if err == nil || !gone(err) && !errors.Is(err, smi.ErrIO) {
		return err
	}
	if lost := c.present(); lost != nil {
		return lost
	}
	return err
}
