package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// What an atomic of n bits makes of memory, by the names that memory
// instructions use.
func atomicModel(name string, n uint, old, data, cmp uint64) uint64 {
	mask := ^uint64(0) >> (64 - n)
	old, data, cmp = old&mask, data&mask, cmp&mask
	less := func(a, b uint64, signed bool) bool {
		if signed {
			return sx(a, n) < sx(b, n)
		}
		return a < b
	}
	pick := func(first bool) uint64 {
		if first {
			return old
		}
		return data
	}
	switch name {
	case "swap":
		return data
	case "cmpswap":
		if old != cmp {
			return old
		}
		return data
	case "add":
		return (old + data) & mask
	case "sub":
		return (old + ^data + 1) & mask
	case "smin":
		return pick(less(old, data, true))
	case "umin":
		return pick(less(old, data, false))
	case "smax":
		return pick(less(data, old, true))
	case "umax":
		return pick(less(data, old, false))
	case "and":
		return old & data
	case "or":
		return old | data
	case "xor":
		return (old | data) &^ (old & data)
	case "inc": // up to data, then 0
		if old < data {
			return old + 1
		}
		return 0
	case "dec": // down to 0, then data
		if old >= 1 && old <= data {
			return old - 1
		}
		return data
	}
	panic(name)
}

var atomicNames = []string{"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec"}

// Every scalar atomic of both widths, on an address and on a buffer, with and
// without the old value; it is done once whatever EXEC is.
func TestScalarAtomics(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		for _, name := range atomicNames {
			for n, suffix := range map[uint]string{32: "", 64: "_x2"} {
				regs := "s[4:5]"
				switch {
				case n == 32 && name != "cmpswap":
					regs = "s4"
				case n == 64 && name == "cmpswap":
					regs = "s[4:7]"
				}
				for _, form := range []string{"s_atomic_%s%s %s, s[8:9], 0x40", "s_atomic_%s%s %s, s[8:9], 0x40 glc", "s_atomic_%s%s %s, s[8:9], m0 glc",
					"s_buffer_atomic_%s%s %s, s[8:11], 0x40 glc", "s_buffer_atomic_%s%s %s, s[8:11], m0"} {
					text := fmt.Sprintf(form, name, suffix, regs)
					for range 12 {
						old, data, cmp := wild64(r), wild64(r), wild64(r)
						switch r.IntN(3) {
						case 0:
							cmp = old
						case 1:
							data, old = data&3, old&3
						}
						binary.LittleEndian.PutUint64(mem[0x40:], old)
						m.setS64(8, addr)
						m.S[10], m.S[11], m.S[regM0] = 4096, 0, 0x40
						m.setS64(4, data)
						m.setS64(6, cmp)
						if n == 32 && name == "cmpswap" {
							m.S[5] = uint32(cmp)
						}
						before := [4]uint32(m.S[4:8])
						m.setMask([]uint64{0, 1, ^uint64(0)}[r.IntN(3)])
						m.run(text)
						want := atomicModel(name, n, old, data, cmp)
						got := binary.LittleEndian.Uint64(mem[0x40:])
						if n == 32 {
							want = want | old>>32<<32
						}
						if got != want {
							t.Fatalf("%v %s: %#x with %#x, %#x gives %#x, want %#x", arch, text, old, data, cmp, got, want)
						}
						if text[len(text)-3:] == "glc" {
							before[0] = uint32(old)
							if n == 64 {
								before[1] = uint32(old >> 32)
							}
						}
						if [4]uint32(m.S[4:8]) != before {
							t.Fatalf("%v %s: registers %#x, want %#x", arch, text, m.S[4:8], before)
						}
					}
				}
			}
		}
		// Bounds: a buffer ignores what is outside, memory does not.
		clear(mem[:256])
		m.S[10], m.S[4] = 0x43, 7
		m.run("s_buffer_atomic_add s4, s[8:11], 0x40 glc")
		if m.S[4] != 0 || mem[0x40] != 0 {
			t.Errorf("%v: beyond a buffer: %d, memory %d", arch, m.S[4], mem[0x40])
		}
		m.setS64(8, 64)
		if err := m.try("s_atomic_add s4, s[8:9], 0x0"); !errors.Is(err, ErrMemory) {
			t.Errorf("%v: outside of memory: %v", arch, err)
		}
		m.setS64(8, addr+4)
		if err := m.try("s_atomic_add_x2 s[4:5], s[8:9], 0x0"); !errors.Is(err, ErrMemory) {
			t.Errorf("%v: misaligned: %v", arch, err)
		}
	}
}

