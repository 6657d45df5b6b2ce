package provider

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// finite is v, or 0 if a host could not carry it on.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// percent is a share in percent, 0 … 100.
func percent(v float64) float64 { return finite(math.Max(0, math.Min(100, v*100))) }

// count is a figure as an unsigned number; 0 for what is none.
func count[T ~float64](v smi.Opt[T]) uint64 {
	f := finite(float64(v.Or(0)))
	if f <= 0 {
		return 0
	}
	if f >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(f)
}

// generation is the PCIe generation of a lane's rate; 0 if that is unknown.
func generation(speed smi.Opt[smi.TransfersPerSecond]) uint32 {
	for i, least := range []smi.TransfersPerSecond{64e9, 32e9, 16e9, 8e9, 5e9, 2.5e9} {
		if v, ok := speed.Get(); ok && v >= least*0.99 {
			return uint32(6 - i)
		}
	}
	return 0
}

// small is a count that a source told, as the interface has it.
func small(v smi.Opt[int]) uint32 { return uint32(max(0, min(v.Or(0), math.MaxInt32))) }
