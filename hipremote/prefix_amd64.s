#include "textflag.h"

// func prefixed(data []byte, prefix, mask uint32) int
TEXT ·prefixed(SB), NOSPLIT, $0-40
	MOVQ  data_base+0(FP), SI
	MOVQ  data_len+8(FP), CX
	MOVL  prefix+24(FP), AX
	MOVL  mask+28(FP), BX
	MOVQ  AX, X8
	PSHUFL $0, X8, X8
	MOVQ  BX, X9
	PSHUFL $0, X9, X9
	ANDQ  $~63, CX
	XORQ  DX, DX

loop:
	CMPQ  DX, CX
	JGE   done
	MOVOU (SI)(DX*1), X0
	MOVOU 16(SI)(DX*1), X1
	MOVOU 32(SI)(DX*1), X2
	MOVOU 48(SI)(DX*1), X3
	PAND  X9, X0
	PAND  X9, X1
	PAND  X9, X2
	PAND  X9, X3
	PCMPEQL X8, X0
	PCMPEQL X8, X1
	PCMPEQL X8, X2
	PCMPEQL X8, X3
	POR   X1, X0
	POR   X3, X2
	POR   X2, X0
	PMOVMSKB X0, AX
	TESTL AX, AX
	JNZ   done
	ADDQ  $64, DX
	JMP   loop

done:
	MOVQ  DX, ret+32(FP)
	RET
