package exec

import (
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What scalar instructions make undefined.

// scalarRules are those that are not "anything", by mnemonic without width.
var scalarRules = map[string]rule{
	"s_mov": func(u, _ *[3]uint64) uint64 { return u[0] }, "s_not": func(u, _ *[3]uint64) uint64 { return u[0] },
	"s_and":      func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], v[1]) },
	"s_nand":     func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], v[1]) },
	"s_andn2":    func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], ^v[1]) },
	"s_andn1":    func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], ^v[0], v[1]) },
	"s_and_not1": func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], v[0], ^v[1]) },
	"s_and_not0": func(u, v *[3]uint64) uint64 { return andBits(u[0], u[1], ^v[0], v[1]) },
	"s_or_not1":  func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], ^v[1]) },
	"s_or_not0":  func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], ^v[0], v[1]) },
	"s_or":       func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], v[1]) },
	"s_nor":      func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], v[1]) },
	"s_orn2":     func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], v[0], ^v[1]) },
	"s_orn1":     func(u, v *[3]uint64) uint64 { return orBits(u[0], u[1], ^v[0], v[1]) },
	"s_xor":      func(u, _ *[3]uint64) uint64 { return u[0] | u[1] },
	"s_xnor":     func(u, _ *[3]uint64) uint64 { return u[0] | u[1] },

	"s_lshl_b32": func(u, v *[3]uint64) uint64 { return shiftOf(u[0], v[1], u[1], 32, shl) },
	"s_lshl_b64": func(u, v *[3]uint64) uint64 { return shiftOf(u[0], v[1], u[1], 64, shl) },
	"s_lshr_b32": func(u, v *[3]uint64) uint64 { return shiftOf(u[0]&0xffffffff, v[1], u[1], 32, shr) },
	"s_lshr_b64": func(u, v *[3]uint64) uint64 { return shiftOf(u[0], v[1], u[1], 64, shr) },
	"s_ashr_i32": func(u, v *[3]uint64) uint64 { return shiftOf(u[0], v[1], u[1], 32, ashr(32)) },
	"s_ashr_i64": func(u, v *[3]uint64) uint64 { return shiftOf(u[0], v[1], u[1], 64, ashr(64)) },
	"s_bfe_u32":  scalarField(31, false), "s_bfe_i32": scalarField(31, true),
	"s_bfe_u64": scalarField(63, false), "s_bfe_i64": scalarField(63, true),
	"s_sext_i32_i8":  func(u, _ *[3]uint64) uint64 { return extract(u[0], 0, 8, true) },
	"s_sext_i32_i16": func(u, _ *[3]uint64) uint64 { return extract(u[0], 0, 16, true) },

	"s_lshl1_add_u32": func(u, _ *[3]uint64) uint64 { return carried(u[0]<<1 | u[1]) },
	"s_lshl2_add_u32": func(u, _ *[3]uint64) uint64 { return carried(u[0]<<2 | u[1]) },
	"s_lshl3_add_u32": func(u, _ *[3]uint64) uint64 { return carried(u[0]<<3 | u[1]) },
	"s_lshl4_add_u32": func(u, _ *[3]uint64) uint64 { return carried(u[0]<<4 | u[1]) },
	"s_add_u32":       sum, "s_add_i32": sum, "s_sub_u32": sum, "s_sub_i32": sum, "s_mul_i32": sum, "s_addk_i32": sum, "s_mulk_i32": sum,
	"s_pack_ll_b32_b16": func(u, _ *[3]uint64) uint64 { return u[0]&0xffff | u[1]&0xffff<<16 },
	"s_pack_lh_b32_b16": func(u, _ *[3]uint64) uint64 { return u[0]&0xffff | u[1]&0xffff0000 },
	"s_pack_hl_b32_b16": func(u, _ *[3]uint64) uint64 { return u[0]>>16&0xffff | u[1]&0xffff<<16 },
	"s_pack_hh_b32_b16": func(u, _ *[3]uint64) uint64 { return u[0]>>16&0xffff | u[1]&0xffff0000 },
	"s_bitset0":         func(u, _ *[3]uint64) uint64 { return u[1] | -min(u[0], 1) },
	"s_bitset1":         func(u, _ *[3]uint64) uint64 { return u[1] | -min(u[0], 1) },

	"s_bitcmp0_b32": bitOf(31), "s_bitcmp1_b32": bitOf(31), "s_bitcmp0_b64": bitOf(63), "s_bitcmp1_b64": bitOf(63),
}

