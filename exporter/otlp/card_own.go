package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rocwire/rocwire/smi"
)

// briefAttrs name a card; the rest of its identity is on the metrics of the conventions,
// which hw.id leads to.
var briefAttrs = []string{"hw.id", "hw.name", "hw.model"}

// What the semantic conventions have no metric for.
var (
	gpuAge = define(gauge, "rocwire.gpu.reading.age", "s", "Time since the GPU told the figures that are sent.", briefAttrs)

	computeUnits = define(upDown, "rocwire.gpu.compute_units", "{compute_unit}", "Compute units of the GPU.", briefAttrs)
	memBandwidth = define(gauge, "rocwire.gpu.memory.bandwidth.limit", "By/s", "Peak bandwidth of the GPU's memory.", briefAttrs)
	gttLimit     = define(upDown, "rocwire.gpu.gtt.limit", "By", "Host memory that may be lent to the GPU.", briefAttrs)
	gttUsage     = define(upDown, "rocwire.gpu.gtt.usage", "By", "Host memory lent to the GPU.", briefAttrs)
	engineUse    = define(gauge, "rocwire.gpu.engine.utilization", "1",
		"Fraction of time a single engine was busy: umc (memory controller), gfx (one accelerator die), vcn, jpeg.", briefAttrs,
		with("rocwire.engine.type", "rocwire.engine.index"))

	clock      = define(gauge, "rocwire.gpu.clock.frequency", "Hz", "Current clock.", briefAttrs, with("rocwire.clock.domain", "rocwire.clock.index"))
	clockLimit = define(gauge, "rocwire.gpu.clock.frequency.limit", "Hz", "Clock limit in force.", briefAttrs,
		with("rocwire.clock.domain", "rocwire.clock.index", "hw.limit_type"))
	powerAverage = define(gauge, "rocwire.gpu.power.average", "W", "Power drawn, the GPU's own running average.", briefAttrs)
	powerLimit   = define(gauge, "rocwire.gpu.power.limit", "W",
		"Power limit: enforced (in force now), default (after a reset), low and max (range it may be set in).", briefAttrs, with("hw.limit_type"))

	throttleTime = define(counter, "rocwire.gpu.throttle.time", "s",
		"Time for which a limit lowered the clocks since the driver was loaded.", briefAttrs, with("rocwire.throttle.reason", "rocwire.throttle.index"))
	throttleShare = define(gauge, "rocwire.gpu.throttle.utilization", "1",
		"Fraction of the last moments in which a limit lowered the clocks.", briefAttrs, with("rocwire.throttle.reason", "rocwire.throttle.index"))
	throttled = define(upDown, "rocwire.gpu.throttle.active", "1", "1 if a limit lowers the clocks now, else 0.", briefAttrs,
		with("rocwire.throttle.reason", "rocwire.throttle.index"))

	eccBlocks = define(intCounter, "rocwire.gpu.block.errors", "{error}",
		"Errors of the GPU by the part that had them: umc (memory controller), sdma, gfx, ….", briefAttrs, with("rocwire.ecc.block", "error.type"))
	badPages  = define(upDown, "rocwire.gpu.bad_pages", "{page}", "Pages of the GPU's memory that are not used any more.", briefAttrs, with("rocwire.page.state"))
	processes = define(upDown, "rocwire.gpu.processes", "{process}", "Processes that hold memory or queues on the GPU.", briefAttrs)
	gpuEvents = define(intCounter, "rocwire.gpu.events", "{event}", "What happened to the GPU, by kind.", briefAttrs, with("rocwire.event.type"))

	linkWidth = define(upDown, "rocwire.gpu.pcie.width", "{lane}", "Lanes the PCIe link uses now.", briefAttrs)
	linkSpeed = define(gauge, "rocwire.gpu.pcie.speed", "{transfer}/s", "Rate of one lane of the PCIe link now; 32e9 is generation 5.", briefAttrs)
	linkRate  = define(gauge, "rocwire.gpu.pcie.throughput", "By/s", "Carried by the PCIe link now.", briefAttrs, with("network.io.direction"))
	linkBoth  = define(gauge, "rocwire.gpu.pcie.bandwidth", "By/s", "Carried by the PCIe link now, both ways together.", briefAttrs)
	linkFault = define(intCounter, "rocwire.gpu.pcie.errors", "{error}",
		"Faults of the PCIe link: replay, replay_rollover, recovery, nak_sent, nak_received.", briefAttrs, with("error.type"))
	xgmiIO = define(intCounter, "rocwire.gpu.xgmi.io", "By", "Carried by one XGMI link.", briefAttrs, with("network.io.direction", "rocwire.link.peer"))
)

