package main

// The table of vector kernels. A body computes r from the sources x, y and z,
// in terms of a vector type's name without its number of lanes: U32 is
// Uint32x16 for AVX-512 and Uint32x8 for AVX2. Names k1, k31, kff … are vectors
// of that constant (see constants).

// kernel is a vector operation.
type kernel struct {
	name string
	// What the sources and the result are: n, one register; w, a pair; h (result
	// only), the high halves of a pair. With none wide, bodies work on 32-bit
	// elements, otherwise on 64-bit ones, into which single registers are
	// extended by zeros.
	srcs, dst string
	body      string
	only512   bool // AVX2 lacks the instructions
}

var kernels = []kernel{
	{name: "v_mov_b32", srcs: "n", dst: "n", body: "r := x"},
	{name: "v_not_b32", srcs: "n", dst: "n", body: "r := x.Xor(kones)"},
	{name: "v_add_u32", srcs: "nn", dst: "n", body: "r := x.Add(y)"},
	{name: "v_add_i32", srcs: "nn", dst: "n", body: "r := x.Add(y)"},
	{name: "v_sub_u32", srcs: "nn", dst: "n", body: "r := x.Sub(y)"},
	{name: "v_sub_i32", srcs: "nn", dst: "n", body: "r := x.Sub(y)"},
	{name: "v_subrev_u32", srcs: "nn", dst: "n", body: "r := y.Sub(x)"},
	{name: "v_and_b32", srcs: "nn", dst: "n", body: "r := x.And(y)"},
	{name: "v_or_b32", srcs: "nn", dst: "n", body: "r := x.Or(y)"},
	{name: "v_xor_b32", srcs: "nn", dst: "n", body: "r := x.Xor(y)"},
	{name: "v_xnor_b32", srcs: "nn", dst: "n", body: "r := x.Xor(y).Xor(kones)"},
	{name: "v_lshlrev_b32", srcs: "nn", dst: "n", body: "r := y.ShiftLeft(x.And(k31))"},
	{name: "v_lshrrev_b32", srcs: "nn", dst: "n", body: "r := y.ShiftRight(x.And(k31))"},
	{name: "v_ashrrev_i32", srcs: "nn", dst: "n", body: "r := y.AsI32().ShiftRight(x.And(k31).AsI32()).AsU32()"},
	{name: "v_min_i32", srcs: "nn", dst: "n", body: "r := x.AsI32().Min(y.AsI32()).AsU32()"},
	{name: "v_max_i32", srcs: "nn", dst: "n", body: "r := x.AsI32().Max(y.AsI32()).AsU32()"},
	{name: "v_min_u32", srcs: "nn", dst: "n", body: "r := x.Min(y)"},
	{name: "v_max_u32", srcs: "nn", dst: "n", body: "r := x.Max(y)"},
	{name: "v_mul_lo_u32", srcs: "nn", dst: "n", body: "r := x.Mul(y)"},
	{name: "v_mul_u32_u24", srcs: "nn", dst: "n", body: "r := x.And(k24).Mul(y.And(k24))"},
	{name: "v_mul_i32_i24", srcs: "nn", dst: "n", body: s24 + "r := u.Mul(v).AsU32()"},
	{name: "v_bfm_b32", srcs: "nn", dst: "n", body: "r := k1.ShiftLeft(x.And(k31)).Sub(k1).ShiftLeft(y.And(k31))"},
	{name: "v_ffbh_u32", srcs: "n", dst: "n", body: "r := x.LeadingZeros().Merge(kones, x.NotEqual(kzero))", only512: true},

	{name: "v_add3_u32", srcs: "nnn", dst: "n", body: "r := x.Add(y).Add(z)"},
	{name: "v_lshl_add_u32", srcs: "nnn", dst: "n", body: "r := x.ShiftLeft(y.And(k31)).Add(z)"},
	{name: "v_add_lshl_u32", srcs: "nnn", dst: "n", body: "r := x.Add(y).ShiftLeft(z.And(k31))"},
	{name: "v_lshl_or_b32", srcs: "nnn", dst: "n", body: "r := x.ShiftLeft(y.And(k31)).Or(z)"},
	{name: "v_and_or_b32", srcs: "nnn", dst: "n", body: "r := x.And(y).Or(z)"},
	{name: "v_or3_b32", srcs: "nnn", dst: "n", body: "r := x.Or(y).Or(z)"},
	{name: "v_xad_u32", srcs: "nnn", dst: "n", body: "r := x.Xor(y).Add(z)"},
	{name: "v_bfi_b32", srcs: "nnn", dst: "n", body: "r := x.And(y).Or(z.AndNot(x))"},
	{name: "v_bfe_u32", srcs: "nnn", dst: "n", body: "r := x.ShiftRight(y.And(k31)).And(k1.ShiftLeft(z.And(k31)).Sub(k1))"},
	{name: "v_bfe_i32", srcs: "nnn", dst: "n", body: `n := z.And(k31)
		rest := k32.Sub(y.And(k31)) // bits above the field's start
		u := n.Min(rest)
		r := x.ShiftLeft(rest.Sub(u)).AsI32().ShiftRight(k32.Sub(u).AsI32()).AsU32().Masked(n.NotEqual(kzero))`},
	{name: "v_alignbit_b32", srcs: "nnn", dst: "n", body: "n := z.And(k31)\nr := y.ShiftRight(n).Or(x.ShiftLeft(k32.Sub(n)))"},
	{name: "v_alignbyte_b32", srcs: "nnn", dst: "n", body: "n := z.And(k3).ShiftAllLeft(3)\nr := y.ShiftRight(n).Or(x.ShiftLeft(k32.Sub(n)))"},
	{name: "v_mad_u32_u24", srcs: "nnn", dst: "n", body: "r := x.And(k24).Mul(y.And(k24)).Add(z)"},
	{name: "v_mad_i32_i24", srcs: "nnn", dst: "n", body: s24 + "r := u.Mul(v).AsU32().Add(z)"},
	{name: "v_min3_u32", srcs: "nnn", dst: "n", body: "r := x.Min(y).Min(z)"},
	{name: "v_max3_u32", srcs: "nnn", dst: "n", body: "r := x.Max(y).Max(z)"},
	{name: "v_med3_u32", srcs: "nnn", dst: "n", body: "r := x.Min(y).Max(x.Max(y).Min(z))"},
	{name: "v_min3_i32", srcs: "nnn", dst: "n", body: i3 + "r := u.Min(v).Min(s).AsU32()"},
	{name: "v_max3_i32", srcs: "nnn", dst: "n", body: i3 + "r := u.Max(v).Max(s).AsU32()"},
	{name: "v_med3_i32", srcs: "nnn", dst: "n", body: i3 + "r := u.Min(v).Max(u.Max(v).Min(s)).AsU32()"},

	{name: "v_add_f32", srcs: "nn", dst: "n", body: "r := x.AsF32().Add(y.AsF32()).AsU32()"},
	{name: "v_sub_f32", srcs: "nn", dst: "n", body: "r := x.AsF32().Sub(y.AsF32()).AsU32()"},
	{name: "v_subrev_f32", srcs: "nn", dst: "n", body: "r := y.AsF32().Sub(x.AsF32()).AsU32()"},
	{name: "v_mul_f32", srcs: "nn", dst: "n", body: "r := x.AsF32().Mul(y.AsF32()).AsU32()"},
	{name: "v_fma_f32", srcs: "nnn", dst: "n", body: fma32},
	{name: "v_fmac_f32", srcs: "nnn", dst: "n", body: fma32},
	{name: "v_fmamk_f32", srcs: "nnn", dst: "n", body: fma32},
	{name: "v_fmaak_f32", srcs: "nnn", dst: "n", body: fma32},
	{name: "v_max_f32", srcs: "nn", dst: "n", body: keys + "r := x.Merge(y, u.Greater(v))\n" + nans},
	{name: "v_min_f32", srcs: "nn", dst: "n", body: keys + "r := x.Merge(y, v.Greater(u))\n" + nans},
	{name: "v_floor_f32", srcs: "n", dst: "n", body: "r := x.AsF32().FloorScaled(0).AsU32()", only512: true},
	{name: "v_ceil_f32", srcs: "n", dst: "n", body: "r := x.AsF32().CeilScaled(0).AsU32()", only512: true},
	{name: "v_trunc_f32", srcs: "n", dst: "n", body: "r := x.AsF32().TruncScaled(0).AsU32()", only512: true},
	{name: "v_rndne_f32", srcs: "n", dst: "n", body: "r := x.AsF32().RoundToEvenScaled(0).AsU32()", only512: true},
	{name: "v_rcp_f32", srcs: "n", dst: "n", body: "r := kone.AsF32().Div(x.AsF32()).AsU32()"},
	{name: "v_rcp_iflag_f32", srcs: "n", dst: "n", body: "r := kone.AsF32().Div(x.AsF32()).AsU32()"},
	{name: "v_sqrt_f32", srcs: "n", dst: "n", body: "r := x.AsF32().Sqrt().AsU32()"},

	{name: "v_cvt_f32_i32", srcs: "n", dst: "n", body: "r := x.AsI32().ConvertToFloat32().AsU32()"},
	{name: "v_cvt_f32_u32", srcs: "n", dst: "n", body: "r := x.ConvertToFloat32().AsU32()", only512: true},
	{name: "v_cvt_f32_ubyte0", srcs: "n", dst: "n", body: "r := x.And(kff).AsI32().ConvertToFloat32().AsU32()"},
	{name: "v_cvt_f32_ubyte1", srcs: "n", dst: "n", body: "r := x.ShiftAllRight(8).And(kff).AsI32().ConvertToFloat32().AsU32()"},
	{name: "v_cvt_f32_ubyte2", srcs: "n", dst: "n", body: "r := x.ShiftAllRight(16).And(kff).AsI32().ConvertToFloat32().AsU32()"},
	{name: "v_cvt_f32_ubyte3", srcs: "n", dst: "n", body: "r := x.ShiftAllRight(24).AsI32().ConvertToFloat32().AsU32()"},
	// What does not fit gives 0x80000000, or all ones.
	{name: "v_cvt_i32_f32", srcs: "n", dst: "n", body: `f := x.AsF32()
		u := f.ConvertToInt32().AsU32()
		r := u.Xor(kones.Masked(f.GreaterEqual(k2p31.AsF32()))).Masked(f.Equal(f))`},
	{name: "v_cvt_u32_f32", srcs: "n", dst: "n", body: "r := x.AsF32().ConvertToUint32().Masked(x.AsF32().Greater(kzero.AsF32()))", only512: true},

	{name: "v_mul_hi_u32", srcs: "nn", dst: "h", body: product},
	{name: "v_mul_hi_u32_u24", srcs: "nn", dst: "h", body: "x, y = x.And(k24w), y.And(k24w)\n" + product},
	{name: "v_lshlrev_b64", srcs: "nw", dst: "w", body: "r := y.ShiftLeft(x.And(k63w))"},
	{name: "v_lshrrev_b64", srcs: "nw", dst: "w", body: "r := y.ShiftRight(x.And(k63w))"},
	{name: "v_ashrrev_i64", srcs: "nw", dst: "w", body: "r := y.AsI64().ShiftRight(x.And(k63w).AsI64()).AsU64()", only512: true},
	{name: "v_lshl_add_u64", srcs: "wnw", dst: "w", body: "r := x.ShiftLeft(y.And(k7w)).Add(z)"},
	{name: "v_mov_b64", srcs: "w", dst: "w", body: "r := x"},
	{name: "v_add_f64", srcs: "ww", dst: "w", body: "r := x.AsF64().Add(y.AsF64()).AsU64()"},
	{name: "v_mul_f64", srcs: "ww", dst: "w", body: "r := x.AsF64().Mul(y.AsF64()).AsU64()"},
	{name: "v_fma_f64", srcs: "www", dst: "w", body: fma64},
	{name: "v_fmac_f64", srcs: "www", dst: "w", body: fma64},
	{name: "v_rcp_f64", srcs: "w", dst: "w", body: "r := konew.AsF64().Div(x.AsF64()).AsU64()"},
	{name: "v_sqrt_f64", srcs: "w", dst: "w", body: "r := x.AsF64().Sqrt().AsU64()"},
	// An integer in the low bits of 2^52 is a float that is that much larger.
	{name: "v_cvt_f64_u32", srcs: "n", dst: "w", body: "r := x.Or(k2p52w).AsF64().Sub(k2p52w.AsF64()).AsU64()"},
	{name: "v_cvt_f64_i32", srcs: "n", dst: "w", body: "r := x.Xor(ksignw).Or(k2p52w).AsF64().Sub(k2p52signw.AsF64()).AsU64()"},
}

