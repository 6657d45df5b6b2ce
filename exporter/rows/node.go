package rows

import (
	"iter"

	"github.com/rocwire/rocwire/smi"
)

// phases of a node, two of those that TensorFusion has.
const (
	phaseRunning = "Running"
	phaseUnknown = "Unknown"
)

func (b *builder) nodeMetrics(cards []card) {
	place, phase := &b.maker.place, phaseRunning
	if b.reading.Err != nil {
		phase = phaseUnknown
	}
	count := intOf(int64(len(cards)))
	if b.reading.Err != nil && len(cards) == 0 {
		count = Value{} // none was ever seen
	}
	vram, vramPercent := b.allocatedMemory(cards)
	flops, flopsPercent := b.allocatedFlops(cards)
	b.add(nodeMetrics, textOf(place.Host), textOf(place.Pool), textOf(phase),
		flops, flopsPercent, Value{}, vram, vramPercent, Value{}, count, Value{})
}

// allocatedMemory is what processes hold on all cards, and what sessions may still take
// of their quotas. It is known only if every card's part is.
func (b *builder) allocatedMemory(cards []card) (amount, percent Value) {
	held, size, known, sized := 0.0, 0.0, len(cards) > 0, len(cards) > 0
	for i := range cards {
		c := &cards[i]
		known = known && c.users
		bySession := map[string]float64{}
		for k := range c.Processes {
			p := &c.Processes[k]
			v, ok := p.VRAM.Get()
			known = known && ok
			held += float64(v)
			bySession[p.Session] += float64(v)
		}
		for q, has := range c.quotas(b.reading.Sessions) {
			if most, ok := q.Memory.Get(); ok && most > 0 {
				for _, id := range has {
					most -= min(smi.Bytes(bySession[id]), most)
				}
				held += float64(most)
			}
		}
		v, ok := c.size.Get()
		size, sized = size+float64(v), sized && ok
	}
	if !known {
		return Value{}, Value{}
	}
	if sized && size > 0 {
		percent = floatOf(100 * held / size)
	}
	return floatOf(held), percent
}

// allocatedFlops is what sessions with a quota of time may use of the cards' peak; null
// if none has one.
func (b *builder) allocatedFlops(cards []card) (amount, percent Value) {
	sum, peak, any, known := 0.0, 0.0, false, true
	for i := range cards {
		c := &cards[i]
		most, ok := c.tflops.Get()
		peak, known = peak+most, known && ok
		for q := range c.quotas(b.reading.Sessions) {
			if share, ok := q.Compute.Get(); ok && share > 0 {
				sum, any = sum+float64(share)*most, true
			}
		}
	}
	if !any || !known || peak <= 0 {
		return Value{}, Value{}
	}
	return floatOf(sum), floatOf(100 * sum / peak)
}

// quotas are those of the card, with the sessions that have each: several where they have it together, of which the largest that one has counts.
func (c *card) quotas(sessions []smi.Session) iter.Seq2[smi.Quota, []string] {
	return func(yield func(smi.Quota, []string) bool) {
		type purse struct {
			quota smi.Quota
			has   []string
		}
		var all []*purse
		together := map[string]*purse{}
		for i := range sessions {
			s := &sessions[i]
			for _, q := range s.Quotas {
				if q.Device != c.Device.Index {
					continue
				}
				p := together[q.Together]
				if p == nil || q.Together == "" {
					p = &purse{}
					together[q.Together] = p
					all = append(all, p)
				}
				p.has = append(p.has, s.ID)
				if q.Memory.Or(0) > p.quota.Memory.Or(0) {
					p.quota.Memory = q.Memory
				}
				if q.Compute.Or(0) > p.quota.Compute.Or(0) {
					p.quota.Compute = q.Compute
				}
			}
		}
		for _, p := range all {
			if !yield(p.quota, p.has) {
				return
			}
		}
	}
}

// quota is a session's quota of the card; nothing in it is set if it has none.
func (c *card) quota(s *smi.Session) (all smi.Quota) {
	for _, q := range s.Quotas {
		if q.Device == c.Device.Index {
			all = q.Over(all)
		}
	}
	return all
}
