package tensorfusion

import (
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// product is what AMD sells under a PCI device id: its name in the data sheet, and its
// peak in TFLOPS of dense 16-bit floats (FP16 or BF16, matrix units) there. An id that
// several products share is not here: what it does is computed, its name is what it says.
type product struct {
	name   string
	tflops float64
}

var products = map[uint32]product{
	0x66a0: {"AMD Radeon Instinct MI60", 29.5},
	0x66a1: {"AMD Radeon Instinct MI50", 26.5},
	0x738c: {"AMD Instinct MI100", 184.6},
	0x7408: {"AMD Instinct MI250X", 191.5}, // one of its two dies: each is a card of its own
	0x740c: {"AMD Instinct MI250", 181.05}, // likewise
	0x740f: {"AMD Instinct MI210", 181.0},
	0x74a0: {"AMD Instinct MI300A", 980.6},
	0x74a1: {"AMD Instinct MI300X", 1307.4},
	0x74a5: {"AMD Instinct MI325X", 1307.4},
	0x74b5: {"AMD Instinct MI300X", 1307.4}, // a virtual function
	0x74b9: {"AMD Instinct MI325X", 1307.4}, // likewise
	0x75a0: {"AMD Instinct MI350X", 2306.9},
	0x75a3: {"AMD Instinct MI355X", 2516.6},
	0x75b0: {"AMD Instinct MI350X", 2306.9}, // a virtual function
	0x75b3: {"AMD Instinct MI355X", 2516.6}, // likewise
	0x7448: {"AMD Radeon PRO W7900", 122.6},
	0x745e: {"AMD Radeon PRO W7800", 90.5},
	0x7470: {"AMD Radeon PRO W7700", 56.5},
}

// Model is what TensorFusion is told that a card is: the product's name. Drivers and
// libraries call the same card by its form as well ("AMD Instinct MI300X OAM", "… VF"), or
// not at all, and TensorFusion looks models up by their exact name. A name that goes on in
// brackets says more than the product, that a card is simulated, and stays.
func Model(info *smi.Info) string {
	p, ok := products[info.ASIC.DeviceID.Or(0)]
	switch {
	case ok && !strings.HasPrefix(info.Name, p.name+" ("):
		return p.name
	case info.Name != "":
		return info.Name
	}
	return "AMD GPU"
}
