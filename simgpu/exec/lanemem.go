package exec

import (
	"math/bits"
	"unsafe"
)

// Loads and stores of many lanes. An address space is a base pointer; each lane
// has an offset from it that the caller has checked. Lanes not in the mask are
// neither read nor written.

// access is what a load or store does with a lane's memory.
type access struct {
	size uint64 // bytes of a lane
	regs int    // registers of a lane's data
	load func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64)
	// store writes the lanes' data from register s on.
	store func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64)
}

func mem32(base unsafe.Pointer, off uint64) *uint32 {
	return (*uint32)(unsafe.Add(base, uintptr(off)))
}

// consecutive reports whether the lanes' dwords lie one after the other.
func consecutive(off *[64]uint64) bool {
	first, diff := off[0], uint64(0)
	for i := range off {
		diff |= off[i] ^ (first + uint64(i)*4)
	}
	return diff == 0
}

func loadDword(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
	if mask == ^uint64(0) {
		if consecutive(off) {
			*d = *(*Vec)(unsafe.Add(base, uintptr(off[0])))
			return
		}
		for i := range d {
			d[i] = *mem32(base, off[i])
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = *mem32(base, off[i])
	}
}

func storeDword(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
	if mask == ^uint64(0) {
		if consecutive(off) {
			*(*Vec)(unsafe.Add(base, uintptr(off[0]))) = *s
			return
		}
		for i := range s {
			*mem32(base, off[i]) = s[i]
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		*mem32(base, off[i]) = s[i]
	}
}

func mem64(base unsafe.Pointer, off uint64) *uint64 {
	return (*uint64)(unsafe.Add(base, uintptr(off)))
}

// loadDwords loads two dwords at a time: a qword at an address of its own size is
// whole on a card, and programs exchange a flag and a value in one.
func loadDwords(n int) func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
	return func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
		regs := unsafe.Slice(d, n)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			for j := 0; j+1 < n; j += 2 {
				v := *mem64(base, off[i]+uint64(4*j))
				regs[j][i], regs[j+1][i] = uint32(v), uint32(v>>32)
			}
			if n%2 != 0 {
				regs[n-1][i] = *mem32(base, off[i]+uint64(4*(n-1)))
			}
		}
	}
}

func storeDwords(n int) func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
	return func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
		regs := unsafe.Slice(s, n)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			for j := 0; j+1 < n; j += 2 {
				*mem64(base, off[i]+uint64(4*j)) = uint64(regs[j][i]) | uint64(regs[j+1][i])<<32
			}
			if n%2 != 0 {
				*mem32(base, off[i]+uint64(4*(n-1))) = regs[n-1][i]
			}
		}
	}
}

// Four dwords at an address of their own size are whole on a card, too: rocPRIM exchanges a flag and a value of 8 bytes
// in them. The copies of 16 bytes are what the compiler makes one instruction of, which processors execute as a whole
// if nothing says that they need not; TestWholeAccesses says so when that is no longer true.

func loadQuads(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
	regs := (*[4]Vec)(unsafe.Pointer(d))
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v := *(*[4]uint32)(unsafe.Add(base, uintptr(off[i])))
		for j := range regs {
			regs[j][i] = v[j]
		}
	}
}

func storeQuads(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
	regs := (*[4]Vec)(unsafe.Pointer(s))
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		var v [4]uint32
		for j := range regs {
			v[j] = regs[j][i]
		}
		*(*[4]uint32)(unsafe.Add(base, uintptr(off[i]))) = v
	}
}

// loadSmall loads a byte or a short, and conv makes the register of it.
func loadSmall[T uint8 | uint16](conv func(v T) uint32) func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
	return func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = conv(*(*T)(unsafe.Add(base, uintptr(off[i]))))
		}
	}
}

func storeSmall[T uint8 | uint16](shift uint32) func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
	return func(base unsafe.Pointer, off *[64]uint64, s *Vec, mask uint64) {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			*(*T)(unsafe.Add(base, uintptr(off[i]))) = T(s[i] >> shift)
		}
	}
}

// D16 loads write one half of the register. Both targets have SRAM ECC, whose
// unit is the whole register: the other half becomes 0. Tensile's kernels load
// the high half to a register of its own and OR the two.

func signed8(v uint8) uint32   { return uint32(int32(int8(v))) }
func signed16(v uint16) uint32 { return uint32(int32(int16(v))) }

// accesses are the kinds of loads and stores, by the end of the mnemonic.
var loads = map[string]*access{
	"ubyte":        {1, 1, loadSmall(func(v uint8) uint32 { return uint32(v) }), nil},
	"sbyte":        {1, 1, loadSmall(signed8), nil},
	"ushort":       {2, 1, loadSmall(func(v uint16) uint32 { return uint32(v) }), nil},
	"sshort":       {2, 1, loadSmall(signed16), nil},
	"ubyte_d16":    {1, 1, loadSmall(func(v uint8) uint32 { return uint32(v) }), nil},
	"ubyte_d16_hi": {1, 1, loadSmall(func(v uint8) uint32 { return uint32(v) << 16 }), nil},
	"sbyte_d16":    {1, 1, loadSmall(func(v uint8) uint32 { return signed8(v) & 0xffff }), nil},
	"sbyte_d16_hi": {1, 1, loadSmall(func(v uint8) uint32 { return signed8(v) << 16 }), nil},
	"short_d16":    {2, 1, loadSmall(func(v uint16) uint32 { return uint32(v) }), nil},
	"short_d16_hi": {2, 1, loadSmall(func(v uint16) uint32 { return uint32(v) << 16 }), nil},
	"dword":        {4, 1, loadDword, nil},
	"dwordx2":      {8, 2, loadDwords(2), nil},
	"dwordx3":      {12, 3, loadDwords(3), nil},
	"dwordx4":      {16, 4, loadQuads, nil},
}

var stores = map[string]*access{
	"byte":         {1, 1, nil, storeSmall[uint8](0)},
	"byte_d16_hi":  {1, 1, nil, storeSmall[uint8](16)},
	"short":        {2, 1, nil, storeSmall[uint16](0)},
	"short_d16_hi": {2, 1, nil, storeSmall[uint16](16)},
	"dword":        {4, 1, nil, storeDword},
	"dwordx2":      {8, 2, nil, storeDwords(2)},
	"dwordx3":      {12, 3, nil, storeDwords(3)},
	"dwordx4":      {16, 4, nil, storeQuads},
}

func pointer(b *[16]byte) unsafe.Pointer { return unsafe.Pointer(b) }
