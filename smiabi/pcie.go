package smiabi

import (
	"math"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// slotOf is a card's form as AMD SMI numbers it.
var slotOf = map[string]cardFormFactor{
	smi.SlotPCIe: AMDSMI_CARD_FORM_FACTOR_PCIE,
	smi.SlotOAM:  AMDSMI_CARD_FORM_FACTOR_OAM,
	smi.SlotCEM:  AMDSMI_CARD_FORM_FACTOR_CEM,
}

// amdsmiGetPCIeInfo is what the link can do and does: rates in MT/s, the bandwidth in
// Mbit/s.
func amdsmiGetPCIeInfo(c card, info *pcieInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	slot, ok := slotOf[i.PCIe.Slot]
	if !ok {
		slot = AMDSMI_CARD_FORM_FACTOR_UNKNOWN
	}
	generation := in[uint32](i.PCIe.Generation, one)
	*info = pcieInfo{
		pcieStatic: pcieInfoPCIeStatic{
			maxPCIeWidth: in[uint16](i.PCIe.MaxWidth, one), maxPCIeSpeed: in[uint32](i.PCIe.MaxSpeed, mega),
			pcieInterfaceVersion: generation, maxPCIeInterfaceVersion: generation, slotType: slot,
		},
		pcieMetric: pcieInfoPCIeMetric{
			pcieWidth: in[uint16](m.PCIe.Width, one), pcieSpeed: in[uint32](m.PCIe.Speed, mega),
			pcieBandwidth:         in[uint32](m.PCIe.Bandwidth, mega/8),
			pcieReplayCount:       m.PCIe.Replays.Or(math.MaxUint64),
			pcieL0ToRecoveryCount: m.PCIe.Recoveries.Or(math.MaxUint64), pcieReplayRollOverCount: m.PCIe.ReplayRollovers.Or(math.MaxUint64),
			pcieNakSentCount: m.PCIe.NAKsSent.Or(math.MaxUint64), pcieNakReceivedCount: m.PCIe.NAKsReceived.Or(math.MaxUint64),
			pcieLcPerfOtherEndRecoveryCount: math.MaxUint32,
		},
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUPCIThroughput is what the link carried in a second. The header calls the
// figures bytes, the kernel and amd-smi packets, which they multiply by the packet's
// size: packets of one byte are right either way.
func amdsmiGetGPUPCIThroughput(c card, sent, received, packet *uint64) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if !m.PCIe.Sent.Ok() || !m.PCIe.Received.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	if sent != nil {
		*sent = in[uint64](m.PCIe.Sent, one)
	}
	if received != nil {
		*received = in[uint64](m.PCIe.Received, one)
	}
	if packet != nil {
		*packet = 1
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUPCIBandwidth lists the rates of the link that are known, the one in
// force and the highest, in T/s, with the lanes that go with them.
func amdsmiGetGPUPCIBandwidth(c card, b *pcieBandwidth) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	type rate struct {
		speed smi.TransfersPerSecond
		width int
	}
	var rates []rate
	now, known := m.PCIe.Speed.Get()
	if known {
		rates = append(rates, rate{now, m.PCIe.Width.Or(0)})
	}
	if top, ok := i.PCIe.MaxSpeed.Get(); ok && (!known || top > now) {
		rates = append(rates, rate{top, i.PCIe.MaxWidth.Or(0)})
	}
	if len(rates) == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	slices.SortFunc(rates, func(a, b rate) int { return int(a.speed/mega - b.speed/mega) })
	*b = pcieBandwidth{transferRate: frequencies{numSupported: uint32(len(rates)), current: math.MaxUint32}}
	for i, r := range rates {
		b.transferRate.frequency[i], b.lanes[i] = clamp[uint64](float64(r.speed)), uint32(r.width)
		if known && r.speed == now {
			b.transferRate.current = uint32(i)
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUPCIReplayCounter is how often the link had to send again.
func amdsmiGetGPUPCIReplayCounter(c card, counter *uint64) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(counter, m.PCIe.Replays, one)
}
