package exec

import (
	"math/bits"
	"strings"
)

// rule is what is undefined of a result, lane by lane: u are the undefined bits
// of the sources, v their values. The rules are those of bits where programs
// depend on it (masks, shifts, what is put together of parts), and otherwise:
// everything of the result, if anything of a source.
type rule func(u, v *[3]uint64) uint64

const all = ^uint64(0)

func anything(u, _ *[3]uint64) uint64 {
	if u[0]|u[1]|u[2] != 0 {
		return all
	}
	return 0
}

// carried is for sums: an undefined bit reaches those above it.
func carried(u uint64) uint64 { return u | -u }

func sum(u, _ *[3]uint64) uint64 { return carried(u[0] | u[1] | u[2]) }

func andBits(u0, u1, v0, v1 uint64) uint64 { return (u0 | u1) & (v0 | u0) & (v1 | u1) }
func orBits(u0, u1, v0, v1 uint64) uint64  { return (u0 | u1) & (^v0 | u0) & (^v1 | u1) }

// shiftOf is a shift of x of some width by an amount that may be undefined itself.
func shiftOf(x, amount, undefinedAmount uint64, width uint, f func(x uint64, n uint) uint64) uint64 {
	if undefinedAmount&uint64(width-1) != 0 {
		return all
	}
	return f(x, uint(amount)&(width-1))
}

func shl(x uint64, n uint) uint64 { return x << n }
func shr(x uint64, n uint) uint64 { return x >> n }

// ashr makes the sign, defined or not, that of all the bits above.
func ashr(width uint) func(x uint64, n uint) uint64 {
	return func(x uint64, n uint) uint64 { return uint64(int64(x<<(64-width)) >> (64 - width) >> n) }
}

func field(signed bool) rule {
	return func(u, v *[3]uint64) uint64 {
		if (u[1]|u[2])&31 != 0 {
			return all
		}
		return extract(u[0]&0xffffffff, uint(v[1]&31), uint(v[2]&31), signed)
	}
}

// extract takes n bits from bit off on.
func extract(x uint64, off, n uint, signed bool) uint64 {
	if n == 0 {
		return 0
	}
	x = x >> off << (64 - n)
	if signed {
		return uint64(int64(x) >> (64 - n))
	}
	return x >> (64 - n)
}

// equality depends on nothing undefined if bits that are defined differ.
func equality(u, v *[3]uint64) uint64 {
	if n := u[0] | u[1]; n == 0 || (v[0]^v[1])&^n != 0 {
		return 0
	}
	return all
}

// twoHalves is for two results of 16 bits, one of each source.
func twoHalves(u, _ *[3]uint64) (r uint64) {
	if u[0] != 0 {
		r = 0xffff
	}
	if u[1] != 0 {
		r |= 0xffff0000
	}
	return r
}

func permBytes(u, v *[3]uint64) (r uint64) {
	if u[2]&0xffffffff != 0 {
		return all
	}
	from := u[1]&0xffffffff | u[0]<<32
	for i := range 4 {
		var b uint64
		switch s := v[2] >> (8 * i) & 0xff; {
		case s < 8:
			b = from >> (8 * s) & 0xff
		case s < 12: // the sign of a word
			b = -(from >> (16*(s-8) + 15) & 1) & 0xff
		}
		r |= b << (8 * i)
	}
	return r
}

