package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// atomicCase is an atomic by what it does to the memory of one lane: two values
// that it is given, and the old one.
type atomicCase struct {
	bits  uint
	model func(old, a, b uint64) uint64
	// values gives an old value and operands for which the model is exact.
	values func(r *rand.Rand) (old, a, b uint64)
}

func anyValues(r *rand.Rand) (old, a, b uint64) {
	old, a, b = wild64(r), wild64(r), wild64(r)
	switch r.IntN(4) {
	case 0:
		b = old
	case 1:
		a = old
	case 2:
		old, a = old&7, a&7
	}
	return
}

// Floats are quarters whose sums every format holds exactly.
func quarter(r *rand.Rand) float64 { return float64(r.IntN(64)-32) / 4 }

// encodings of such numbers, made from their definition.
func encodeFloat(x float64, exponent, fraction int) uint64 {
	s := uint64(0)
	if math.Signbit(x) {
		s, x = 1<<(exponent+fraction), -x
	}
	if x == 0 {
		return s
	}
	e := 0
	for ; x >= 2; x /= 2 {
		e++
	}
	for ; x < 1; x *= 2 {
		e--
	}
	return s | uint64(e+1<<(exponent-1)-1)<<fraction | uint64((x-1)*float64(uint64(1)<<fraction))
}

// floatCase is an operation on n floats of a format.
func floatCase(n int, exponent, fraction int, f func(old, a, b float64) float64) atomicCase {
	size := uint(1 + exponent + fraction)
	enc := func(x float64) uint64 { return encodeFloat(x, exponent, fraction) }
	type trio struct{ old, a, b float64 }
	known := map[[3]uint64][]trio{}
	return atomicCase{
		bits: size * uint(n),
		values: func(r *rand.Rand) (old, a, b uint64) {
			var ts []trio
			for i := range uint(n) {
				t := trio{quarter(r), quarter(r), quarter(r)}
				if r.IntN(2) == 0 {
					t.b = t.old
				}
				ts = append(ts, t)
				old, a, b = old|enc(t.old)<<(i*size), a|enc(t.a)<<(i*size), b|enc(t.b)<<(i*size)
			}
			known[[3]uint64{old, a, b}] = ts
			return
		},
		model: func(old, a, b uint64) (r uint64) {
			for i, t := range known[[3]uint64{old, a, b}] {
				r |= enc(f(t.old, t.a, t.b)) << (uint(i) * size)
			}
			return r
		},
	}
}

func add(old, a, _ float64) float64 { return old + a + 0 } // no negative zero

// floatAtomics are the floating-point ones by the ends of their names.
func floatAtomics() map[string]atomicCase {
	least := func(old, a, _ float64) float64 { return min(old, a) }
	most := func(old, a, _ float64) float64 { return max(old, a) }
	return map[string]atomicCase{
		"add_f32": floatCase(1, 8, 23, add), "add_f64": floatCase(1, 11, 52, add), "min_f64": floatCase(1, 11, 52, least), "max_f64": floatCase(1, 11, 52, most),
		"pk_add_f16": floatCase(2, 5, 10, add), "pk_add_bf16": floatCase(2, 8, 7, add), "min_f32": floatCase(1, 8, 23, least), "max_f32": floatCase(1, 8, 23, most),
	}
}

// memoryAtomic is the atomic that flat, global, buffer and image instructions
// name so.
func memoryAtomic(name string) (atomicCase, bool) {
	if c, ok := floatAtomics()[name]; ok {
		return c, true
	}
	base, wide := strings.CutSuffix(name, "_x2")
	n := uint(32)
	if wide {
		n = 64
	}
	return atomicCase{n, func(old, a, b uint64) uint64 { return atomicModel(base, n, old, a, b) }, anyValues}, true
}