const (
	s24   = "u, v := x.ShiftAllLeft(8).AsI32().ShiftAllRight(8), y.ShiftAllLeft(8).AsI32().ShiftAllRight(8)\n"
	i3    = "u, v, s := x.AsI32(), y.AsI32(), z.AsI32()\n"
	fma32 = "r := x.AsF32().MulAdd(y.AsF32(), z.AsF32()).AsU32()"
	fma64 = "r := x.AsF64().MulAdd(y.AsF64(), z.AsF64()).AsU64()"
	// keys are the sources as integers that are ordered as the floats are.
	keys = `u := x.Xor(x.AsI32().ShiftAllRight(31).AsU32().ShiftAllRight(1)).AsI32()
		v := y.Xor(y.AsI32().ShiftAllRight(31).AsU32().ShiftAllRight(1)).AsI32()
		`
	// nans is the rule of minNum and maxNum: a number, if there is one.
	nans = `xn, yn := x.AsF32().IsNaN(), y.AsF32().IsNaN()
		r = y.Merge(x.Merge(r, yn), xn)
		r = x.Or(kquiet).Merge(r, xn.And(yn))`
	product = "r := MUL(x, y)"
)

// carries are operations with a lane mask that goes in or comes out: cin and
// out are masks.
var carries = []kernel{
	{name: "addc", srcs: "nn", dst: "n", body: `s := x.Add(y)
		r := s.Add(k1.Masked(cin))
		out := s.Less(x).Or(s.Equal(kones).And(cin))`},
	{name: "subb", srcs: "nn", dst: "n", body: `s := x.Sub(y)
		r := s.Sub(k1.Masked(cin))
		out := x.Less(y).Or(s.Equal(kzero).And(cin))`},
	{name: "subbrev", srcs: "nn", dst: "n", body: `s := y.Sub(x)
		r := s.Sub(k1.Masked(cin))
		out := y.Less(x).Or(s.Equal(kzero).And(cin))`},
	{name: "mad_u64_u32", srcs: "nnw", dst: "w", body: `p := MUL(x, y)
		r := p.Add(z)
		out := r.Less(p)`},
}

