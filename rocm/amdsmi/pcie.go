package amdsmi

import "github.com/rocwire/rocwire/smi"

// transfers is the speed of a lane: the library tells megatransfers per second, but
// its documentation says gigatransfers for some fields; no link does 1000 of those.
func transfers(o smi.Opt[uint64]) smi.Opt[smi.TransfersPerSecond] {
	return optMap(o, func(v uint64) (smi.TransfersPerSecond, bool) {
		if v < 1000 {
			return smi.TransfersPerSecond(v) * 1e9, v > 0
		}
		return smi.TransfersPerSecond(v) * 1e6, v < 1_000_000
	})
}

// lanes is a link's width.
func lanes(o smi.Opt[uint64]) smi.Opt[int] {
	return optMap(o, func(v uint64) (int, bool) { return int(v), v > 0 && v <= 64 })
}

func (r *reader) pcieStatic(p *smi.PCIeInfo) {
	l := &r.l().pcieInfoPcieStatic
	b := r.get(fnPCIeInfo, r.l().pcieInfo.size).part(r.l().pcieInfo.pcieStatic, 0)
	p.MaxWidth = lanes(b.num(l.maxPcieWidth))
	p.MaxSpeed = transfers(b.num(l.maxPcieSpeed))
	p.Generation = optMap(or(b.num(l.maxPcieInterfaceVersion), b.num(l.pcieInterfaceVersion)), func(v uint64) (int, bool) { return int(v), v > 0 && v < 20 })
	if v, ok := b.raw(l.slotType, 0); ok {
		p.Slot = map[uint64]string{0: smi.SlotPCIe, 1: smi.SlotOAM, 2: smi.SlotCEM}[v]
	}
}

// pcie is the link now. The bandwidth is in megabits per second. What is sent and
// what is received is not asked for: it takes the library a second.
func (r *reader) pcie(p *smi.PCIe) {
	l := &r.l().pcieInfoPcieMetric
	b := r.get(fnPCIeInfo, r.l().pcieInfo.size).part(r.l().pcieInfo.pcieMetric, 0)
	*p = smi.PCIe{
		Width: lanes(b.num(l.pcieWidth)),
		Speed: transfers(b.num(l.pcieSpeed)),
		Bandwidth: optMap(b.num(l.pcieBandwidth), func(v uint64) (smi.BytesPerSecond, bool) {
			return smi.BytesPerSecond(v) * 1e6 / 8, true
		}),
		Replays:         b.counter(l.pcieReplayCount),
		ReplayRollovers: b.counter(l.pcieReplayRollOverCount),
		Recoveries:      b.counter(l.pcieL0ToRecoveryCount),
		NAKsSent:        b.counter(l.pcieNakSentCount),
		NAKsReceived:    b.counter(l.pcieNakReceivedCount),
	}
}
