package rows

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// use is a process on a card.
type use struct {
	gpu  int
	pid  uint32
	name string // tells most processes apart that had the same number
}

// usage is a process's running totals at a time.
type usage struct {
	at                  time.Time
	busy, sdma, evicted smi.Opt[smi.Duration]
}

// interval is what was added to them since the reading before.
type interval struct {
	length              time.Duration // 0: there was none
	busy, sdma, evicted smi.Opt[time.Duration]
}

// largest are the processes that hold most memory, at most Options.MaxProcesses, by
// number; of several rows with one number the first, because rows may not repeat.
func (m *Maker) largest(list []smi.Process) []*smi.Process {
	seen := make(map[uint32]bool, len(list))
	kept := make([]*smi.Process, 0, len(list))
	for i := range list {
		if p := &list[i]; !seen[p.PID] {
			seen[p.PID] = true
			kept = append(kept, p)
		}
	}
	if n := len(kept) - m.opt.MaxProcesses; n > 0 {
		m.drops.Processes += uint64(n)
		slices.SortStableFunc(kept, func(a, b *smi.Process) int { return cmp.Compare(b.VRAM.Or(0), a.VRAM.Or(0)) })
		kept = kept[:m.opt.MaxProcesses]
		slices.SortStableFunc(kept, func(a, b *smi.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	return kept
}

// intervals notes the totals of a card's processes, and tells what was added to them.
func (b *builder) intervals(c *card) map[uint32]*interval {
	at := b.reading.Time.Add(-c.Age) // when the totals were read
	list := make(map[uint32]*interval, len(c.processes))
	for _, p := range c.processes {
		id := use{c.Device.Index, p.PID, p.Name}
		now := usage{at: at, busy: p.Busy, sdma: p.SDMA, evicted: p.Evicted}
		v := &interval{}
		if before, ok := b.maker.base.uses[id]; ok {
			if !at.After(before.at) {
				now = before // not read again since then
			} else if d := at.Sub(before.at); !before.ended(&now) {
				v = &interval{length: d, busy: added(before.busy, now.busy), sdma: added(before.sdma, now.sdma), evicted: added(before.evicted, now.evicted)}
			}
		}
		b.maker.next.uses[id] = now
		list[p.PID] = v
	}
	return list
}

// ended reports that now belongs to another process: totals never fall.
func (u *usage) ended(now *usage) bool {
	return fell(u.busy, now.busy) || fell(u.sdma, now.sdma) || fell(u.evicted, now.evicted)
}

func fell(before, now smi.Opt[smi.Duration]) bool {
	b, ok := before.Get()
	n, known := now.Get()
	return ok && known && n < b
}

func added(before, now smi.Opt[smi.Duration]) smi.Opt[time.Duration] {
	b, ok := before.Get()
	n, known := now.Get()
	if !ok || !known {
		return smi.None[time.Duration]()
	}
	return smi.Some(time.Duration(n - b))
}

// ratio is the share of the interval in which kernels ran.
func (v *interval) ratio() smi.Opt[float64] {
	d, ok := v.busy.Get()
	if !ok || v.length <= 0 {
		return smi.None[float64]()
	}
	return smi.Some(math.Min(1, float64(d)/float64(v.length)))
}

// seconds is a span of time, null if it is not known.
func seconds(d smi.Opt[time.Duration]) Value {
	v, ok := d.Get()
	if !ok {
		return Value{}
	}
	return floatOf(v.Seconds())
}
