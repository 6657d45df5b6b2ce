package amdsmi

import "github.com/rocwire/rocwire/smi"

// clockKind is one of amdsmi_clk_type_t.
type clockKind uint64

const (
	clockGFX   clockKind = 0
	clockDF    clockKind = 1
	clockDCEF  clockKind = 2
	clockSOC   clockKind = 3
	clockMem   clockKind = 4
	clockPCIe  clockKind = 5
	clockVCLK0 clockKind = 6
	clockVCLK1 clockKind = 7
	clockDCLK0 clockKind = 8
	clockDCLK1 clockKind = 9
)

// clockDomain is one clock of the library: the clock of that number of a domain.
type clockDomain struct {
	kind   clockKind
	domain string
	index  int
}

// domains are the clocks asked for, by their place in the list of clocks.
var domains = []clockDomain{
	{clockGFX, smi.ClockGFX, 0}, {clockMem, smi.ClockMem, 0}, {clockSOC, smi.ClockSOC, 0}, {clockDF, smi.ClockDF, 0},
	{clockVCLK0, smi.ClockVideo, 0}, {clockVCLK1, smi.ClockVideo, 1}, {clockDCLK0, smi.ClockData, 0}, {clockDCLK1, smi.ClockData, 1},
	{clockDCEF, smi.ClockDCEF, 0}, {clockPCIe, smi.ClockPCIe, 0},
}

// hertz is a clock in megahertz; 100 GHz and more are none.
func hertz(o smi.Opt[uint64]) smi.Opt[smi.Hertz] {
	return optMap(o, func(v uint64) (smi.Hertz, bool) { return smi.MHz(float64(v)), v < 100_000 })
}

// clockInfo is what the library tells about one clock.
type clockInfo struct {
	current, min, max smi.Opt[smi.Hertz]
	locked, sleeping  smi.Opt[bool]
}

func (r *reader) clock(kind clockKind) clockInfo {
	l := &r.l().clkInfo
	b := r.get(fnClockInfo, l.size, uint64(kind))
	c := clockInfo{current: hertz(b.num(l.clk)), min: hertz(b.num(l.minClk)), max: hertz(b.num(l.maxClk)), locked: b.flag(l.clkLocked), sleeping: b.flag(l.clkDeepSleep)}
	if c.max == smi.Some(smi.Hertz(0)) || c.min.Or(0) > c.max.Or(smi.MHz(1e6)) {
		c.min, c.max = smi.None[smi.Hertz](), smi.None[smi.Hertz]()
	}
	return c
}

func (c clockInfo) known() bool { return c.current.Ok() || c.min.Ok() || c.max.Ok() }

// clocks lists all clocks. Where the firmware tells the clocks of single dies, they
// take the place of the domain's one.
func (r *reader) clocks(table buf) []smi.Clock {
	t := &r.l().gpuMetrics
	dies := map[clockKind]field{clockGFX: t.currentGfxclks, clockSOC: t.currentSocclks, clockVCLK0: t.currentVclk0s, clockDCLK0: t.currentDclk0s}
	single := map[clockKind]field{
		clockGFX: t.currentGfxclk, clockMem: t.currentUclk, clockSOC: t.currentSocclk,
		clockVCLK0: t.currentVclk0, clockVCLK1: t.currentVclk1, clockDCLK0: t.currentDclk0, clockDCLK1: t.currentDclk1,
	}
	var list []smi.Clock
	next := map[string]int{} // first free index of a domain
	for _, d := range domains {
		c := r.clock(d.kind)
		c.current = or(c.current, hertz(table.num(single[d.kind])))
		index := max(d.index, next[d.domain])
		each := dies[d.kind]
		found := 0
		for i := range int(each.count) {
			now := hertz(table.numAt(each, i))
			if !now.Ok() {
				continue
			}
			list = append(list, smi.Clock{Domain: d.domain, Index: index + i, Current: now, Min: c.min, Max: c.max, Locked: r.locked(d.kind, table, i, c), DeepSleep: c.sleeping})
			next[d.domain] = index + i + 1
			found++
		}
		if found == 0 && c.known() {
			list = append(list, smi.Clock{Domain: d.domain, Index: index, Current: c.current, Min: c.min, Max: c.max, Locked: c.locked, DeepSleep: c.sleeping})
			next[d.domain] = index + 1
		}
	}
	return list
}

// locked is whether the clock of die i is: GFX clocks have a bit each.
func (r *reader) locked(kind clockKind, table buf, i int, c clockInfo) smi.Opt[bool] {
	if kind != clockGFX {
		return c.locked
	}
	return or(optMap(table.num(r.l().gpuMetrics.gfxclkLockStatus), func(v uint64) (bool, bool) { return v>>i&1 == 1, true }), c.locked)
}
