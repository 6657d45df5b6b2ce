package folding

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// cases is how many operands each operation is tried with: a workgroup for each of the scalar ones, a lane of one wave of the others.
const cases = 64

// operands makes operands as bits, often those where something changes.
func operands(r *rand.Rand, o *op) (v [cases][3]uint64) {
	for i := range v {
		for j, t := range o.args {
			x := operand(r, t)
			if j > 0 && r.IntN(3) == 0 { // a shift count, a position, a mask of classes
				x = uint64(r.IntN(70))
			}
			if o.safe && j == 1 {
				x = x&(1<<(bits(t)-1)-1) | 1
			}
			v[i][j] = x & (1<<(bits(t)-1)<<1 - 1)
		}
	}
	return v
}

func operand(r *rand.Rand, t string) uint64 {
	n := bits(t)
	if !isFloat(t) {
		switch r.IntN(4) {
		case 0:
			return 1 << r.IntN(n)
		case 1:
			return 1<<r.IntN(n) - 1
		case 2:
			return uint64(r.IntN(9)) - 4
		}
		return r.Uint64()
	}
	mantissa := map[int]int{16: 10, 32: 23, 64: 52}[n]
	top := uint64(1)<<(n-1-mantissa) - 1 // the exponent of infinity
	bias := top / 2
	m := r.Uint64() & (1<<mantissa - 1)
	switch r.IntN(5) {
	case 0:
		m = 0
	case 1:
		m = 1<<mantissa - 1 - uint64(r.IntN(2))
	case 2:
		m = uint64(r.IntN(3))
	}
	e := bias + uint64(r.IntN(9)) - 4
	switch r.IntN(8) {
	case 0:
		e = 0
	case 1:
		e = top - uint64(r.IntN(2))
	case 2:
		e = 1 + uint64(r.IntN(2))
	case 3:
		e = r.Uint64() % (top + 1)
	case 4:
		e = bias + uint64(mantissa) - uint64(r.IntN(4))
	}
	return e<<mantissa | m | r.Uint64()&1<<(n-1)
}

// wide makes %z, 64 bits, of a result.
func wide(b *strings.Builder, t, from, id string) {
	if n := bits(t); isFloat(t) || t[0] == '<' {
		fmt.Fprintf(b, "  %%i%s = bitcast %s %s to i%d\n", id, t, from, n)
		t, from = fmt.Sprintf("i%d", n), "%i"+id
	}
	if t == "i64" {
		fmt.Fprintf(b, "  %%z%s = add i64 %s, 0\n", id, from)
		return
	}
	fmt.Fprintf(b, "  %%z%s = zext %s %s to i64\n", id, t, from)
}

// constants is a module that applies each operation to its operands; operation n is function @on.
func constants(ops []op, values [][cases][3]uint64) string {
	var b strings.Builder
	b.WriteString("target triple = \"amdgcn-amd-amdhsa\"\n" + declarations(ops))
	for n, o := range ops {
		fmt.Fprintf(&b, "define void @o%d(ptr %%p) {\n", n)
		for i, v := range values[n] {
			line := o.line
			for j, t := range o.args {
				x := fmt.Sprint(v[j])
				if isFloat(t) {
					x = fmt.Sprintf("bitcast (i%d %d to %s)", bits(t), v[j], t)
				}
				line = strings.ReplaceAll(line, "%"+string(rune('a'+j)), x)
			}
			fmt.Fprintf(&b, "  %%r%d = %s\n", i, line)
			wide(&b, o.result, fmt.Sprintf("%%r%d", i), fmt.Sprint(i))
			fmt.Fprintf(&b, "  %%g%d = getelementptr i64, ptr %%p, i64 %d\n  store i64 %%z%d, ptr %%g%d\n", i, i+1, i, i)
		}
		b.WriteString("  ret void\n}\n")
	}
	return b.String()
}

func declarations(ops []op) string {
	seen, text := map[string]bool{}, ""
	for _, o := range ops {
		if o.decl != "" && !seen[o.decl] {
			seen[o.decl] = true
			text += o.decl + "\n"
		}
	}
	return text
}

// kernelsOf is a module of kernels: @vn has an operand for each lane, @sn one for each workgroup.
func kernelsOf(ops []op) string {
	var b strings.Builder
	b.WriteString("target triple = \"amdgcn-amd-amdhsa\"\ndeclare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n" + declarations(ops))
	for n, o := range ops {
		for _, kind := range o.kinds() {
			id := map[string]string{"v": "workitem", "s": "workgroup"}[kind]
			fmt.Fprintf(&b, "define amdgpu_kernel void @%s%d(ptr addrspace(1) noalias readonly %%in, ptr addrspace(1) noalias %%out) {\n  %%id = call i32 @llvm.amdgcn.%s.id.x()\n  %%x = zext i32 %%id to i64\n  %%at = mul i64 %%x, 3\n", kind, n, id)
			for j, t := range o.args {
				v := string(rune('a' + j))
				fmt.Fprintf(&b, "  %%j%[1]s = add i64 %%at, %[2]d\n  %%p%[1]s = getelementptr i64, ptr addrspace(1) %%in, i64 %%j%[1]s\n", v, j)
				if isFloat(t) {
					fmt.Fprintf(&b, "  %%l%[1]s = load i%[2]d, ptr addrspace(1) %%p%[1]s, align 8\n  %%%[1]s = bitcast i%[2]d %%l%[1]s to %[3]s\n", v, bits(t), t)
				} else {
					fmt.Fprintf(&b, "  %%%[1]s = load %[2]s, ptr addrspace(1) %%p%[1]s, align 8\n", v, t)
				}
			}
			fmt.Fprintf(&b, "  %%r = %s\n", o.line)
			wide(&b, o.result, "%r", "")
			b.WriteString("  %to = getelementptr i64, ptr addrspace(1) %out, i64 %x\n  store i64 %z, ptr addrspace(1) %to\n  ret void\n}\n")
		}
	}
	return b.String()
}

// kinds says which kernels an operation has.
func (o *op) kinds() []string {
	if o.scalar {
		return []string{"s"}
	}
	return []string{"v", "s"}
}