// vectorRules are those that are not "anything", by mnemonic.
var vectorRules = map[string]rule{
	"v_mov_b32": func(u, _ *[3]uint64) uint64 { return u[0] }, "v_mov_b64": func(u, _ *[3]uint64) uint64 { return u[0] },
	"v_accvgpr_read_b32": func(u, _ *[3]uint64) uint64 { return u[0] }, "v_accvgpr_write_b32": func(u, _ *[3]uint64) uint64 { return u[0] },
	"v_accvgpr_mov_b32": func(u, _ *[3]uint64) uint64 { return u[0] },
	"v_not_b32":         func(u, _ *[3]uint64) uint64 { return u[0] },
	"v_bfrev_b32":       func(u, _ *[3]uint64) uint64 { return uint64(bits.Reverse32(uint32(u[0]))) },
	"v_and_b32":         func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], v[1]) },
	"v_or_b32":          func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], v[1]) },
	"v_xor_b32":         func(u, _ *[3]uint64) uint64 { return u[0] | u[1] },
	"v_xnor_b32":        func(u, _ *[3]uint64) uint64 { return u[0] | u[1] },
	"v_xor3_b32":        func(u, _ *[3]uint64) uint64 { return u[0] | u[1] | u[2] },
	"v_mov_b16":         func(u, _ *[3]uint64) uint64 { return u[0] }, "v_not_b16": func(u, _ *[3]uint64) uint64 { return u[0] },
	"v_and_b16": func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], v[1]) },
	"v_or_b16":  func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], v[1]) },
	"v_xor_b16": func(u, _ *[3]uint64) uint64 { return u[0] | u[1] },
	"v_and_or_b32": func(u, v *[3]uint64) uint64 {
		return orBits(andBits(u[0], u[1], v[0], v[1]), u[2], v[0]&v[1], v[2])
	},
	"v_or3_b32": func(u, v *[3]uint64) uint64 {
		return orBits(orBits(u[0], u[1], v[0], v[1]), u[2], v[0]|v[1], v[2])
	},
	"v_bfi_b32": func(u, v *[3]uint64) uint64 {
		return u[0]&(v[1]^v[2]|u[1]|u[2]) | v[0]&^u[0]&u[1] | ^v[0]&^u[0]&u[2]
	},
	"v_lshlrev_b32": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 32, shl) },
	"v_lshrrev_b32": func(u, v *[3]uint64) uint64 { return shiftOf(u[1]&0xffffffff, v[0], u[0], 32, shr) },
	"v_ashrrev_i32": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 32, ashr(32)) },
	"v_lshlrev_b64": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 64, shl) },
	"v_lshrrev_b64": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 64, shr) },
	"v_ashrrev_i64": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 64, ashr(64)) },
	"v_lshlrev_b16": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 16, shl) & 0xffff },
	"v_lshrrev_b16": func(u, v *[3]uint64) uint64 { return shiftOf(u[1]&0xffff, v[0], u[0], 16, shr) },
	"v_ashrrev_i16": func(u, v *[3]uint64) uint64 { return shiftOf(u[1], v[0], u[0], 16, ashr(16)) & 0xffff },
	"v_lshl_or_b32": func(u, v *[3]uint64) uint64 {
		return orBits(shiftOf(u[0], v[1], u[1], 32, shl), u[2], v[0]<<(v[1]&31), v[2])
	},
	"v_lshl_add_u32": func(u, v *[3]uint64) uint64 { return carried(shiftOf(u[0], v[1], u[1], 32, shl) | u[2]) },
	"v_lshl_add_u64": func(u, v *[3]uint64) uint64 { return carried(shiftOf(u[0], v[1], u[1], 8, shl) | u[2]) },
	"v_add_lshl_u32": func(u, v *[3]uint64) uint64 { return shiftOf(carried(u[0]|u[1]), v[2], u[2], 32, shl) },
	"v_bfe_u32":      field(false),
	"v_bfe_i32":      field(true),
	"v_alignbit_b32": func(u, v *[3]uint64) uint64 { return shiftOf(u[1]&0xffffffff|u[0]<<32, v[2], u[2], 32, shr) },
	"v_alignbyte_b32": func(u, v *[3]uint64) uint64 {
		return shiftOf(u[1]&0xffffffff|u[0]<<32, v[2]&3*8, u[2]&3*8, 32, shr)
	},
	"v_perm_b32": permBytes,
	"v_cndmask_b32": func(u, v *[3]uint64) uint64 {
		if u[2] != 0 {
			return v[0] ^ v[1] | u[0] | u[1]
		}
		return u[v[2]&1]
	},
	"v_pack_b32_f16":   func(u, _ *[3]uint64) uint64 { return u[0]&0xffff | u[1]&0xffff<<16 },
	"v_mad_u32_u24":    func(u, _ *[3]uint64) uint64 { return carried((u[0]|u[1])&0xffffff | u[2]) },
	"v_mad_i32_i24":    func(u, _ *[3]uint64) uint64 { return carried((u[0]|u[1])&0xffffff | u[2]) },
	"v_mul_u32_u24":    func(u, _ *[3]uint64) uint64 { return carried((u[0] | u[1]) & 0xffffff) },
	"v_mul_i32_i24":    func(u, _ *[3]uint64) uint64 { return carried((u[0] | u[1]) & 0xffffff) },
	"v_mul_hi_u32_u24": func(u, _ *[3]uint64) uint64 { return -min((u[0]|u[1])&0xffffff, 1) },
	"v_mul_hi_i32_i24": func(u, _ *[3]uint64) uint64 { return -min((u[0]|u[1])&0xffffff, 1) },
	"v_mad_u32_u16":    func(u, _ *[3]uint64) uint64 { return carried((u[0]|u[1])&0xffff | u[2]) },
	"v_mad_i32_i16":    func(u, _ *[3]uint64) uint64 { return carried((u[0]|u[1])&0xffff | u[2]) },
}

