//go:build linux

#include "textflag.h"

// func callNative(code uintptr, w *wave) (exit uint64, now uintptr)
//
// The code is that of native.go: it gets the wave in BX, uses AX, CX, DX, SI,
// DI, BP, R8, R9 and the vector and mask registers, no stack, and returns in AX,
// and in BX the wave that executes. That there is a frame makes the assembler keep BP.
TEXT ·callNative(SB), NOSPLIT, $8-32
	MOVQ code+0(FP), AX
	MOVQ w+8(FP), BX
	CALL AX
	MOVQ AX, exit+16(FP)
	MOVQ BX, now+24(FP)
	RET
