package folding

import (
	"fmt"
	"strings"
)

// op is an operation: LLVM's line that makes %r of %a, %b and %c.
type op struct {
	name   string
	result string   // type
	args   []string // types
	line   string   // "fadd half %a, %b"
	decl   string
	safe   bool // the second operand is positive: it is a divisor
	scalar bool // the operands are the wave's

	except func(operands [3]uint64) bool // LLVM says otherwise than AMD's manual
}

// bits is the size of a type.
func bits(t string) int {
	return map[string]int{"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64, "<2 x half>": 32, "<2 x i16>": 32}[t]
}

func isFloat(t string) bool { return strings.Contains("half float double bfloat", t) }

// short is a type as the names of intrinsics have it.
func short(t string) string {
	if isFloat(t) {
		return fmt.Sprintf("f%d", bits(t))
	}
	return t
}

// operations are all of them.
func operations() []op {
	var list []op
	vars := []string{"%a", "%b", "%c"}
	plain := func(name, result, line string, args ...string) *op {
		list = append(list, op{name: name, result: result, args: args, line: line})
		return &list[len(list)-1]
	}
	intrinsic := func(result, name string, args ...string) {
		var params []string
		for i, a := range args {
			params = append(params, a+" "+vars[i])
		}
		o := plain(name, result, fmt.Sprintf("call %s @llvm.%s(%s)", result, name, strings.Join(params, ", ")), args...)
		o.decl = fmt.Sprintf("declare %s @llvm.%s(%s)", result, name, strings.Join(args, ", "))
	}
	flagged := func(result, name, flag string, args ...string) { // with a last argument that is a constant
		var params []string
		for i, a := range args {
			params = append(params, a+" "+vars[i])
		}
		o := plain(name, result, fmt.Sprintf("call %s @llvm.%s(%s, i1 %s)", result, name, strings.Join(params, ", "), flag), args...)
		o.decl = fmt.Sprintf("declare %s @llvm.%s(%s, i1)", result, name, strings.Join(args, ", "))
	}
	for _, t := range []string{"i8", "i16", "i32", "i64"} {
		for _, n := range []string{"add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr"} {
			plain(n+" "+t, t, fmt.Sprintf("%s %s %%a, %%b", n, t), t, t)
		}
		for _, n := range []string{"udiv", "sdiv", "urem", "srem"} {
			plain(n+" "+t, t, fmt.Sprintf("%s %s %%a, %%b", n, t), t, t).safe = true
		}
		for _, n := range []string{"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"} {
			plain("icmp "+n+" "+t, "i1", fmt.Sprintf("icmp %s %s %%a, %%b", n, t), t, t)
		}
		for _, n := range []string{"smin", "smax", "umin", "umax", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"} {
			intrinsic(t, n+"."+t, t, t)
		}
		for _, n := range []string{"fshl", "fshr"} {
			intrinsic(t, n+"."+t, t, t, t)
		}
		intrinsic(t, "ctpop."+t, t)
		intrinsic(t, "bitreverse."+t, t)
		flagged(t, "ctlz."+t, "false", t)
		flagged(t, "cttz."+t, "false", t)
		flagged(t, "abs."+t, "false", t)
		if t != "i8" {
			intrinsic(t, "bswap."+t, t)
		}
		for _, f := range []string{"half", "float", "double"} {
			for _, n := range []string{"sitofp", "uitofp"} {
				plain(n+" "+t+" "+f, f, fmt.Sprintf("%s %s %%a to %s", n, t, f), t)
			}
			for _, n := range []string{"fptosi", "fptoui"} { // out of range is not folded
				plain(n+" "+f+" "+t, t, fmt.Sprintf("%s %s %%a to %s", n, f, t), f)
				intrinsic(t, fmt.Sprintf("%s.sat.%s.%s", n, t, short(f)), f)
			}
		}
		for _, u := range []string{"i8", "i16", "i32", "i64"} {
			if bits(u) > bits(t) {
				plain("sext "+t+" "+u, u, fmt.Sprintf("sext %s %%a to %s", t, u), t)
				plain("trunc "+u+" "+t, t, fmt.Sprintf("trunc %s %%a to %s", u, t), u)
			}
		}
	}
	for _, t := range []string{"half", "float", "double"} {
		s := short(t)
		for _, n := range []string{"fadd", "fsub", "fmul"} {
			plain(n+" "+s, t, fmt.Sprintf("%s %s %%a, %%b", n, t), t, t)
		}
		if t != "half" { // LLVM 19 divides halves with an error of a unit
			plain("fdiv "+s, t, fmt.Sprintf("fdiv %s %%a, %%b", t), t, t)
		}
		for _, n := range []string{"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"} {
			plain("fcmp "+n+" "+s, "i1", fmt.Sprintf("fcmp %s %s %%a, %%b", n, t), t, t)
		}
		plain("fneg "+s, t, fmt.Sprintf("fneg %s %%a", t), t)
		for _, n := range []string{"fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "round", "canonicalize", "sqrt"} {
			if n != "sqrt" || t == "float" {
				intrinsic(t, n+"."+s, t)
			}
		}
		for _, n := range []string{"minnum", "maxnum", "copysign"} {
			intrinsic(t, n+"."+s, t, t)
		}
		intrinsic(t, "fma."+s, t, t, t)
		intrinsic(t, "ldexp."+s+".i32", t, "i32")
		exp := "i32"
		if t == "half" {
			exp = "i16"
		}
		intrinsic(t, "amdgcn.frexp.mant."+s, t)
		intrinsic(exp, "amdgcn.frexp.exp."+exp+"."+s, t)
		intrinsic("i1", "amdgcn.class."+s, t, "i32")
		intrinsic(t, "amdgcn.fract."+s, t)
		if t != "double" {
			intrinsic(t, "amdgcn.fmed3."+s, t, t, t)
			// The manual: the least of the three if one is a NaN. LLVM: the greater of the first two if the third is.
			list[len(list)-1].except = func(v [3]uint64) bool { return nan(t, v[2]) }
			intrinsic(t, "amdgcn.rcp."+s, t)
		}
		for _, u := range []string{"half", "float", "double"} {
			if bits(u) > bits(t) {
				plain("fpext "+s+" "+short(u), u, fmt.Sprintf("fpext %s %%a to %s", t, u), t)
				plain("fptrunc "+short(u)+" "+s, t, fmt.Sprintf("fptrunc %s %%a to %s", u, t), u)
			}
		}
	}
	intrinsic("i32", "amdgcn.ubfe.i32", "i32", "i32", "i32")
	intrinsic("i32", "amdgcn.sbfe.i32", "i32", "i32", "i32")
	intrinsic("i32", "amdgcn.perm", "i32", "i32", "i32")
	intrinsic("<2 x half>", "amdgcn.cvt.pkrtz", "float", "float")
	intrinsic("float", "amdgcn.fmul.legacy", "float", "float")
	for _, n := range []string{"id", "ma", "sc", "tc"} {
		intrinsic("float", "amdgcn.cube"+n, "float", "float", "float")
	}
	intrinsic("double", "amdgcn.trig.preop.f64", "double", "i32")
	// The manual: NaNs are numbers like others, and as many of the 1201 bits of 2/pi as there are. LLVM: a NaN, and zero where not many are left.
	list[len(list)-1].except = func(v [3]uint64) bool {
		e := v[0] >> 52 & 0x7ff
		return nan("double", v[0]) || 53*(v[1]&31)+max(e, 1077)-1077 >= 1120
	}
	first := len(list)
	intrinsic("i64", "amdgcn.s.bitreplicate", "i32")
	for _, n := range []string{"wqm", "quadmask"} {
		for _, t := range []string{"i32", "i64"} {
			intrinsic(t, "amdgcn.s."+n+"."+t, t)
		}
	}
	for i := range list[first:] {
		list[first+i].scalar = true
	}
	return list
}
