package tensorfusion

import (
	"math"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// rates are the floating-point operations (a multiplication with addition is two) on
// 16-bit floats that a compute unit does in one cycle, with its matrix instructions
// where it has them: AMD's instruction set and architecture documents. The longest
// beginning of a target's name counts.
var rates = map[string]float64{
	"gfx9":   128,  // Vega: packed 16-bit instructions came with gfx900
	"gfx900": 256,  // Vega 10
	"gfx906": 256,  // Vega 20
	"gfx908": 1024, // CDNA
	"gfx90a": 1024, // CDNA 2
	"gfx94":  2048, // CDNA 3
	"gfx95":  4096, // CDNA 4
	"gfx10":  256,  // RDNA, RDNA 2
	"gfx11":  512,  // RDNA 3
	"gfx12":  1024, // RDNA 4
}

// leastRate is that of a unit of 64 lanes that multiplies and adds; of targets that are
// not in the table.
const leastRate = 128

// TFLOPS is what a card with so many compute units can do at most, and how that is known:
// "published", "computed" or, when v is 0, "unknown".
func TFLOPS(info *smi.Info, units uint64) (v float64, how string) {
	if p, ok := products[info.ASIC.DeviceID.Or(0)]; ok {
		return p.tflops, "published"
	}
	clock, ok := info.ASIC.MaxClockGFX.Get()
	if !ok || units == 0 {
		return 0, "unknown"
	}
	target := info.Target
	if target == "" {
		target = info.ASIC.GFXVersion
	}
	rate, best := float64(leastRate), 0
	for prefix, r := range rates {
		if len(prefix) > best && strings.HasPrefix(target, prefix) {
			rate, best = r, len(prefix)
		}
	}
	v = float64(units) * float64(clock) * rate / 1e12
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 { // the clock was no figure
		return 0, "unknown"
	}
	return v, "computed"
}