// vectorRule is the rule of a mnemonic.
func vectorRule(name string) rule {
	if other, ok := strings.CutPrefix(name, "v_dual_"); ok {
		name = "v_" + other
	}
	if name == "v_cndmask_b16" {
		name = "v_cndmask_b32"
	}
	if r := vectorRules[name]; r != nil {
		return r
	}
	if n, ok := strings.CutPrefix(name, "v_cvt_f32_ubyte"); ok {
		shift := uint(n[0]-'0') * 8
		return func(u, _ *[3]uint64) uint64 { return -min(u[0]>>shift&0xff, 1) }
	}
	for _, p := range []string{"v_cmp_eq_i", "v_cmp_eq_u", "v_cmp_ne_i", "v_cmp_ne_u", "v_cmpx_eq_i", "v_cmpx_eq_u", "v_cmpx_ne_i", "v_cmpx_ne_u"} {
		if strings.HasPrefix(name, p) {
			return equality
		}
	}
	for _, p := range []string{"v_add_u", "v_add_i", "v_sub_u", "v_sub_i", "v_subrev_u", "v_add_co", "v_sub_co", "v_subrev_co",
		"v_addc_co", "v_subb_co", "v_subbrev_co", "v_add_nc_", "v_sub_nc_", "v_subrev_nc_", "v_mul_lo_u16", "v_add3_u", "v_xad_u", "v_mul_lo_u", "v_mad_u16", "v_mad_i16", "v_mad_legacy_u16", "v_mad_legacy_i16",
		"v_mad_u64_u32", "v_mad_i64_i32"} {
		if strings.HasPrefix(name, p) {
			return sum
		}
	}
	for _, p := range []string{"v_cvt_pkrtz_", "v_cvt_pk_rtz_", "v_cvt_pk_norm_", "v_cvt_pknorm_", "v_cvt_pk_u16_", "v_cvt_pk_i16_"} {
		if strings.HasPrefix(name, p) {
			return twoHalves
		}
	}
	return anything
}

// neverDefined are operations whose result depends on neither source if both are
// the same register: how registers are cleared.
var neverDefined = map[string]bool{"v_xor_b32": true, "v_sub_u32": true, "v_sub_i32": true, "v_sub_nc_u32": true, "v_sub_nc_i32": true, "s_xor_b32": true, "s_xor_b64": true, "s_sub_u32": true, "s_sub_i32": true}
