package exec

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
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
	// keeps is the bits of the register that a load leaves as they are, with [gcn.KeepsHalf].
	keeps uint32
}

// loads is a load as the target has it.
func (b *binder) loads(a *access) *access {
	if a.keeps == 0 || !b.p.arch.Has(gcn.KeepsHalf) {
		return a
	}
	k := *a
	k.load = func(base unsafe.Pointer, off *[64]uint64, d *Vec, mask uint64) {
		old := *d
		a.load(base, off, d, mask)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = d[i]&^a.keeps | old[i]&a.keeps
		}
	}
	return &k
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

// D16 loads write one half of the register. CDNA has SRAM ECC, whose
// unit is the whole register: the other half becomes 0. Tensile's kernels load
// the high half to a register of its own and OR the two. RDNA leaves it as it is.

func signed8(v uint8) uint32   { return uint32(int32(int8(v))) }
func signed16(v uint16) uint32 { return uint32(int32(int16(v))) }

// accesses are the kinds of loads and stores, by the end of the mnemonic.
var loads = map[string]*access{
	"ubyte":        {size: 1, regs: 1, load: loadSmall(func(v uint8) uint32 { return uint32(v) })},
	"sbyte":        {size: 1, regs: 1, load: loadSmall(signed8)},
	"ushort":       {size: 2, regs: 1, load: loadSmall(func(v uint16) uint32 { return uint32(v) })},
	"sshort":       {size: 2, regs: 1, load: loadSmall(signed16)},
	"ubyte_d16":    {size: 1, regs: 1, load: loadSmall(func(v uint8) uint32 { return uint32(v) }), keeps: 0xffff0000},
	"ubyte_d16_hi": {size: 1, regs: 1, load: loadSmall(func(v uint8) uint32 { return uint32(v) << 16 }), keeps: 0xffff},
	"sbyte_d16":    {size: 1, regs: 1, load: loadSmall(func(v uint8) uint32 { return signed8(v) & 0xffff }), keeps: 0xffff0000},
	"sbyte_d16_hi": {size: 1, regs: 1, load: loadSmall(func(v uint8) uint32 { return signed8(v) << 16 }), keeps: 0xffff},
	"short_d16":    {size: 2, regs: 1, load: loadSmall(func(v uint16) uint32 { return uint32(v) }), keeps: 0xffff0000},
	"short_d16_hi": {size: 2, regs: 1, load: loadSmall(func(v uint16) uint32 { return uint32(v) << 16 }), keeps: 0xffff},
	"dword":        {size: 4, regs: 1, load: loadDword},
	"dwordx2":      {size: 8, regs: 2, load: loadDwords(2)},
	"dwordx3":      {size: 12, regs: 3, load: loadDwords(3)},
	"dwordx4":      {size: 16, regs: 4, load: loadQuads},
}

var stores = map[string]*access{
	"byte":         {size: 1, regs: 1, store: storeSmall[uint8](0)},
	"byte_d16_hi":  {size: 1, regs: 1, store: storeSmall[uint8](16)},
	"short":        {size: 2, regs: 1, store: storeSmall[uint16](0)},
	"short_d16_hi": {size: 2, regs: 1, store: storeSmall[uint16](16)},
	"dword":        {size: 4, regs: 1, store: storeDword},
	"dwordx2":      {size: 8, regs: 2, store: storeDwords(2)},
	"dwordx3":      {size: 12, regs: 3, store: storeDwords(3)},
	"dwordx4":      {size: 16, regs: 4, store: storeQuads},
}

func pointer(b *[16]byte) unsafe.Pointer { return unsafe.Pointer(b) }
