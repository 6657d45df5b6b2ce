package sysfs

import (
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// The functions of this file turn a raw value into a figure with a unit. What no
// card can measure is "not available": drivers fill what they do not know with
// ones, and a few with zeros scaled to nonsense.

func celsius(v float64) smi.Opt[smi.Celsius] {
	if v < -50 || v > 250 || v != v {
		return smi.None[smi.Celsius]()
	}
	return smi.Some(smi.Celsius(v))
}

func watts(v float64) smi.Opt[smi.Watts] {
	if v < 0 || v > 10_000 || v != v {
		return smi.None[smi.Watts]()
	}
	return smi.Some(smi.Watts(v))
}

func volts(v float64) smi.Opt[smi.Volts] {
	if v < 0 || v > 20 || v != v {
		return smi.None[smi.Volts]()
	}
	return smi.Some(smi.Volts(v))
}

// hertz takes a clock of 0 (the engine is off) or of 1 kHz to 100 GHz.
func hertz(v float64) smi.Opt[smi.Hertz] {
	if v != 0 && v < 1e3 || v > 100e9 || v != v {
		return smi.None[smi.Hertz]()
	}
	return smi.Some(smi.Hertz(v))
}

// ratio takes 0 to 1.
func ratio(v float64) smi.Opt[smi.Ratio] {
	if v < 0 || v > 1 || v != v {
		return smi.None[smi.Ratio]()
	}
	return smi.Some(smi.Ratio(v))
}

func rpm(v float64) smi.Opt[smi.RPM] {
	if v < 0 || v > 100_000 || v == math.MaxUint16 || v != v {
		return smi.None[smi.RPM]()
	}
	return smi.Some(smi.RPM(v))
}

// memory takes less than 2^56 bytes.
func memory(v uint64) smi.Opt[smi.Bytes] {
	if v >= 1<<56 || ones(v) {
		return smi.None[smi.Bytes]()
	}
	return smi.Some(smi.Bytes(v))
}

// count takes anything but the sentinels.
func count(v uint64) smi.Opt[uint64] {
	if ones(v) {
		return smi.None[uint64]()
	}
	return smi.Some(v)
}

// ones reports whether v is one of the patterns that mean "not available".
func ones(v uint64) bool {
	switch v {
	case math.MaxUint16, math.MaxUint32, math.MaxUint64, math.MaxInt32, math.MaxInt64:
		return true
	}
	return false
}

// lanes takes the widths that PCI Express and XGMI have.
func lanes(v uint64) smi.Opt[int] {
	if v == 0 || v > 64 {
		return smi.None[int]()
	}
	return smi.Some(int(v))
}

// transfers takes a rate of one lane, in transfers per second.
func transfers(v float64) smi.Opt[smi.TransfersPerSecond] {
	if v <= 0 || v > 1e12 || v != v {
		return smi.None[smi.TransfersPerSecond]()
	}
	return smi.Some(smi.TransfersPerSecond(v))
}

// linkSpeed reads "16.0 GT/s PCIe", the form of current_link_speed, and "8GT/s" of
// older kernels.
func linkSpeed(s string) smi.Opt[smi.TransfersPerSecond] {
	n, _, ok := strings.Cut(s, "GT/s")
	if !ok {
		return smi.None[smi.TransfersPerSecond]()
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
	if err != nil {
		return smi.None[smi.TransfersPerSecond]()
	}
	return transfers(v * 1e9)
}

// generation is the PCI Express generation that has a rate.
func generation(speed smi.Opt[smi.TransfersPerSecond]) smi.Opt[int] {
	v, ok := speed.Get()
	if !ok {
		return smi.None[int]()
	}
	for i, s := range []float64{2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9, 128e9} {
		if float64(v) == s {
			return smi.Some(i + 1)
		}
	}
	return smi.None[int]()
}

// hexID reads a number in hexadecimal with or without 0x, the form of unique_id
// and of the PCI ids.
func hexID(s string) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X"), 16, 64)
	return v, err == nil
}

// properties reads lines of a name and a number, the form of KFD's files. A line of
// another form is left out.
func properties(b []byte) map[string]uint64 {
	m := make(map[string]uint64, 48)
	for line := range strings.Lines(string(b)) {
		name, val, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if v, err := strconv.ParseUint(strings.TrimSpace(val), 10, 64); err == nil {
			m[name] = v
		}
	}
	return m
}

// keyed reads lines of the form "KEY=value", the form of uevent.
func keyed(s string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(s) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			m[k] = v
		}
	}
	return m
}

// words reads a list "SPX, DPX, CPX", the form of the available_* files.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// identifier reports whether a name is one that the kernel gives to parts of a card.
func identifier(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_')
	})
}
