package sysfs

import (
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// levels are the clocks that a domain may run at: the content of a pp_dpm_* file,
// which has a line "1: 1000Mhz *" for each level and a star at the current one. A
// level "S" is deep sleep.
type levels struct {
	levels    []smi.Hertz // by number
	current   smi.Opt[smi.Hertz]
	deepSleep smi.Opt[bool]
}

// maxLevels is how many levels of one clock are looked at; drivers have up to 32.
const maxLevels = 64

func parseLevels(s string) (l levels) {
	for line := range strings.Lines(s) {
		num, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		fs := strings.Fields(rest)
		var clock smi.Opt[smi.Hertz]
		for _, f := range fs {
			if c := megahertz(f); c.Ok() {
				clock = c
			}
		}
		c, ok := clock.Get()
		if !ok {
			continue
		}
		star := len(fs) > 0 && strings.HasSuffix(fs[len(fs)-1], "*")
		if star {
			l.current = clock
		}
		if num == "S" {
			l.deepSleep = smi.Some(star)
			continue
		}
		// The levels are named by their number when they are set, so a gap is an error.
		if n, err := strconv.Atoi(num); err != nil || n != len(l.levels) || n >= maxLevels {
			continue
		}
		l.levels = append(l.levels, c)
	}
	return l
}

// megahertz reads "1000Mhz"; the kernel writes the unit in three ways.
func megahertz(s string) smi.Opt[smi.Hertz] {
	s = strings.ToLower(strings.TrimSuffix(s, "*"))
	n, ok := strings.CutSuffix(s, "mhz")
	if !ok {
		return smi.None[smi.Hertz]()
	}
	v, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return smi.None[smi.Hertz]()
	}
	return hertz(v * 1e6)
}

// bounds are the lowest and the highest level.
func (l levels) bounds() (lo, hi smi.Opt[smi.Hertz]) {
	for _, c := range l.levels {
		if v, ok := lo.Get(); !ok || c < v {
			lo = smi.Some(c)
		}
		if v, ok := hi.Get(); !ok || c > v {
			hi = smi.Some(c)
		}
	}
	return lo, hi
}

// dpmFiles are the files of each domain's clocks, the second for the second engine.
var dpmFiles = []struct {
	domain string
	index  int
	file   string
}{
	{smi.ClockGFX, 0, "pp_dpm_sclk"},
	{smi.ClockMem, 0, "pp_dpm_mclk"},
	{smi.ClockSOC, 0, "pp_dpm_socclk"},
	{smi.ClockDF, 0, "pp_dpm_fclk"},
	{smi.ClockVideo, 0, "pp_dpm_vclk"},
	{smi.ClockVideo, 1, "pp_dpm_vclk1"},
	{smi.ClockData, 0, "pp_dpm_dclk"},
	{smi.ClockData, 1, "pp_dpm_dclk1"},
	{smi.ClockDCEF, 0, "pp_dpm_dcefclk"},
	{smi.ClockPCIe, 0, "pp_dpm_pcie"},
}

// clocks adds to the current clocks of a table their ranges, and the clocks that
// the table has not.
func (c *card) clocks(cs []smi.Clock) []smi.Clock {
	for _, d := range dpmFiles {
		s, err := c.text(d.file)
		if err != nil {
			continue
		}
		l := parseLevels(s)
		lo, hi := l.bounds()
		if !lo.Ok() && !l.current.Ok() {
			continue
		}
		found := false
		for i := range cs {
			if cs[i].Domain != d.domain || d.index != 0 && cs[i].Index != d.index {
				continue
			}
			cs[i].Min, cs[i].Max, cs[i].DeepSleep = lo, hi, l.asleep(cs[i].Current)
			found = true
		}
		if !found {
			cs = append(cs, smi.Clock{Domain: d.domain, Index: d.index, Current: l.current, Min: lo, Max: hi, DeepSleep: l.asleep(l.current)})
		}
	}
	hw := c.sensors()
	for _, f := range []struct{ domain, label string }{{smi.ClockGFX, "sclk"}, {smi.ClockMem, "mclk"}} {
		known := false
		for i := range cs {
			if cs[i].Domain == f.domain && cs[i].Current.Ok() {
				known = true
			}
		}
		if known {
			continue
		}
		if v, ok := hw.frequency(c, f.label); ok {
			if at := findClock(cs, f.domain); at >= 0 {
				cs[at].Current = v
			} else {
				cs = append(cs, smi.Clock{Domain: f.domain, Current: v})
			}
		}
	}
	return cs
}

// asleep reports whether a clock is in deep sleep: the driver says so, or it runs
// below its lowest level.
func (l levels) asleep(now smi.Opt[smi.Hertz]) smi.Opt[bool] {
	if l.deepSleep.Ok() {
		return l.deepSleep
	}
	lo, _ := l.bounds()
	a, ok1 := now.Get()
	b, ok2 := lo.Get()
	if !ok1 || !ok2 {
		return smi.None[bool]()
	}
	return smi.Some(a < b)
}

func findClock(cs []smi.Clock, domain string) int {
	for i := range cs {
		if cs[i].Domain == domain {
			return i
		}
	}
	return -1
}