// ldsAtomic is the one that an LDS instruction names so, without _rtn.
func ldsAtomic(name string) (c atomicCase, operands int) {
	if c, ok := floatAtomics()[name]; ok {
		return c, 1
	}
	end := strings.LastIndex(name, "_") + 1
	base := strings.TrimSuffix(name[:end], "_")
	n := uint(32)
	if strings.HasSuffix(name, "64") {
		n = 64
	}
	mask := ^uint64(0) >> (64 - n)
	switch signed := name[end] == 'i'; base {
	case "cmpst":
		if name[end] == 'f' {
			e, f := 8, 23
			if n == 64 {
				e, f = 11, 52
			}
			return floatCase(1, e, f, func(old, a, b float64) float64 { // compared value first
				if old == a {
					return b
				}
				return old
			}), 2
		}
		return atomicCase{n, func(old, a, b uint64) uint64 { return atomicModel("cmpswap", n, old, b, a) }, anyValues}, 2
	case "mskor":
		return atomicCase{n, func(old, a, b uint64) uint64 { return (old&(mask^a) | b) & mask }, anyValues}, 2
	case "wrap":
		return atomicCase{n, func(old, a, b uint64) uint64 {
			if old&mask >= a&mask {
				return (old - a) & mask
			}
			return (old + b) & mask
		}, anyValues}, 2
	case "rsub":
		return atomicCase{n, func(old, a, _ uint64) uint64 { return (a - old) & mask }, anyValues}, 1
	case "wrxchg":
		return atomicCase{n, func(_, a, _ uint64) uint64 { return a & mask }, anyValues}, 1
	case "min", "max":
		base = map[bool]string{true: "s", false: "u"}[signed] + base
	}
	return atomicCase{n, func(old, a, b uint64) uint64 { return atomicModel(base, n, old, a, b) }, anyValues}, 1
}

// span is the assembler's name of registers that hold so many bits.
func span(first int, bits uint) string {
	if bits <= 32 {
		return fmt.Sprintf("v%d", first)
	}
	return fmt.Sprintf("v[%d:%d]", first, first+int(bits/32)-1)
}

// Every atomic of every encoding, with and without the old value, each lane on
// a place of its own, those that are not active on none.
func TestEveryAtomic(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		ret := " glc"
		if arch.Has(gcn.ScopeBits) {
			ret = " sc0"
		}
		try := func(text string, c atomicCase, operands int, memory []byte, result int) {
			t.Helper()
			mask := masks(r)[r.IntN(8)]
			var before, a, b [64]uint64
			size := int(c.bits / 8)
			all := ^uint64(0) >> (64 - c.bits)
			for i := range 64 {
				before[i], a[i], b[i] = c.values(r)
				before[i] &= all
				binary.LittleEndian.PutUint64(memory[8*i:], before[i])
				m.V[0][i] = uint32(8 * i)
				m.set64(20, i, addr+uint64(8*i))
				m.set64(6, i, 0xaaaaaaaa55555555)
				if size == 4 {
					m.V[2][i], m.V[3][i] = uint32(a[i]), uint32(b[i])
				} else {
					m.set64(2, i, a[i])
					m.set64(4, i, b[i])
				}
			}
			m.setMask(mask)
			m.run(text)
			for i := range 64 {
				want, old := before[i], uint64(0xaaaaaaaa55555555)
				if result == 2 {
					old = a[i]
				}
				if mask>>i&1 != 0 {
					want, old = c.model(before[i], a[i], b[i]), before[i]
				}
				if got := binary.LittleEndian.Uint64(memory[8*i:]) & all; got != want&all {
					t.Fatalf("%v %s: lane %d of %#x: %#x with %#x, %#x becomes %#x, want %#x", arch, text, i, mask, before[i], a[i], b[i], got, want)
				}
				if got := m.get64(max(result, 2), i); result != 0 && got&all != old&all {
					t.Fatalf("%v %s: lane %d of %#x: the old value is %#x, want %#x", arch, text, i, mask, got&all, old&all)
				}
			}
		}
		m.setS64(8, addr)
		m.S[10], m.S[11] = 4096, 0
		for _, info := range gcn.Ops(arch) {
			if info.Flags&gcn.IsAtomic == 0 {
				continue
			}
			_, op, _ := strings.Cut(info.Name, "_atomic_")
			switch info.Enc {
			case gcn.FLAT, gcn.GLOBAL, gcn.MUBUF:
				c, _ := memoryAtomic(op)
				data := span(2, c.bits)
				if strings.HasPrefix(op, "cmpswap") {
					data = span(2, 2*c.bits)
				}
				switch info.Enc {
				case gcn.FLAT:
					try(fmt.Sprintf("%s v[20:21], %s", info.Name, data), c, 2, mem, 0)
					try(fmt.Sprintf("%s %s, v[20:21], %s%s", info.Name, span(6, c.bits), data, ret), c, 2, mem, 6)
				case gcn.GLOBAL:
					try(fmt.Sprintf("%s v[20:21], %s, off", info.Name, data), c, 2, mem, 0)
					try(fmt.Sprintf("%s %s, v0, %s, s[8:9]%s", info.Name, span(6, c.bits), data, ret), c, 2, mem, 6)
				case gcn.MUBUF:
					try(fmt.Sprintf("%s %s, v0, s[8:11], 0 offen", info.Name, data), c, 2, mem, 0)
					try(fmt.Sprintf("%s %s, v0, s[8:11], 0 offen%s", info.Name, data, ret), c, 2, mem, 2)
				}
			case gcn.DS:
				if slices.Contains([]string{"ds_condxchg32_rtn_b64", "ds_append", "ds_consume"}, info.Name) || info.Flags&gcn.TwoAddr != 0 {
					continue // others test them
				}
				name := strings.TrimPrefix(info.Name, "ds_")
				plain := strings.Replace(name, "_rtn", "", 1)
				c, n := ldsAtomic(plain)
				text := info.Name + " v0, " + span(2, c.bits)
				result := 0
				if plain != name {
					text, result = info.Name+" "+span(6, c.bits)+", v0, "+span(2, c.bits), 6
				}
				if n == 2 {
					text += ", " + span(2+int(c.bits/32), c.bits)
				}
				try(text, c, n, m.wg.lds, result)
			}
		}
	}
}