// relations give the mask of lanes where they hold.
var relations = []kernel{
	{name: "lt_u32", srcs: "nn", body: "x.Less(y)"},
	{name: "le_u32", srcs: "nn", body: "x.LessEqual(y)"},
	{name: "gt_u32", srcs: "nn", body: "y.Less(x)"},
	{name: "ge_u32", srcs: "nn", body: "y.LessEqual(x)"},
	{name: "eq_u32", srcs: "nn", body: "x.Equal(y)"},
	{name: "ne_u32", srcs: "nn", body: "x.NotEqual(y)"},
	{name: "lt_i32", srcs: "nn", body: "x.AsI32().Less(y.AsI32())"},
	{name: "le_i32", srcs: "nn", body: "x.AsI32().LessEqual(y.AsI32())"},
	{name: "gt_i32", srcs: "nn", body: "y.AsI32().Less(x.AsI32())"},
	{name: "ge_i32", srcs: "nn", body: "y.AsI32().LessEqual(x.AsI32())"},
	{name: "eq_i32", srcs: "nn", body: "x.Equal(y)"},
	{name: "ne_i32", srcs: "nn", body: "x.NotEqual(y)"},
	{name: "lt_f32", srcs: "nn", body: "x.AsF32().Less(y.AsF32())"},
	{name: "le_f32", srcs: "nn", body: "x.AsF32().LessEqual(y.AsF32())"},
	{name: "gt_f32", srcs: "nn", body: "y.AsF32().Less(x.AsF32())"},
	{name: "ge_f32", srcs: "nn", body: "y.AsF32().LessEqual(x.AsF32())"},
	{name: "eq_f32", srcs: "nn", body: "x.AsF32().Equal(y.AsF32())"},
	{name: "neq_f32", srcs: "nn", body: "x.AsF32().NotEqual(y.AsF32())"},
	{name: "u_f32", srcs: "nn", body: "x.AsF32().IsNaN().Or(y.AsF32().IsNaN())"},
	{name: "lt_u64", srcs: "ww", body: "x.Less(y)"},
	{name: "le_u64", srcs: "ww", body: "x.LessEqual(y)"},
	{name: "gt_u64", srcs: "ww", body: "y.Less(x)"},
	{name: "ge_u64", srcs: "ww", body: "y.LessEqual(x)"},
	{name: "eq_u64", srcs: "ww", body: "x.Equal(y)"},
	{name: "ne_u64", srcs: "ww", body: "x.NotEqual(y)"},
	{name: "lt_i64", srcs: "ww", body: "x.AsI64().Less(y.AsI64())"},
	{name: "gt_i64", srcs: "ww", body: "y.AsI64().Less(x.AsI64())"},
	{name: "eq_i64", srcs: "ww", body: "x.Equal(y)"},
	{name: "ne_i64", srcs: "ww", body: "x.NotEqual(y)"},
	{name: "lt_f64", srcs: "ww", body: "x.AsF64().Less(y.AsF64())"},
	{name: "le_f64", srcs: "ww", body: "x.AsF64().LessEqual(y.AsF64())"},
	{name: "gt_f64", srcs: "ww", body: "y.AsF64().Less(x.AsF64())"},
	{name: "ge_f64", srcs: "ww", body: "y.AsF64().LessEqual(x.AsF64())"},
	{name: "eq_f64", srcs: "ww", body: "x.AsF64().Equal(y.AsF64())"},
	{name: "neq_f64", srcs: "ww", body: "x.AsF64().NotEqual(y.AsF64())"},
}

// constants are the vectors of one value that bodies use; those that end in w
// are of 64-bit elements.
var constants = map[string]string{
	"kzero": "0", "k1": "1", "k3": "3", "k31": "31", "k32": "32", "kff": "0xff", "k24": "0xffffff",
	"kones": "0xffffffff", "kquiet": "1 << 22", "kone": "0x3f800000", "k2p31": "0x4f000000",
	"k7w": "7", "k63w": "63", "k24w": "0xffffff", "konew": "0x3ff << 52",
	"k2p52w": "0x433 << 52", "ksignw": "1 << 31", "k2p52signw": "0x433<<52 | 1<<31",
}
