package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/internal/tensorfusion"
	"github.com/rocwire/rocwire/smi"
)

// maxCards is the size of the host's arrays.
const maxCards = 64

// card is one device of the host's list: a whole card, whether it is divided or not, so
// that the list does not change when AccelAssignPartition divides one.
type card struct {
	uuid  string
	index int // in the list
	info  *smi.Info
	parts []*smi.DeviceSnapshot // as the source lists them; the first is the card itself
}

// whole is the source's device that answers for the card.
func (c *card) whole() *smi.DeviceSnapshot { return c.parts[0] }

// source is its index there.
func (c *card) source() int { return c.parts[0].Device.Index }

// snapshot is what the source tells now.
func (l *library) snapshot(ctx context.Context) (*smi.Snapshot, error) {
	return l.now.get(ctx, l.ctx, fresh, func(ctx context.Context) (*smi.Snapshot, error) {
		snap, err := smi.TakeSnapshot(ctx, l.src)
		if err == nil && snap == nil {
			err = smi.Errorf(smi.ErrInternal, "the source answered nothing")
		}
		return snap, err
	})
}

// cards are the cards now. One that was never told anything about is left out.
func (l *library) cards(ctx context.Context) ([]card, *smi.Snapshot, error) {
	snap, err := l.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	return l.sort(snap), snap, nil
}

// sort makes cards of the source's devices.
func (l *library) sort(snap *smi.Snapshot) []card {
	var cards []card
	at := map[string]int{} // card by the place it is plugged into
	for i := range snap.Devices {
		d := &snap.Devices[i]
		info := l.info(d)
		place, part := "", uint32(0)
		if b, ok := d.Device.BDF.Get(); ok {
			place = fmt.Sprintf("%x:%x:%x", b.Domain, b.Bus, b.Device)
		}
		if info != nil {
			part = info.IDs.Partition.Or(0)
		}
		// Virtual functions share a place too, but each is its own part 0.
		if k, ok := at[place]; ok && place != "" && part > 0 {
			cards[k].parts = append(cards[k].parts, d)
			continue
		}
		uuid, ok := tensorfusion.Identify(d.Device, info)
		if info == nil && errors.Is(d.InfoErr.Err(), smi.ErrNotSupported) {
			info = &smi.Info{Device: d.Device}
			uuid, ok = tensorfusion.Identify(d.Device, info)
		}
		if !ok || info == nil || len(cards) == maxCards {
			continue
		}
		at[place] = len(cards)
		cards = append(cards, card{uuid: uuid, index: len(cards), info: info, parts: []*smi.DeviceSnapshot{d}})
	}
	taken := map[string]bool{}
	for i := range cards {
		c := &cards[i]
		slices.SortStableFunc(c.parts[1:], func(a, b *smi.DeviceSnapshot) int { return cmp.Compare(l.part(a), l.part(b)) })
		for n, uuid := 2, c.uuid; taken[c.uuid]; n++ {
			c.uuid = fmt.Sprintf("%s-%d", uuid, n)
		}
		taken[c.uuid] = true
	}
	return cards
}

// info is what is known of a device: what it tells now, else what it told last.
func (l *library) info(d *smi.DeviceSnapshot) *smi.Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Info != nil {
		l.infos[d.Device.Index] = d.Info
		return d.Info
	}
	if last := l.infos[d.Device.Index]; last != nil && last.UUID == d.Device.UUID && last.BDF == d.Device.BDF {
		return last
	}
	return nil
}

// part is the number of a part of a divided card.
func (l *library) part(d *smi.DeviceSnapshot) uint32 {
	if info := l.info(d); info != nil {
		return info.IDs.Partition.Or(0)
	}
	return 0
}

// find is the card of a UUID, however its letters are written; nil if there is none.
func find(cards []card, uuid string) *card {
	for i := range cards {
		if strings.EqualFold(cards[i].uuid, uuid) {
			return &cards[i]
		}
	}
	return nil
}

// units are the card's compute units, those of all parts.
func (l *library) units(c *card) uint64 {
	n := 0
	for i, p := range c.parts {
		info := c.info
		if i > 0 {
			info = l.info(p)
		}
		if info != nil {
			n += max(0, info.ASIC.ComputeUnits.Or(0))
		}
	}
	return uint64(n)
}

// memory is the size of the card's memory.
func (l *library) memory(c *card, p *smi.Partitions) uint64 {
	size := c.info.VRAM.Size
	if m := c.whole().Metrics; !size.Ok() && m != nil {
		size = m.VRAM.Total
	}
	n := uint64(size.Or(0))
	if len(c.parts) > 1 && p != nil { // each part tells the size of its share of the memory
		n *= uint64(memoryShares(p.Memory))
	}
	return n
}

// memoryShares is into how much a memory mode (NPS1, NPS2, …) divides the memory.
func memoryShares(mode string) int {
	var n int
	if _, err := fmt.Sscanf(mode, "NPS%d", &n); err != nil || n < 1 || n > 64 {
		return 1
	}
	return n
}
