package exec

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// The scalar instructions that TestScalar does not have.
func TestMoreScalars(t *testing.T) {
	type u = uint64
	pair := func(f func(a, b u) u, name string, args string) []scalarOp { // of 32 and 64 bits, SCC is "not zero"
		return []scalarOp{
			sop(1, func(a, b, d u, c int) (u, int) { return nz32(f(a, b)) }, fmt.Sprintf("%s_b32 s4, s0, s2", name)),
			sop(2, func(a, b, d u, c int) (u, int) { return nz64(f(a, b)) }, fmt.Sprintf("%s_b64 s[4:5], s[0:1], s[2:3]", name)),
		}
	}
	var ops []scalarOp
	ops = append(ops, pair(func(a, b u) u { return ^(a & b) }, "s_nand", "")...)
	ops = append(ops, pair(func(a, b u) u { return ^(a | b) }, "s_nor", "")...)
	ops = append(ops, pair(func(a, b u) u { return ^a ^ b }, "s_xnor", "")...)
	ops = append(ops, pair(func(a, b u) u { return a | ^b }, "s_orn2", "")...)
	ops = append(ops, pair(func(a, b u) u { return a &^ b }, "s_andn2", "")...)
	ops = append(ops, pair(func(a, b u) u { return a | b }, "s_or", "")...)
	ops = append(ops, pair(func(a, b u) u { return a ^ b }, "s_xor", "")...)
	ops = append(ops, pair(func(a, b u) u { return a & b }, "s_and", "")...)
	first := func(v u, n int, want u) u { // place of the first bit that has this value
		for k := range n {
			if bit(v, k) == want {
				return u(k)
			}
		}
		return 1<<32 - 1
	}
	sign := func(v u, n int) u { // bits above the first that differs from the sign
		for k := n - 2; k >= 0; k-- {
			if bit(v, k) != bit(v, n-1) {
				return u(n - 1 - k)
			}
		}
		return 1<<32 - 1
	}
	leading := func(v u, n int) u {
		for k := n - 1; k >= 0; k-- {
			if bit(v, k) == 1 {
				return u(n - 1 - k)
			}
		}
		return 1<<32 - 1
	}
	pick := func(b bool, x, y u) u {
		if b {
			return x
		}
		return y
	}
	ops = append(ops, []scalarOp{
		sop(1, func(a, b, d u, c int) (u, int) {
			return pick(sx(a, 32) < sx(b, 32), u32(a), u32(b)), flag(sx(a, 32) < sx(b, 32))
		}, "s_min_i32 s4, s0, s2"),
		sop(1, func(a, b, d u, c int) (u, int) { return pick(u32(a) > u32(b), u32(a), u32(b)), flag(u32(a) > u32(b)) }, "s_max_u32 s4, s0, s2"),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u32(a) >> (b % 32)) }, "s_lshr_b32 s4, s0, s2"),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(a >> (b % 64)) }, "s_lshr_b64 s[4:5], s[0:1], s2"),
		sop(2, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range int(a % 64) {
				if at := k + int(b%64); at < 64 {
					r |= 1 << at
				}
			}
			return keep(r)
		}, "s_bfm_b64 s[4:5], s0, s2"),
		sop(1, func(a, b, d u, c int) (u, int) { // a field from b[4:0] on of b[22:16] bits, its highest bit repeated
			n, at := int(b>>16&127), int(b&31)
			if n == 0 {
				return nz32(0)
			}
			var r u
			for k := range 32 {
				r |= bit(a, min(at+min(k, n-1), 31)) << k
			}
			return nz32(r)
		}, "s_bfe_i32 s4, s0, s2"),
		sop(2, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range min(int(b>>16&127), 64) {
				if at := k + int(b&63); at < 64 {
					r |= bit(a, at) << k
				}
			}
			return nz64(r)
		}, "s_bfe_u64 s[4:5], s[0:1], s2"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(a&0xffff | b&0xffff<<16) }, "s_pack_ll_b32_b16 s4, s0, s2"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(a)>>16 | u32(b)>>16<<16) }, "s_pack_hh_b32_b16 s4, s0, s2"),
		// One source.
		sop(2, func(a, b, d u, c int) (u, int) { return keep([]u{d, a}[c]) }, "s_cmov_b64 s[4:5], s[0:1]"),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(^a) }, "s_not_b64 s[4:5], s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range 8 {
				if u32(a)>>(4*k)&15 != 0 {
					r += 15 << (4 * k)
				}
			}
			return nz32(r)
		}, "s_wqm_b32 s4, s0"),
		sop(2, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range 16 {
				r |= u(flag(a>>(4*k)&15 != 0)) << k
			}
			return nz64(r)
		}, "s_quadmask_b64 s[4:5], s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u(bits.Reverse32(uint32(a)))) }, "s_brev_b32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(32 - bits.OnesCount32(uint32(a)))) }, "s_bcnt0_i32_b32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(bits.OnesCount64(a))) }, "s_bcnt1_i32_b64 s4, s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(first(a, 32, 0)) }, "s_ff0_i32_b32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(first(a, 64, 0)) }, "s_ff0_i32_b64 s4, s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(first(a, 32, 1)) }, "s_ff1_i32_b32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(first(a, 64, 1)) }, "s_ff1_i32_b64 s4, s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(leading(a, 32)) }, "s_flbit_i32_b32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(leading(a, 64)) }, "s_flbit_i32_b64 s4, s[0:1]"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(sign(a, 32)) }, "s_flbit_i32 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(u(int64(int16(a))))) }, "s_sext_i32_i16 s4, s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(d) &^ (1 << (a % 32))) }, "s_bitset0_b32 s4, s0"),
		sop(2, func(a, b, d u, c int) (u, int) { return keep(d | 1<<(a%64)) }, "s_bitset1_b64 s[4:5], s0"),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(pick(c == 1, 0xffff8001, u32(d))) }, "s_cmovk_i32 s4, 0x8001"),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(a == b) }, "s_cmp_eq_u64 s[0:1], s[2:3]"),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(bit(a, int(b%32)) == 1) }, "s_bitcmp1_b32 s0, s2"),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(bit(a, int(b%64)) == 0) }, "s_bitcmp0_b64 s[0:1], s2"),
	}...)
	for n := 1; n <= 4; n++ {
		ops = append(ops, sop(1, func(a, b, d u, c int) (u, int) {
			sum := u32(a)*(1<<n) + u32(b)
			return u32(sum), flag(sum >= 1<<32)
		}, fmt.Sprintf("s_lshl%d_add_u32 s4, s0, s2", n)))
	}
	// Every comparison, of two registers and with an immediate: 40000 without
	// sign, that number less 65536 with it.
	for _, signed := range []bool{true, false} {
		val, suffix, k := func(x u) int64 { return sx(x, 32) }, "i32", int64(-25536)
		if !signed {
			val, suffix, k = func(x u) int64 { return int64(u32(x)) }, "u32", 40000
		}
		for name, f := range map[string]func(x, y int64) bool{
			"eq": func(x, y int64) bool { return x == y }, "lg": func(x, y int64) bool { return x != y },
			"gt": func(x, y int64) bool { return x > y }, "ge": func(x, y int64) bool { return x >= y },
			"lt": func(x, y int64) bool { return x < y }, "le": func(x, y int64) bool { return x <= y },
		} {
			ops = append(ops,
				sop(0, func(a, b, d u, c int) (u, int) { return d, flag(f(val(a), val(b))) }, fmt.Sprintf("s_cmp_%s_%s s0, s2", name, suffix)),
				sop(0, func(a, b, d u, c int) (u, int) { return d, flag(f(val(a), k)) }, fmt.Sprintf("s_cmpk_%s_%s s0, 0x9c40", name, suffix)))
		}
	}
	for _, arch := range arches {
		runScalars(t, arch, ops)
	}
}

