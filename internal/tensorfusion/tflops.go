package tensorfusion

import (
	"math"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// published are the vendor's peak figures, in TFLOPS of dense 16-bit floats (FP16 or
// BF16, matrix units), by PCI device id: data sheets of the products. An id that several
// products share is not here; it is computed.
var published = map[uint32]float64{
	0x66a0: 29.5,   // Radeon Instinct MI60
	0x66a1: 26.5,   // Radeon Instinct MI50
	0x738c: 184.6,  // Instinct MI100
	0x7408: 191.5,  // Instinct MI250X, one of its two dies
	0x740c: 181.05, // Instinct MI250, one of its two dies
	0x740f: 181.0,  // Instinct MI210
	0x74a0: 980.6,  // Instinct MI300A
	0x74a1: 1307.4, // Instinct MI300X
	0x74a5: 1307.4, // Instinct MI325X
	0x74b5: 1307.4, // Instinct MI300X, virtual function
	0x74b9: 1307.4, // Instinct MI325X, virtual function
	0x75a0: 2306.9, // Instinct MI350X
	0x75a3: 2516.6, // Instinct MI355X
	0x75b0: 2306.9, // Instinct MI350X, virtual function
	0x75b3: 2516.6, // Instinct MI355X, virtual function
	0x7448: 122.6,  // Radeon PRO W7900
	0x745e: 90.5,   // Radeon PRO W7800
	0x7470: 56.5,   // Radeon PRO W7700
}

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
	if v, ok := published[info.ASIC.DeviceID.Or(0)]; ok {
		return v, "published"
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