func scalarField(last uint64, signed bool) rule {
	return func(u, v *[3]uint64) uint64 {
		if u[1] != 0 {
			return all
		}
		x := u[0]
		if last == 31 {
			x &= 0xffffffff
		}
		off := uint(v[1] & last)
		return extract(x, off, min(uint(v[1]>>16&0x7f), 64), signed)
	}
}

// bitOf is whether one bit is undefined.
func bitOf(last uint64) rule {
	return func(u, v *[3]uint64) uint64 {
		if u[1]&last != 0 {
			return all
		}
		return u[0] >> (v[1] & last) & 1
	}
}

// scalarRule is the rule of a mnemonic.
func scalarRule(name string) rule {
	name = strings.NewReplacer("_saveexec", "", "_wrexec", "").Replace(name)
	if r := scalarRules[name]; r != nil {
		return r
	}
	for _, suffix := range []string{"_b32", "_b64"} {
		if s, ok := strings.CutSuffix(name, suffix); ok && scalarRules[s] != nil {
			return scalarRules[s]
		}
	}
	for _, p := range []string{"s_cmp_eq", "s_cmp_lg", "s_cmpk_eq", "s_cmpk_lg"} {
		if strings.HasPrefix(name, p) {
			return equality
		}
	}
	return anything
}

// undefinedScalar binds a scalar operation.
func undefinedScalar(in *gcn.Inst) before {
	name := in.Op.String()
	switch {
	case strings.HasPrefix(name, "s_sendmsg_rtn"), strings.HasPrefix(name, "s_movrel"), strings.HasPrefix(name, "s_getpc"), name == "s_getreg_b32", name == "s_movk_i32":
		return func(w *wave) { w.watched.setScalar(in.Dst.Index, in.Dst.Width, 0) }
	}
	f := scalarRule(name)
	flags := in.Info.Flags
	var get [3]func(w *wave) uint64
	for i := range in.Src {
		o := &in.Src[i]
		get[i] = func(*wave) uint64 { return uint64(int64(int16(in.Simm16))) }
		if o.Kind == gcn.None {
			continue
		}
		if o.Width >= 2 {
			s, err := scalar64(o)
			if err != nil {
				return nil
			}
			get[i] = s.get64
		} else {
			s, err := scalar(o)
			if err != nil {
				return nil
			}
			get[i] = s.get32
		}
	}
	saves := strings.Contains(name, "_saveexec")
	wrexec := strings.Contains(name, "_wrexec")
	selects := name == "s_cselect_b32" || name == "s_cselect_b64" || strings.HasPrefix(name, "s_cmov")
	return func(w *wave) {
		x := w.watched
		var u, v [3]uint64
		for i := range u {
			if in.Src[i].Kind != gcn.None {
				u[i] = x.scalarBits(&in.Src[i])
			}
			v[i] = get[i](w)
		}
		if saves || wrexec {
			u[1], v[1] = 0, w.exec
		}
		var r uint64
		switch {
		case selects && x.s[regSCC] != 0:
			r = all
		case selects && strings.HasPrefix(name, "s_cmovk"): // of the register and a constant
			if r = u[0]; w.S[regSCC] != 0 {
				r = 0
			}
		case selects:
			if r = u[1]; w.S[regSCC] != 0 {
				r = u[0]
			}
		case neverDefined[name] && in.Src[0].Kind == gcn.SGPR && in.Src[1].Kind == gcn.SGPR && in.Src[0].Index == in.Src[1].Index:
		case flags&gcn.ReadsSCC != 0 && x.s[regSCC] != 0:
			r = all
		default:
			r = f(&u, &v)
		}
		switch {
		case saves || wrexec:
			if r != 0 {
				w.branchUndefined(r)
				r = 0
			}
			if saves {
				x.setScalar(in.Dst.Index, in.Dst.Width, 0)
			} else {
				x.setScalar(in.Dst.Index, in.Dst.Width, r)
			}
		case in.Dst.Kind == gcn.SGPR:
			if in.Dst.Width < 2 {
				r &= 0xffffffff
			}
			if writesEXEC(in) && r != 0 {
				w.branchUndefined(r)
				r = 0
			}
			x.setScalar(in.Dst.Index, in.Dst.Width, r)
		}
		if flags&gcn.WritesSCC != 0 {
			x.s[regSCC] = uint32(min(r, 1))
			if in.Dst.Kind == gcn.SGPR && u[0]|u[1] != 0 && !nonzero(name) {
				x.s[regSCC] = 1
			}
		}
	}
}

