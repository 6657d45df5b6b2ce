package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/quota"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// limit is what the parent tells a session process of one quota. The parent knows cards by management data and the process by its runtime,
// which number them differently: what both know is the PCI address.
type limit struct {
	at busAddress
	quota.Limits
}

// busAddress is a PCI address without the function, which HIP does not tell.
type busAddress uint64

const (
	everyCard busAddress = 1<<64 - 1 // stands for all cards
	nowhere   busAddress = 1<<64 - 2 // no card is there
)

func addressOfBDF(b smi.BDF) busAddress {
	return busAddress(b.Domain)<<16 | busAddress(b.Bus)<<8 | busAddress(b.Device)
}

// busAddressOf is where a device is.
func busAddressOf(p *hip.DevicePropR0600) busAddress {
	return addressOfBDF(smi.BDF{Domain: uint32(p.PciDomainID), Bus: uint8(p.PciBusID), Device: uint8(p.PciDeviceID)})
}

// cardsOf are a runtime's devices as the parent knows them, nowhere where the runtime does not say.
func cardsOf(q *quota.Runtime) []joint.Card {
	n, code := q.GetDeviceCount()
	if code != hip.Success {
		return nil
	}
	list := make([]joint.Card, n)
	for i := range list {
		list[i].At = uint64(nowhere)
		if p, code := q.GetDevicePropertiesR0600(int32(i)); code == hip.Success {
			list[i] = joint.Card{At: uint64(busAddressOf(p)), UUID: p.Uuid.Bytes}
		}
	}
	return list
}

// maxLimit is the length of an encoded limit in bytes, maxLimits how many there may be.
const (
	maxLimit  = 24
	maxLimits = 256
)

func appendLimits(e *wire.Enc, list []limit) {
	e.U16(uint16(len(list)))
	for _, l := range list {
		e.U64(uint64(l.at))
		e.U64(l.Memory)
		e.F64(l.Compute)
	}
}

// decodeLimits reads what appendLimits wrote; d tells whether it was that.
func decodeLimits(d *wire.Dec) []limit {
	n := int(d.U16())
	if n*maxLimit > d.Len() {
		n = d.Len()/maxLimit + 1 // one too many: d notices
	}
	if n == 0 {
		return nil
	}
	list := make([]limit, n)
	for i := range list {
		list[i] = limit{busAddress(d.U64()), quota.Limits{Memory: d.U64(), Compute: d.F64()}}
	}
	return list
}

// setLimits applies quotas in a session process with some cards: a later one goes before an earlier one of the same card.
func setLimits(q *quota.Runtime, cards []joint.Card, list []limit) {
	for i, c := range cards {
		for _, l := range list {
			if l.at == busAddress(c.At) || l.at == everyCard && c.At != uint64(nowhere) {
				q.SetLimits(int32(i), l.Limits)
			}
		}
	}
}

// appendCards writes a start's cards.
func appendCards(e *wire.Enc, cards []int) {
	e.Bool(cards != nil)
	e.U16(uint16(len(cards)))
	for _, c := range cards {
		e.U32(uint32(c))
	}
}

// decodeCards reads what appendCards wrote; d tells whether it was that.
func decodeCards(d *wire.Dec) []int {
	some, n := d.Bool(), int(d.U16())
	if n*4 > d.Len() {
		n = d.Len()/4 + 1 // one too many: d notices
	}
	if !some {
		return nil
	}
	cards := make([]int, n)
	for i := range cards {
		cards[i] = int(d.U32())
	}
	return cards
}
