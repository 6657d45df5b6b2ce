package hipv1

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// This protocol has no "not available". Its workers pass on what AMD SMI has in the place of a figure: all ones, of 16 bits where AMD's table of metrics has
// them, otherwise of 32. So do we, and take either for nothing.
const (
	none16 = math.MaxUint16
	none32 = math.MaxUint32
)

type figure interface {
	~float64 | ~int | ~int64 | ~uint32 | ~uint64
}

// in is a figure as a whole number of units, or none.
func in[F figure](o smi.Opt[F], unit float64, none uint32) uint32 {
	v, ok := o.Get()
	if !ok {
		return none
	}
	return uint32(min(max(math.Round(float64(v)/unit), 0), float64(none-1)))
}

// celsius is a temperature of the table of metrics.
func celsius(o smi.Opt[smi.Celsius]) int32 {
	v, ok := o.Get()
	if !ok {
		return none16
	}
	return int32(min(max(math.Round(float64(v)), -1000), none16-1))
}

// out is the figure that so many units are.
func out[F figure](v uint32, unit float64) smi.Opt[F] {
	if v == none16 || v == none32 {
		return smi.None[F]()
	}
	return smi.Some(F(float64(v) * unit))
}

func outCelsius(v int32) smi.Opt[smi.Celsius] {
	if v == none16 || v == -1 {
		return smi.None[smi.Celsius]()
	}
	return smi.Some(smi.Celsius(v))
}

// leastVRAM is less than any card has: workers before ours put MiB into fields of bytes, and what is below is theirs.
const leastVRAM = 16 << 20

// outVRAM is memory in use, and all of it.
func outVRAM(total, used uint64) (u smi.MemoryUse) {
	unit := uint64(1)
	switch {
	case total == 0 || total == math.MaxUint64 || total == none32:
		return u
	case total < leastVRAM:
		unit = 1 << 20
	}
	u.Total = smi.Some(smi.Bytes(total * unit))
	if used <= total {
		u.Used = smi.Some(smi.Bytes(used * unit))
	}
	return u
}

// inBytes is memory in bytes, all ones for what is not known.
func inBytes(o smi.Opt[smi.Bytes]) uint64 { return uint64(o.Or(math.MaxUint64)) }