// Atomics on elements of images, of one or two dwords.
func TestEveryImageAtomic(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	m := newMachine(t, gcn.GFX90A)
	for _, n := range []uint{32, 64} {
		p := m.picture(9, 8, 8, 1, int(n/32), 32, numUint)
		m.describe(p)
		for _, name := range atomicNames {
			c := atomicCase{n, func(old, a, b uint64) uint64 { return atomicModel(name, n, old, a, b) }, anyValues}
			data, dmask := span(2, n), 1<<(n/32)-1
			if name == "cmpswap" {
				data, dmask = span(2, 2*n), 1<<(n/16)-1
			}
			element := func(i int) []byte { return p.element(i%8, i/8, 0, 0) }
			for _, glc := range []string{"", " glc"} {
				var before, a [64]uint64
				var want [64]uint64
				all := ^uint64(0) >> (64 - n)
				mask := r.Uint64()
				read := func(i int) uint64 {
					if n == 32 {
						return uint64(binary.LittleEndian.Uint32(element(i)))
					}
					return binary.LittleEndian.Uint64(element(i))
				}
				for i := range 64 {
					var b uint64
					before[i], a[i], b = anyValues(r)
					before[i] &= all
					want[i] = before[i]
					if mask>>i&1 != 0 {
						want[i] = c.model(before[i], a[i], b)
					}
					m.V[0][i], m.V[1][i] = uint32(i%8), uint32(i/8)
					if n == 32 {
						binary.LittleEndian.PutUint32(element(i), uint32(before[i]))
						m.V[2][i], m.V[3][i] = uint32(a[i]), uint32(b)
					} else {
						binary.LittleEndian.PutUint64(element(i), before[i])
						m.set64(2, i, a[i])
						m.set64(4, i, b)
					}
				}
				m.setMask(mask)
				text := fmt.Sprintf("image_atomic_%s %s, v[0:1], s[0:7] dmask:%#x unorm%s", name, data, dmask, glc)
				m.run(text)
				for i := range 64 {
					old := a[i]
					if glc != "" && mask>>i&1 != 0 {
						old = before[i]
					}
					if got := read(i); got != want[i]&all || (m.get64(2, i)^old)&all != 0 {
						t.Fatalf("%s: lane %d: %#x with %#x becomes %#x, want %#x; register %#x, want %#x", text, i, before[i], a[i], got, want[i]&all, m.get64(2, i)&all, old&all)
					}
				}
			}
		}
	}
}