// own adds what the conventions lack.
func (c *cardPoints) own(m *smi.Metrics, brief attribute.Set) {
	gaugeOpt(c.points, gttLimit, m.GTT.Total, brief)
	gaugeOpt(c.points, gttUsage, m.GTT.Used, brief)
	gaugeOpt(c.points, engineUse, m.Activity.UMC, c.brief.set(kv("rocwire.engine.type", "umc")))
	for _, e := range m.Activity.Engines {
		gaugeOpt(c.points, engineUse, e.Busy, c.brief.set(kv("rocwire.engine.type", e.Kind), attribute.Int("rocwire.engine.index", e.Index)))
	}
	for i := range m.Clocks {
		k := &m.Clocks[i]
		at := c.brief[:len(c.brief):len(c.brief)].str("rocwire.clock.domain", k.Domain).num("rocwire.clock.index", int64(k.Index))
		gaugeOpt(c.points, clock, k.Current, at.set())
		gaugeOpt(c.points, clockLimit, k.Min, at.set(kv("hw.limit_type", "low")))
		gaugeOpt(c.points, clockLimit, k.Max, at.set(kv("hw.limit_type", "max")))
	}
	gaugeOpt(c.points, powerAverage, m.Power.Average, brief)
	lowest, highest := m.Power.MinCap, m.Power.MaxCap
	if i := c.card.Info; i != nil {
		gaugeOpt(c.points, computeUnits, i.ASIC.ComputeUnits, brief)
		gaugeOpt(c.points, memBandwidth, i.VRAM.MaxBandwidth, brief)
		if !lowest.Ok() {
			lowest = i.Limits.MinPower
		}
		if !highest.Ok() {
			highest = i.Limits.MaxPower
		}
	}
	for _, l := range []struct {
		kind string
		v    smi.Opt[smi.Watts]
	}{{"enforced", m.Power.Cap}, {"default", m.Power.DefaultCap}, {"low", lowest}, {"max", highest}} {
		gaugeOpt(c.points, powerLimit, l.v, c.brief.set(kv("hw.limit_type", l.kind)))
	}
	for _, v := range m.Throttle.Violations {
		at := c.brief.set(kv("rocwire.throttle.reason", v.Kind), attribute.Int("rocwire.throttle.index", v.Index))
		secondsOpt(c.points, throttleTime, v.Total, at, time.Time{})
		gaugeOpt(c.points, throttleShare, v.Ratio, at)
		if active, ok := v.Active.Get(); ok {
			c.gauge(throttled, truth(active), at)
		}
	}
}

// pcie adds the figures of the card's slot.
func (c *cardPoints) pcie(p *smi.PCIe, brief attribute.Set) {
	gaugeOpt(c.points, linkWidth, p.Width, brief)
	gaugeOpt(c.points, linkSpeed, p.Speed, brief)
	gaugeOpt(c.points, linkBoth, p.Bandwidth, brief)
	gaugeOpt(c.points, linkRate, p.Sent, c.brief.set(kv("network.io.direction", "transmit")))
	gaugeOpt(c.points, linkRate, p.Received, c.brief.set(kv("network.io.direction", "receive")))
	for _, f := range []struct {
		kind string
		v    smi.Opt[uint64]
	}{
		{"replay", p.Replays}, {"replay_rollover", p.ReplayRollovers}, {"recovery", p.Recoveries}, {"nak_sent", p.NAKsSent},
		{"nak_received", p.NAKsReceived},
	} {
		counterOpt(c.points, linkFault, f.v, c.brief.set(kv("error.type", f.kind)), time.Time{})
	}
}

// detail adds what changes slowly.
func (c *cardPoints) detail() {
	d := &c.card.Detail
	pages := map[string]int{}
	for _, p := range d.BadPages {
		pages[p.State]++
	}
	if d.BadPages != nil {
		for _, state := range []string{smi.PageReserved, smi.PagePending, smi.PageUnreservable} {
			c.gauge(badPages, float64(pages[state]), c.brief.set(kv("rocwire.page.state", state)))
		}
	}
	if d.XGMI == nil {
		return
	}
	for i := range d.XGMI.Links {
		l := &d.XGMI.Links[i]
		peer, ok := l.Peer.Get()
		if !ok {
			continue
		}
		counterOpt(c.points, xgmiIO, l.Read, c.brief.set(kv("network.io.direction", "receive"), kv("rocwire.link.peer", peer.String())), time.Time{})
		counterOpt(c.points, xgmiIO, l.Written, c.brief.set(kv("network.io.direction", "transmit"), kv("rocwire.link.peer", peer.String())), time.Time{})
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
