package x64

import (
	"encoding/hex"
	"testing"
)

// TestDisplacements: displacements of one byte count what an instruction reads, and others have four bytes.
func TestDisplacements(t *testing.T) {
	for _, c := range []struct {
		what string
		emit func(a *Asm)
		want string
	}{
		{"vmovdqu32 zmm0, [rsi+64]", func(a *Asm) { a.V1(VMOVDQU32, 0, At(RSI, 64), 0) }, "62f17e486f4601"},
		{"vmovdqu32 zmm0, [rsi+65]", func(a *Asm) { a.V1(VMOVDQU32, 0, At(RSI, 65), 0) }, "62f17e486f8641000000"},
		{"vmovdqu32 zmm0, [rsi+8128]", func(a *Asm) { a.V1(VMOVDQU32, 0, At(RSI, 127*64), 0) }, "62f17e486f467f"},
		{"vmovdqu32 zmm0, [rsi-8192]", func(a *Asm) { a.V1(VMOVDQU32, 0, At(RSI, -128*64), 0) }, "62f17e486f4680"},
		{"vmovdqu32 zmm0, [rsi+8192]", func(a *Asm) { a.V1(VMOVDQU32, 0, At(RSI, 128*64), 0) }, "62f17e486f8600200000"},
		{"vmovdqu32 [rsi+64], zmm0", func(a *Asm) { a.VStore(At(RSI, 64), 0, 0) }, "62f17e487f4601"},
		{"vaddps zmm0, zmm1, [rsi+4]{1to16}", func(a *Asm) { a.V(VADDPS, 0, 1, Bcast{At(RSI, 4)}, 0) }, "62f17458584601"},
		{"vpbroadcastd zmm0, [rsi+4]", func(a *Asm) { a.V1(VPBCASTD, 0, At(RSI, 4), 0) }, "62f27d48584601"},
		{"vpmovzxwd zmm0, [rsi+32]", func(a *Asm) { a.V1(VPMOVZXWD, 0, At(RSI, 32), 0) }, "62f27d48334601"},
		{"vmovdqu32 xmm0, [rsi+16]", func(a *Asm) { a.VLoad16(0, At(RSI, 16)) }, "62f17e086f4601"},
		{"vpmovdb [rsi+16], zmm0", func(a *Asm) { a.VStoreNarrow(1, At(RSI, 16), 0, 0) }, "62f27e48314601"},
		{"vpgatherdd zmm0{k1}, [rdx+zmm2+4]", func(a *Asm) { a.Gather(0, AtVec(RDX, 2, 4), 1) }, "62f27d4990441201"},
		{"mov rax, [rbx+127]", func(a *Asm) { a.Load(true, RAX, At(RBX, 127)) }, "488b437f"},
		{"mov rax, [rbx+128]", func(a *Asm) { a.Load(true, RAX, At(RBX, 128)) }, "488b8380000000"},
		{"mov rax, [r12+8]", func(a *Asm) { a.Load(true, RAX, At(R12, 8)) }, "498b442408"},
		{"add rsi, 127", func(a *Asm) { a.OpImm(ADD, true, RSI, 127) }, "4883c67f"},
		{"add rsi, 128", func(a *Asm) { a.OpImm(ADD, true, RSI, 128) }, "4881c680000000"},
		{"and dword [rbx-8], -1", func(a *Asm) { a.OpImm(AND, false, At(RBX, -8), -1) }, "8363f8ff"},
	} {
		var a Asm
		c.emit(&a)
		if got := hex.EncodeToString(a.code); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
