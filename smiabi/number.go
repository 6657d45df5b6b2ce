package smiabi

import (
	"math"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// number is a member of a C struct.
type number interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// figure is a value of package smi.
type figure interface {
	~float64 | ~int | ~int64 | ~uint32 | ~uint64
}

// in is a figure as a whole number of units, the nearest one. What is not available
// is all ones, which is how AMD SMI says so.
func in[N number, F figure](o smi.Opt[F], unit float64) N {
	v, ok := o.Get()
	if !ok {
		return ^N(0)
	}
	return clamp[N](float64(v) / unit)
}

// clamp is the whole number nearest to f that is not all ones.
func clamp[N number](f float64) N {
	r, top := math.Round(f), ^N(0)-1
	switch {
	case !(r > 0): // nor is it a number
		return 0
	case r >= float64(top):
		return top
	}
	return N(r)
}

// yes is a truth as 1 or 0, and 0xff for what is not available.
func yes(o smi.Opt[bool]) uint8 {
	v, ok := o.Get()
	switch {
	case !ok:
		return math.MaxUint8
	case v:
		return 1
	}
	return 0
}

// unset makes everything in a struct of numbers "not available".
func unset[T any](p *T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	for i := range b {
		b[i] = 0xff
	}
}

// put writes a figure in whole units to dst, or is AMDSMI_STATUS_NOT_SUPPORTED if it
// is not available.
func put[N number, F figure](dst *N, o smi.Opt[F], unit float64) status {
	if !o.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*dst = in[N](o, unit)
	return AMDSMI_STATUS_SUCCESS
}

// Units of AMD SMI.
const (
	one        = 1
	percent    = 0.01
	mega       = 1e6
	giga       = 1e9
	milli      = 1e-3
	micro      = 1e-6
	kibi       = 1 << 10
	mebi       = 1 << 20
	energyUnit = 15.2587890625e-6 // joules: 2^-16, the step of the card's energy counter
	msInNS     = 1e6
	usInNS     = 1e3
)

// packed is a PCI address as one number.
func packed(b smi.BDF) bdf {
	return bdf(b.Function&7) | bdf(b.Device&31)<<3 | bdf(b.Bus)<<8 | bdf(b.Domain)<<16
}