// Scalar loads and stores of every size, from memory, buffers and scratch.
func TestScalarMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		word := func(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
		scramble := func() {
			for i := range mem {
				mem[i] = byte(r.Uint32())
			}
			for i := range m.wave.scratch {
				m.wave.scratch[i] = byte(r.Uint32())
			}
			m.setS64(8, addr)
			m.S[10], m.S[11] = 2048, 0
			m.S[regM0] = 0x100
			m.setS64(12, scratchWindow)
			for i := 16; i < 32; i++ {
				m.S[i] = r.Uint32()
			}
		}
		for n, c := range map[int][2]string{1: {"", "s16"}, 2: {"x2", "s[16:17]"}, 4: {"x4", "s[16:19]"}, 8: {"x8", "s[16:23]"}, 16: {"x16", "s[16:31]"}} {
			for _, o := range []struct {
				asm     string
				at      int // dword
				scratch bool
			}{
				{"s_load_dword%s %s, s[8:9], 0x20", 8, false},
				{"s_load_dword%s %s, s[8:9], m0", 64, false},
				{"s_buffer_load_dword%s %s, s[8:11], 0x20", 8, false},
				{"s_buffer_load_dword%s %s, s[8:11], m0", 64, false},
				{"s_scratch_load_dword%s %s, s[8:9], 0x20", 8, false},
				{"s_scratch_load_dword%s %s, s[12:13], 0x20", 8, true},
				{"s_scratch_load_dword%s %s, s[12:13], s5", 192, true}, // an offset of 12 bytes in a lane
				{"s_store_dword%s %s, s[8:9], 0x20", 8, false},
				{"s_store_dword%s %s, s[8:9], m0", 64, false},
				{"s_buffer_store_dword%s %s, s[8:11], 0x20", 8, false},
				{"s_scratch_store_dword%s %s, s[8:9], 0x20", 8, false},
				{"s_scratch_store_dword%s %s, s[12:13], 0x20", 8, true},
				{"s_scratch_store_dword%s %s, s[12:13], m0", 192, true},
			} {
				store, toScratch := o.asm[2:4] == "st" || o.asm[9:12] == "sto" || o.asm[10:13] == "sto", o.asm[2:4] == "sc"
				if n > 4 && (store || toScratch) {
					continue
				}
				scramble()
				m.S[5] = 12
				if o.scratch && store {
					m.S[regM0] = 12
				}
				b := mem
				if o.scratch {
					b = m.wave.scratch
				}
				regs := append([]uint32(nil), m.S[16:16+n]...)
				m.run(fmt.Sprintf(o.asm, c[0], c[1]))
				for i := range n {
					want := word(b, o.at+i)
					if store && want != regs[i] || m.S[16+i] != want {
						t.Fatalf("%v %s, dword %d: register %#x, memory %#x, was %#x", arch, fmt.Sprintf(o.asm, c[0], c[1]), i, m.S[16+i], want, regs[i])
					}
				}
			}
		}
		for _, text := range []string{"s_scratch_load_dwordx4 s[16:19], s[12:13], 0x3ff8", "s_scratch_store_dword s16, s[12:13], m0"} {
			m.S[regM0] = 256 // the lane's segment ends there
			var f *Fault
			if err := m.try(text); !errors.As(err, &f) || f.Kind != ScratchFault {
				t.Errorf("%v %s: %v", arch, text, err)
			}
		}
		// What tells caches and address translation something changes nothing.
		was := append([]byte(nil), mem...)
		m.run("s_dcache_inv; s_dcache_wb; s_dcache_inv_vol; s_dcache_wb_vol; s_dcache_discard s[8:9], 0x0; s_dcache_discard_x2 s[8:9], 0x0; " +
			"s_atc_probe 0, s[8:9], 0x0; s_atc_probe_buffer 0, s[8:11], 0x0; s_icache_inv")
		if string(was) != string(mem) {
			t.Errorf("%v: memory has changed", arch)
		}
	}
}
