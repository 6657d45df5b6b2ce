package sysfs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// Set implements smi.Source: it writes the driver's files, which needs the rights to
// (root, on most machines). A file that may not be written is ErrNoPermission and
// names it.
func (s *source) Set(ctx context.Context, index int, set smi.Setting) error {
	c, err := s.card(index)
	if err != nil {
		return err
	}
	if err := set.Check(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Some of these wait for the card, a reset for seconds; the change goes on when
	// nobody waits for it any more.
	done := make(chan error, 1)
	go func() {
		c.setting.Lock()
		defer c.setting.Unlock()
		if err := c.present(); err != nil {
			done <- err
			return
		}
		done <- s.set(c, set)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *source) set(c *card, set smi.Setting) error {
	switch {
	case set.PowerCap.Ok():
		return c.setPowerCap(set.PowerCap.Or(0))
	case set.PerfLevel != "":
		return c.setLevel(set.PerfLevel)
	case set.Clock != nil:
		return c.setClock(*set.Clock)
	case set.Determinism.Ok():
		return c.setDeterminism(set.Determinism.Or(0))
	case set.Fan.Ok():
		return c.setFan(set.Fan.Or(0))
	case set.FanAuto:
		return c.setFanMode(fanAuto)
	case set.ComputePartition != "":
		return c.setPartition("compute", set.ComputePartition)
	case set.MemoryPartition != "":
		return c.setPartition("memory", set.MemoryPartition)
	case set.Reset:
		return s.reset(c)
	}
	return smi.ErrNotSupported
}

func (c *card) write(name, text string) error {
	err := c.tree.write(c.at(name), text)
	if errors.Is(err, smi.ErrNotSupported) {
		return smi.Errorf(smi.ErrNotSupported, "GPU %d cannot do that: %w", c.Index, err)
	}
	return err
}

func (c *card) setPowerCap(w smi.Watts) error {
	hw := c.sensors()
	if hw == nil || !hw.files["power1_cap"] {
		return smi.Errorf(smi.ErrNotSupported, "GPU %d has no power cap", c.Index)
	}
	lo, hi := hw.capRange(c)
	if w <= 0 || math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) || w < lo.Or(0) || w > hi.Or(10_000) {
		return smi.Errorf(smi.ErrInvalid, "a power cap of %v W is not within %v to %v W", w, lo, hi)
	}
	return c.write(hw.dir+"/power1_cap", fmt.Sprint(int64(math.Round(float64(w)*1e6))))
}

const levelFile = "power_dpm_force_performance_level"

var perfLevels = []string{
	smi.PerfAuto, smi.PerfLow, smi.PerfHigh, smi.PerfManual, smi.PerfStandard,
	smi.PerfPeak, smi.PerfMinMem, smi.PerfMinGFX, smi.PerfDeterminism,
}

func (c *card) setLevel(level string) error {
	if !slices.Contains(perfLevels, level) {
		return smi.Errorf(smi.ErrInvalid, "%q is no performance level; there are %s", level, strings.Join(perfLevels, ", "))
	}
	return c.write(levelFile, level)
}

// within puts the card at a performance level for the time of f; if f fails, the
// level is as before.
func (c *card) within(level string, f func() error) error {
	before := c.line(levelFile)
	if before != level {
		if err := c.write(levelFile, level); err != nil {
			return err
		}
	}
	err := f()
	if err != nil && before != "" && before != level {
		err = errors.Join(err, c.write(levelFile, before))
	}
	return err
}

const overdriveFile = "pp_od_clk_voltage"

// overdrive are the letters by which pp_od_clk_voltage names the domains.
var overdrive = map[string]string{smi.ClockGFX: "s", smi.ClockMem: "m"}

// setClock sets the range of a clock: in pp_od_clk_voltage, where the card has it, or
// by allowing only those levels of pp_dpm_* that lie in the range.
func (c *card) setClock(r smi.ClockRange) error {
	lo, hasLo := r.Min.Get()
	hi, hasHi := r.Max.Get()
	switch {
	case !hasLo && !hasHi:
		return smi.Errorf(smi.ErrInvalid, "a range of clocks needs a lower or an upper end")
	case hasLo && hasHi && lo > hi:
		return smi.Errorf(smi.ErrInvalid, "a range of clocks from %v to %v Hz is empty", float64(lo), float64(hi))
	case hasLo && !(lo >= 0 && lo <= 100e9), hasHi && !(hi > 0 && hi <= 100e9):
		return smi.Errorf(smi.ErrInvalid, "%v to %v Hz is no range of clocks", r.Min, r.Max)
	}
	if letter := overdrive[r.Domain]; letter != "" && c.exists(overdriveFile) {
		text, _ := c.text(overdriveFile)
		if least, most, ok := overdriveRange(text, r.Domain); ok {
			if hasLo && (lo < least || lo > most) || hasHi && (hi < least || hi > most) {
				return smi.Errorf(smi.ErrInvalid, "the %s clock can be set from %v to %v MHz", r.Domain, float64(least)/1e6, float64(most)/1e6)
			}
		}
		return c.within(smi.PerfManual, func() error {
			if hasLo {
				if err := c.write(overdriveFile, fmt.Sprintf("%s 0 %d\n", letter, int64(lo/1e6))); err != nil {
					return err
				}
			}
			if hasHi {
				if err := c.write(overdriveFile, fmt.Sprintf("%s 1 %d\n", letter, int64(hi/1e6))); err != nil {
					return err
				}
			}
			return c.write(overdriveFile, "c\n")
		})
	}
	for _, d := range dpmFiles {
		if d.domain != r.Domain || d.index != 0 {
			continue
		}
		text, err := c.text(d.file)
		if err != nil {
			return err
		}
		var allowed []string
		for i, l := range parseLevels(text).levels {
			if (!hasLo || l >= lo) && (!hasHi || l <= hi) {
				allowed = append(allowed, fmt.Sprint(i))
			}
		}
		if len(allowed) == 0 {
			return smi.Errorf(smi.ErrInvalid, "no level of %s is in that range", c.tree.path(c.at(d.file)))
		}
		return c.within(smi.PerfManual, func() error { return c.write(d.file, strings.Join(allowed, " ")+"\n") })
	}
	return smi.Errorf(smi.ErrInvalid, "%q is no clock that can be set", r.Domain)
}

// overdriveRange finds a domain's line in the part OD_RANGE of pp_od_clk_voltage:
// "SCLK:     500Mhz       2100Mhz".
func overdriveRange(text, domain string) (lo, hi smi.Hertz, ok bool) {
	name := map[string]string{smi.ClockGFX: "SCLK:", smi.ClockMem: "MCLK:"}[domain]
	_, text, found := strings.Cut(text, "OD_RANGE:")
	if !found || name == "" {
		return 0, 0, false
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == name {
			a, b := megahertz(f[1]), megahertz(f[2])
			return a.Or(0), b.Or(0), a.Ok() && b.Ok() && a.Or(0) <= b.Or(0)
		}
	}
	return 0, 0, false
}

func (c *card) setDeterminism(h smi.Hertz) error {
	if !(h >= 1e6 && h <= 100e9) {
		return smi.Errorf(smi.ErrInvalid, "%v Hz is no clock", float64(h))
	}
	text, _ := c.text(overdriveFile)
	if least, most, ok := overdriveRange(text, smi.ClockGFX); ok && (h < least || h > most) {
		return smi.Errorf(smi.ErrInvalid, "the gfx clock can be set from %v to %v MHz", float64(least)/1e6, float64(most)/1e6)
	}
	return c.within(smi.PerfDeterminism, func() error {
		if err := c.write(overdriveFile, fmt.Sprintf("s 1 %d\n", int64(h/1e6))); err != nil {
			return err
		}
		return c.write(overdriveFile, "c\n")
	})
}

// Values of pwm1_enable.
const (
	fanManual = "1"
	fanAuto   = "2"
)

func (c *card) setFanMode(mode string) error {
	hw := c.sensors()
	if hw == nil || !hw.files["pwm1_enable"] {
		return smi.Errorf(smi.ErrNotSupported, "GPU %d has no fan that can be set", c.Index)
	}
	return c.write(hw.dir+"/pwm1_enable", mode)
}

func (c *card) setFan(duty smi.Ratio) error {
	if !(duty >= 0 && duty <= 1) {
		return smi.Errorf(smi.ErrInvalid, "a fan turns at 0 to 1 of its speed, not %v", float64(duty))
	}
	if err := c.setFanMode(fanManual); err != nil {
		return err
	}
	return c.write(c.sensors().dir+"/pwm1", fmt.Sprint(int(math.Round(float64(duty)*pwmMax))))
}

func (c *card) setPartition(kind, to string) error {
	file := "current_" + kind + "_partition"
	if !c.exists(file) {
		return smi.Errorf(smi.ErrNotSupported, "the %s of GPU %d cannot be divided", kind, c.Index)
	}
	if choices := names(c.line("available_" + kind + "_partition")); len(choices) > 0 && !slices.Contains(choices, to) {
		return smi.Errorf(smi.ErrInvalid, "GPU %d cannot be %q; it can be %s", c.Index, to, strings.Join(choices, ", "))
	}
	if partitionName(to) == "" {
		return smi.Errorf(smi.ErrInvalid, "%q is no way to divide a card", to)
	}
	return c.write(file, to)
}

// reset resets the card: the driver does it when a file of debugfs is read.
func (s *source) reset(c *card) error {
	n, _ := c.drm()
	number, ok := n.Get()
	if !ok {
		return smi.Errorf(smi.ErrNotSupported, "GPU %d has no DRM device", c.Index)
	}
	return s.tree.with(fmt.Sprintf("sys/kernel/debug/dri/%d/amdgpu_gpu_recover", number), maxText, func([]byte) error { return nil })
}
