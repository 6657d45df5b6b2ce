package exec

import "unsafe"

// Vector tiers: faster versions of the hot kernels for processors that have
// the instructions. The portable kernels are the complete ones and the
// reference; a tier has some of them, bit for bit the same except for which of
// two NaNs comes out. They exist when the package is built with
// GOEXPERIMENT=simd on amd64; the tables are generated from internal/simdgen.
//
//go:generate go run ./internal/simdgen

// maskedKernel is a kernel that writes the lanes of the mask only.
type maskedKernel = func(d, a, b, c *Vec, mask uint64)

// maskedCarry is a carryKernel that writes the lanes of the mask only. What
// comes out is that of all lanes.
type maskedCarry = func(d, a, b, c *Vec, in, mask uint64) (out uint64)

// tierBinder makes an instruction of a kernel and its operands. general does
// the same in floating-point modes that are slow for fl. nil: it does not know
// operands like these.
type tierBinder = func(p plain, fl floats, general func(*wave)) func(*wave)

// tier is what an instruction set has. What it lacks is nil.
type tier struct {
	kernels   map[string]maskedKernel // by mnemonic
	binders   map[string]tierBinder   // likewise
	carries   map[string]maskedCarry
	relations map[string]relation // by condition and type, as lt_u32

	merge  func(d, s *Vec, mask uint64)         // copies lanes
	pick   func(d, a, b *Vec, sel, mask uint64) // b where sel is set, otherwise a
	fill   func(d *Vec, x uint32)               // the same in all lanes
	bits   func(d, s *Vec, and, xor uint32)     // s&and ^ xor
	offset offsetKernels

	// Loads and stores of a dword, as in access.
	load  func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64)
	store func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64)
	// loads loads several dwords a lane where that is quick, and returns the
	// lanes that are left to do.
	loads func(base unsafe.Pointer, off *[64]uint64, regs []Vec, mask uint64) (left uint64)
}

// tierCarry is the tier's kernel of each operation with carries.
var tierCarry = map[string]string{
	"v_add_co_u32": "addc", "v_addc_co_u32": "addc", "v_sub_co_u32": "subb", "v_subb_co_u32": "subb",
	"v_subrev_co_u32": "subbrev", "v_subbrev_co_u32": "subbrev", "v_mad_u64_u32": "mad_u64_u32",
}

// offsetKernels compute offsets of memory accesses. Each returns the lanes
// where off or limit-off has its top bit set.
type offsetKernels struct {
	narrow func(off *[64]uint64, v *Vec, start, limit uint64) uint64      // start + v
	wide   func(off *[64]uint64, lo, hi *Vec, start, limit uint64) uint64 // start + hi:lo
	beyond func(off *[64]uint64, limit uint64) uint64                     // those there are, off being less than 2^63
}

// fast is the tier of this processor, chosen before any kernel is defined.
var fast tier
