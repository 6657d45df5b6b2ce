package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Or is a value as fmt prints it, "-" if it is not available.
func Or[T any](v smi.Opt[T]) string { return With(v, func(x T) string { return fmt.Sprint(x) }) }

// With formats a value, "-" if it is not available.
func With[T any](v smi.Opt[T], format func(T) string) string {
	if x, ok := v.Get(); ok {
		return format(x)
	}
	return "-"
}

// Unit puts a unit behind a value unless that is "-".
func Unit(value, unit string) string {
	if value == "-" {
		return value
	}
	return value + " " + unit
}

// Bytes is an amount of memory with a binary prefix.
func Bytes(v smi.Opt[smi.Bytes]) string { return With(v, BytesText) }

// BytesText is an amount of memory with a binary prefix.
func BytesText(b smi.Bytes) string {
	if b < 1024 {
		return strconv.FormatUint(uint64(b), 10) + " B"
	}
	f := float64(b) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if f < 1023.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		f /= 1024
	}
	return fmt.Sprintf("%.1f TiB", f)
}

// BytesOf is how much of an amount of memory is used, "4.3/192.0 GiB"; so little of it that it would read as none has its own unit.
func BytesOf(used, total smi.Opt[smi.Bytes]) string {
	all, ok := total.Get()
	some, known := used.Get()
	if !ok || !known {
		return Bytes(used) + "/" + Bytes(total)
	}
	number, unit, _ := strings.Cut(BytesText(all), " ")
	factor := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[unit]
	if some > 0 && float64(some) < factor/10 {
		return Bytes(used) + "/" + Bytes(total)
	}
	digits := 1
	if factor == 1 {
		digits = 0
	}
	return fmt.Sprintf("%.*f/%s %s", digits, float64(some)/factor, number, unit)
}

// Percent is a share in percent, without the sign.
func Percent(v smi.Opt[smi.Ratio]) string {
	return With(v, func(r smi.Ratio) string { return fmt.Sprintf("%.0f", float64(r)*100) })
}

// MHz is a frequency in megahertz, without the unit.
func MHz(v smi.Opt[smi.Hertz]) string {
	return With(v, func(h smi.Hertz) string { return fmt.Sprintf("%.0f", float64(h)/1e6) })
}

// Round is a figure without its fraction.
func Round[T ~float64](v smi.Opt[T]) string {
	return With(v, func(x T) string { return fmt.Sprintf("%.0f", float64(x)) })
}

// SI is a figure with a decimal prefix and a unit, "1.3 MJ".
func SI[T ~float64](v smi.Opt[T], unit string) string {
	return With(v, func(x T) string { return si(float64(x)) + unit })
}

func si(f float64) string {
	for _, prefix := range []string{" ", " k", " M", " G"} {
		if f < 999.95 {
			return fmt.Sprintf("%.1f%s", f, prefix)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.1f T", f)
}

// Count is a large number in few characters: "812", "12.3k", "4.5M".
func Count(f float64) string {
	if f < 999.5 {
		return fmt.Sprintf("%.0f", f)
	}
	for _, prefix := range []string{"k", "M", "G"} {
		if f /= 1000; f < 999.95 {
			return fmt.Sprintf("%.1f%s", f, prefix)
		}
	}
	return fmt.Sprintf("%.1fT", f/1000)
}

// Rate is how often something happens, in few characters: "0", "0.2", "12", "1.2k".
func Rate(f float64) string {
	if f > 0 && f < 9.95 {
		return fmt.Sprintf("%.1f", f)
	}
	return Count(f)
}

// Seconds is a span of time: "1.50 s", "1h30m0s".
func Seconds(v smi.Opt[smi.Duration]) string {
	return With(v, func(d smi.Duration) string {
		if t := time.Duration(d); t >= time.Hour {
			return t.Round(time.Second).String()
		}
		return fmt.Sprintf("%.2f s", d.Seconds())
	})
}

// Age is how old something is: "0.4 s", "12 s", "1h30m0s".
func Age(d smi.Duration) string {
	switch t := time.Duration(d); {
	case t < 10*time.Second:
		return fmt.Sprintf("%.1f s", t.Seconds())
	case t < 2*time.Minute:
		return fmt.Sprintf("%.0f s", t.Seconds())
	default:
		return t.Round(time.Second).String()
	}
}

// Latency is a short span given in seconds, with three digits: "850 ns", "12.3 µs".
func Latency(s float64) string {
	if !(s >= 0) {
		return "-"
	}
	for _, unit := range []struct {
		name string
		n    float64
	}{{"ns", 1e9}, {"µs", 1e6}, {"ms", 1e3}} {
		if v := s * unit.n; v < 9.995 && unit.name != "ns" {
			return fmt.Sprintf("%.2f %s", v, unit.name)
		} else if v < 99.95 && unit.name != "ns" {
			return fmt.Sprintf("%.1f %s", v, unit.name)
		} else if v < 999.5 {
			return fmt.Sprintf("%.0f %s", v, unit.name)
		}
	}
	return fmt.Sprintf("%.1f s", s)
}

// YesNo is a truth value.
func YesNo(v smi.Opt[bool]) string {
	return With(v, func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	})
}

// Hex is a PCI id.
func Hex(v smi.Opt[uint32]) string {
	return With(v, func(n uint32) string { return fmt.Sprintf("0x%04x", n) })
}