// All that write EXEC and keep what it was, or what it becomes.
func TestEverySaveexec(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	for _, arch := range arches {
		m := newMachine(t, arch)
		for name, f := range map[string]func(s, e uint64) uint64{
			"and_saveexec": func(s, e uint64) uint64 { return s & e }, "or_saveexec": func(s, e uint64) uint64 { return s | e },
			"xor_saveexec": func(s, e uint64) uint64 { return s&^e | e&^s }, "andn2_saveexec": func(s, e uint64) uint64 { return s &^ e },
			"orn2_saveexec": func(s, e uint64) uint64 { return s | ^e }, "nand_saveexec": func(s, e uint64) uint64 { return ^s | ^e },
			"nor_saveexec": func(s, e uint64) uint64 { return ^s &^ e }, "xnor_saveexec": func(s, e uint64) uint64 { return s&e | ^s&^e },
			"andn1_saveexec": func(s, e uint64) uint64 { return e &^ s }, "orn1_saveexec": func(s, e uint64) uint64 { return ^s | e },
			"andn1_wrexec": func(s, e uint64) uint64 { return e &^ s }, "andn2_wrexec": func(s, e uint64) uint64 { return s &^ e },
		} {
			for n := range 30 {
				s, e := r.Uint64()&r.Uint64(), r.Uint64()&r.Uint64()
				if n == 0 {
					s, e = ^uint64(0), ^uint64(0)
				}
				m.setS64(0, s)
				m.setMask(e)
				m.V[6] = Vec{}
				m.run(fmt.Sprintf("s_%s_b64 s[4:5], s[0:1]; v_mov_b32 v6, -1", name))
				want := f(s, e)
				dst := e
				if name[len(name)-6] == 'w' {
					dst = want
				}
				if m.s64(4) != dst || m.s64(regEXEC) != want || m.S[regSCC] != uint32(flag(want != 0)) {
					t.Fatalf("%v %s of %#x with EXEC %#x: %#x, EXEC %#x, SCC %d, want %#x", arch, name, s, e, m.s64(4), m.s64(regEXEC), m.S[regSCC], want)
				}
				for i := range 64 {
					if (m.V[6][i] != 0) != (want>>i&1 != 0) {
						t.Fatalf("%v %s: lane %d of %#x has %#x", arch, name, i, want, m.V[6][i])
					}
				}
			}
		}
	}
}

