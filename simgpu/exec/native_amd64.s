//go:build linux

#include "textflag.h"

// func callNative(code uintptr, w *wave) uint64
//
// The code is that of native.go: it gets the wave in BX, uses AX, CX, DX, SI,
// DI, R8, R9 and the vector and mask registers, no stack, and returns in AX.
TEXT ·callNative(SB), NOSPLIT, $0-24
	MOVQ code+0(FP), AX
	MOVQ w+8(FP), BX
	CALL AX
	MOVQ AX, ret+16(FP)
	RET
