package randomc

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// typ is a scalar type of C.
type typ struct {
	name  string
	bits  int
	sign  bool
	float bool
}

var (
	ints   = []*typ{{"i8", 8, true, false}, {"u8", 8, false, false}, {"i16", 16, true, false}, {"u16", 16, false, false}, {"i32", 32, true, false}, {"u32", 32, false, false}, {"i64", 64, true, false}, {"u64", 64, false, false}}
	floats = []*typ{{"f16", 16, true, true}, {"bf16", 16, true, true}, {"f32", 32, true, true}, {"f64", 64, true, true}}
	all    = append(append([]*typ{}, ints...), floats...)

	u8, u16, u32, u64, i32 = ints[1], ints[3], ints[5], ints[7], ints[4]
	f16, bf16, f32, f64    = floats[0], floats[1], floats[2], floats[3]
)

// vectorType is a vector of C.
type vectorType struct {
	name string
	elem *typ
	n    int
}

var vectors = []*vectorType{{"u32x4", u32, 4}, {"i32x2", i32, 2}, {"i16x2", ints[2], 2}, {"u16x4", u16, 4}, {"u8x4", u8, 4}, {"u64x2", u64, 2}, {"f16x2", f16, 2}, {"f16x4", f16, 4}, {"f32x2", f32, 2}, {"f32x4", f32, 4}, {"f64x2", f64, 2}}

// field is a member of the structure that all programs have.
var fields = []struct {
	name string
	t    *typ
}{{"a", ints[0]}, {"b", f16}, {"c", u32}, {"d", f64}, {"e", u16}, {"f", ints[6]}, {"g", f32}}

// prelude is what every program begins with.
func prelude() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	p("#include \"kernel.h\"\ntypedef _Float16 f16;\ntypedef __bf16 bf16;\n")
	// clang-19 makes "v_add_f16_sdwa v0, v1, -v2 src1_sel:BYTE_0" of adding a signed byte's bits: the bit that extends the sign of an integer negates a float.
	p("#ifdef __HIP__\n#define FN __attribute__((device)) static inline\nFN u32 opaque32(u32 x) { __asm__(\"\" : \"+v\"(x)); return x; }\nFN u64 opaque64(u64 x) { __asm__(\"\" : \"+v\"(x)); return x; }\n"+
		"#else\n#define FN static inline\n#define opaque32(x) x\n#define opaque64(x) x\n%s#endif\n", truncate)
	for _, v := range vectors {
		p("typedef %s %s __attribute__((ext_vector_type(%d)));\n", v.elem.name, v.name, v.n)
	}
	p("struct pack {")
	for _, f := range fields {
		p(" %s %s;", f.t.name, f.name)
	}
	p(" };\n")
	for _, t := range ints {
		if t.sign {
			p("FN %[1]s div_%[1]s(%[1]s a, %[1]s b) { return b == 0 || b == -1 ? a : (%[1]s)(a / b); }\nFN %[1]s mod_%[1]s(%[1]s a, %[1]s b) { return b == 0 || b == -1 ? a : (%[1]s)(a %% b); }\n", t.name)
		} else {
			// clang-19 takes 0xfffffffffffffffd for a small number, when the divisor is one, because all but its last bits are the same.
			hide := ""
			if t.bits >= 32 {
				hide = fmt.Sprintf("a = opaque%d(a); ", t.bits)
			}
			p("FN %[1]s div_%[1]s(%[1]s a, %[1]s b) { %[2]sreturn b == 0 ? a : (%[1]s)(a / b); }\nFN %[1]s mod_%[1]s(%[1]s a, %[1]s b) { %[2]sreturn b == 0 ? a : (%[1]s)(a %% b); }\n", t.name, hide)
		}
	}
	for _, f := range []*typ{f32, f16, bf16, f64} {
		u := fmt.Sprintf("u%d", f.bits)
		nan := map[*typ]string{f16: "0x7e00", bf16: "0x7fc0", f32: "0x7fc00000u", f64: "0x7ff8000000000000ull"}[f]
		if f == bf16 { // clang-19 has no comparison of these for the GPU
			p("FN f32 wide(bf16 x) { union { bf16 f; u16 u; } z; z.f = x; return from_f32((u32)z.u << 16); }\n")
		}
		cmp := map[bool]string{true: "wide"}[f == bf16]
		// Which NaN it is does not show.
		p("FN %[2]s bits_%[1]s(%[1]s x) { union { %[1]s f; %[2]s u; } z; z.f = x; return %[4]s(x) != %[4]s(x) ? (%[2]s)%[3]s : z.u; }\n", f.name, u, nan, cmp)
		p("FN %[1]s from_%[1]s(%[2]s x) { union { %[1]s f; %[2]s u; } z; z.u = (%[2]s)opaque%[3]d(x); return z.f; }\n", f.name, u, max(f.bits, 32))
		p("FN %[1]s min_%[1]s(%[1]s a, %[1]s b) { return %[2]s(a) < %[2]s(b) ? a : b; }\nFN %[1]s max_%[1]s(%[1]s a, %[1]s b) { return %[2]s(a) > %[2]s(b) ? a : b; }\n", f.name, cmp)
		for _, t := range ints {
			lo, hi := limits(t, f)
			if f == bf16 {
				p("FN %[1]s cv_%[1]s_bf16(bf16 x) { f32 y = wide(x); return y >= %[2]s && y <= %[3]s ? (%[1]s)y : (%[1]s)0; }\n", t.name, lo, hi)
				continue
			}
			p("FN %[1]s cv_%[1]s_%[2]s(%[2]s x) { return x >= (%[2]s)%[3]s && x <= (%[2]s)%[4]s ? (%[1]s)x : (%[1]s)0; }\n", t.name, f.name, lo, hi)
		}
	}
	// A float of moderate size, a special one, or any.
	p("FN f64 some_f64(u64 h) { switch (h & 7) { case 0: return from_f64(h << 13 | h >> 51); case 1: return (f64)(i32)(h >> 8); case 2: return from_f64((h >> 4 & 1) << 63 | (h >> 9 & 3) << 52 | (h >> 40 & 3)); default: return (f64)(i64)(h >> 20) * 0x1p-40; } }\n")
	p("FN f32 some_f32(u64 h) { switch (h & 7) { case 0: return from_f32((u32)(h >> 13)); case 1: return (f32)(i32)(h >> 24); case 2: return from_f32((u32)(h >> 4 & 1) << 31 | (u32)(h >> 9 & 3) << 23 | (u32)(h >> 40 & 3)); default: return (f32)(i32)(h >> 30) * 0x1p-20f; } }\n")
	p("FN f16 some_f16(u64 h) { return h & 1 ? from_f16((u16)(h >> 13)) : (f16)(f32)((i32)(h >> 40 & 0xfff) - 2048) / (f16)64.0f; }\n")
	p("FN bf16 some_bf16(u64 h) { return (bf16)some_f32(h); }\n")
	p("FN u64 mix(u64 x) { x ^= x >> 30; x *= 0xbf58476d1ce4e5b9ull; x ^= x >> 27; x *= 0x94d049bb133111ebull; return x ^ x >> 31; }\n")
	return b.String()
}