// Scalar registers relative to M0.
func TestRelativeScalars(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		for i := range 40 {
			m.S[i] = uint32(100 + i)
		}
		m.S[regM0] = 6
		m.run("s_movrels_b32 s50, s10; s_movrels_b64 s[52:53], s[10:11]; s_movreld_b32 s60, s3; s_movreld_b64 s[62:63], s[4:5]")
		if m.S[50] != 116 || m.S[52] != 116 || m.S[53] != 117 || m.S[66] != 103 || m.S[68] != 104 || m.S[69] != 105 {
			t.Errorf("%v: %d %d %d", arch, m.S[50], m.S[52:54], m.S[66:70])
		}
		m.S[regM0] = 100
		for _, text := range []string{"s_movrels_b32 s50, s10", "s_movreld_b64 s[62:63], s[4:5]"} {
			var f *Fault
			if err := m.try(text); !errors.As(err, &f) || f.Kind != RegisterFault {
				t.Errorf("%v %s: %v", arch, text, err)
			}
		}
	}
}

// Clocks go forwards, the second one at 100 MHz.
func TestClocks(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		m.run("s_memtime s[4:5]; s_memrealtime s[6:7]; s_memtime s[8:9]; s_memrealtime s[10:11]")
		if m.s64(8) < m.s64(4) || m.s64(10) < m.s64(6) || m.s64(4) < m.s64(6) {
			t.Errorf("%v: %d %d %d %d", arch, m.s64(4), m.s64(8), m.s64(6), m.s64(10))
		}
	}
}