func (s sref) get32(w *wave) uint64   { return uint64(s.get(w)) }
func (s sref64) get64(w *wave) uint64 { return s.get(w) }

// nonzero reports whether SCC says that the result is not zero.
func nonzero(name string) bool {
	for _, p := range []string{"s_and", "s_or", "s_xor", "s_xnor", "s_nand", "s_nor", "s_not", "s_lsh", "s_ashr", "s_bfe", "s_bcnt"} {
		if strings.HasPrefix(name, p) && !strings.Contains(name, "_add_") {
			return true
		}
	}
	return false
}

// undefinedSCC looks at SCC where that says whether the result is zero: it is
// defined if a bit is set that is.
func undefinedSCC(in *gcn.Inst) before {
	if in.Info.Flags&gcn.WritesSCC == 0 || in.Dst.Kind != gcn.SGPR || !nonzero(in.Op.String()) || in.Info.Flags&gcn.WritesEXEC != 0 {
		return nil
	}
	return func(w *wave) {
		x := w.watched
		if x.s[regSCC] == 0 {
			return
		}
		r := uint64(w.S[in.Dst.Index&127])
		if in.Dst.Width >= 2 {
			r = w.s64(uint8(in.Dst.Index & 127))
		}
		if r&^x.scalarBits(&in.Dst) != 0 {
			x.s[regSCC] = 0
		}
	}
}

// branchUndefined tells of lanes that go on, or do not, by what is undefined.
func (w *wave) branchUndefined(lanes uint64) {
	w.find(CheckUninit, bits.TrailingZeros64(lanes)&63, Finding{Detail: "a branch depends on an undefined value"})
}

// undefinedBranch binds the check of a branch, nil for what is none.
func undefinedBranch(in *gcn.Inst) before {
	name := in.Op.String()
	switch {
	case strings.HasPrefix(name, "s_cbranch_scc"):
		return func(w *wave) {
			if x := w.watched; x.s[regSCC] != 0 {
				w.find(CheckUninit, -1, Finding{Detail: "a branch depends on an undefined value"})
				x.s[regSCC] = 0
			}
		}
	case strings.HasPrefix(name, "s_cbranch_vcc"):
		return func(w *wave) {
			x := w.watched
			vcc := w.s64(regVCC)
			if x.small {
				vcc &= 0xffffffff
			}
			if u := x.vcc(); u != 0 && vcc&^u == 0 {
				w.branchUndefined(u)
				x.setScalar(regVCC, x.masks(), 0)
			}
		}
	case name == "s_setpc_b64", name == "s_swappc_b64":
		return func(w *wave) {
			x := w.watched
			if x.scalarBits(&in.Src[0]) != 0 {
				w.find(CheckUninit, -1, Finding{Detail: "a jump goes to an undefined address"})
				x.setScalar(in.Src[0].Index, 2, 0)
			}
			if in.Dst.Kind == gcn.SGPR {
				x.setScalar(in.Dst.Index, 2, 0)
			}
		}
	case in.Dst.Kind == gcn.SGPR: // s_call, the clocks
		return func(w *wave) { w.watched.setScalar(in.Dst.Index, in.Dst.Width, 0) }
	}
	return nil
}