// truncate is what the compiler calls on the CPU to round to bf16.
const truncate = `__bf16 __truncsfbf2(float x) {
    union { float f; u32 u; } a;
    union { u16 h; __bf16 b; } z;
    a.f = x;
    a.u = x != x ? a.u | 1u << 22 : a.u + 0x7fff + (a.u >> 16 & 1);
    z.h = (u16)(a.u >> 16);
    return z.b;
}
`

// limits are the least and the greatest float that converts to an integer type.
func limits(t, f *typ) (lo, hi string) {
	lo = "0.0f"
	if t.sign {
		lo = map[int]string{8: "-128.0f", 16: "-32768.0f", 32: "-2147483648.0f", 64: "-9223372036854775808.0f"}[t.bits]
	}
	n := t.bits
	if t.sign {
		n--
	}
	switch {
	case f == f16 && n > 15:
		if t.sign {
			lo = "-65504.0f"
		}
		return lo, "65504.0f"
	case f == f16 && n == 15:
		return lo, "32752.0f"
	case n < 24:
		return lo, fmt.Sprintf("%d.0f", 1<<n-1)
	case f == f64 && n < 53:
		return lo, fmt.Sprintf("%d.0", int64(1)<<n-1)
	case f == f64:
		return lo, map[int]string{63: "9223372036854774784.0", 64: "18446744073709549568.0"}[n]
	}
	return lo, map[int]string{31: "2147483520.0f", 32: "4294967040.0f", 63: "9223371487098961920.0f", 64: "18446742974197923840.0f"}[n]
}

// convert is the C of an expression of type from as one of type to.
func convert(to, from *typ, x string) string {
	switch {
	case to == from:
		return x
	case from.float && !to.float:
		return fmt.Sprintf("cv_%s_%s(%s)", to.name, from.name, x)
	case to == f16 && (from == bf16 || !from.float && from.bits > 16), to == bf16 && from != f32: // by way of f32 on both sides
		return fmt.Sprintf("(%s)(f32)(%s)", to.name, x)
	}
	return fmt.Sprintf("(%s)(%s)", to.name, x)
}

// constant is a literal of a type, often one where something changes.
func constant(r *rand.Rand, t *typ) string {
	if t.float {
		list := []string{"0.0", "-0.0", "1.0", "-1.0", "0.5", "3.0", "-7.25", "0.1", "1024.0", "65504.0", "0x1p-14", "0x1p-24", "0x1.8p-25"}
		switch t {
		case f32, bf16:
			list = append(list, "0x1p-126", "0x1p-133", "0x1.fep127", "16777216.0", "0x1p-70")
		case f64:
			list = append(list, "0x1p-1022", "0x1p-1074", "0x1.fffffffffffffp1023", "0x1p-500")
		}
		x := list[r.IntN(len(list))]
		if t == f64 {
			return x
		}
		return fmt.Sprintf("(%s)%sf", t.name, x)
	}
	v := r.Uint64()
	switch r.IntN(4) {
	case 0:
		v = uint64(r.IntN(20)) - 4
	case 1:
		v = 1 << r.IntN(t.bits)
	case 2:
		v = 1<<r.IntN(t.bits) - 1
	}
	if t.bits < 64 {
		v &= 1<<t.bits - 1
	}
	return fmt.Sprintf("(%s)0x%xull", t.name, v)
}
