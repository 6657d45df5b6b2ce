#include "textflag.h"
#include "go_asm.h"

// Kernels of matrix instructions, see matrix_amd64.go. A chunk is 16 lanes of a register, 64
// bytes; a tile is the 16 chunks of four registers, which hold 256 elements of D.

DATA quietNaN<>+0(SB)/4, $0x7fc00000
GLOBL quietNaN<>(SB), RODATA|NOPTR, $4

DATA quietNaN64<>+0(SB)/8, $0x7ff8000000000000
GLOBL quietNaN64<>(SB), RODATA|NOPTR, $8

DATA bits<>+0(SB)/4, $0x7f800000 // exponent of infinity and NaN
DATA bits<>+4(SB)/4, $0x00000fff // what rounds to 10 bits of mantissa, but for one
DATA bits<>+8(SB)/4, $0xffffe000 // those 10 bits, with sign and exponent
DATA bits<>+12(SB)/4, $1
DATA bits<>+16(SB)/4, $0xffff0000 // upper half
DATA bits<>+20(SB)/4, $0xff000000 // upper byte
DATA bits<>+24(SB)/4, $0x7f000000 // without the sign
DATA bits<>+28(SB)/4, $0x80000000 // sign
DATA bits<>+32(SB)/4, $0x7b000000 // 2^119: from the bias of float32 to 8
DATA bits<>+36(SB)/4, $0x77000000 // 2^111: to 16
DATA bits<>+40(SB)/4, $0x7fffffff // without the sign
GLOBL bits<>(SB), RODATA|NOPTR, $44

// func expandF16(dst, src *Vec, n int)
TEXT ·expandF16(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

reg:
	MOVQ $4, DX

chunk:
	VMOVDQU32 (SI), Z0
	VPMOVDW   Z0, Y1
	VPSRLD    $16, Z0, Z0
	VPMOVDW   Z0, Y2
	VCVTPH2PS Y1, Z1
	VCVTPH2PS Y2, Z2
	VMOVUPS   Z1, (DI)
	VMOVUPS   Z2, 256(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      DX
	JNZ       chunk
	ADDQ      $256, DI
	DECQ      CX
	JNZ       reg
	VZEROUPPER
	RET

// func expandBF16(dst, src *Vec, n int)
TEXT ·expandBF16(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTD bits<>+16(SB), Z3

reg:
	MOVQ $4, DX

chunk:
	VMOVDQU32 (SI), Z0
	VPSLLD    $16, Z0, Z1
	VPANDD    Z3, Z0, Z2
	VMOVDQU32 Z1, (DI)
	VMOVDQU32 Z2, 256(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      DX
	JNZ       chunk
	ADDQ      $256, DI
	DECQ      CX
	JNZ       reg
	VZEROUPPER
	RET

// func expandI8(dst, src *Vec, n int)
//
// Of four bytes, the first and third become the halves of one dword, the others those of
// another one.
TEXT ·expandI8(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

reg:
	MOVQ $4, DX

chunk:
	VMOVDQU32 (SI), Z0
	VPSLLW    $8, Z0, Z1
	VPSRAW    $8, Z1, Z1
	VPSRAW    $8, Z0, Z2
	VMOVDQU32 Z1, (DI)
	VMOVDQU32 Z2, 256(DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      DX
	JNZ       chunk
	ADDQ      $256, DI
	DECQ      CX
	JNZ       reg
	VZEROUPPER
	RET

// func expandXF32(dst, src *Vec, n int)
TEXT ·expandXF32(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), CX
	SHLQ         $2, CX
	VPBROADCASTD bits<>+0(SB), Z3
	VPBROADCASTD bits<>+4(SB), Z4
	VPBROADCASTD bits<>+8(SB), Z5
	VPBROADCASTD bits<>+12(SB), Z6

chunk:
	VMOVDQU32 (SI), Z0
	VPANDD    Z3, Z0, Z1
	VPCMPEQD  Z3, Z1, K1
	VPSRLD    $13, Z0, Z2
	VPANDD    Z6, Z2, Z2
	VPADDD    Z4, Z2, Z2
	VPADDD    Z0, Z2, Z2
	VPANDD    Z5, Z2, Z2
	VMOVDQA32 Z0, K1, Z2 // infinity and NaN stay as they are
	VMOVDQU32 Z2, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	DECQ      CX
	JNZ       chunk
	VZEROUPPER
	RET

// SMALL8 makes float32 of the upper bytes of T, by a shift that puts exponent and mantissa
// in place and a factor for the bias, and stores them.
#define SMALL8(T, SHIFT, TO) \
	VPANDD    Z8, T, Z2      \
	VPCMPEQD  Z10, Z2, K1    \
	VPANDD    Z9, T, Z3      \
	VPANDD    Z10, T, Z4     \
	VPSRLD    SHIFT, Z3, Z3  \
	VPORD     Z4, Z3, Z3     \
	VMULPS    Z11, Z3, Z3    \
	VMOVAPS   Z12, K1, Z3    \
	VMOVUPS   Z3, TO

#define EXPAND8(SHIFT, FACTOR) \
	MOVQ         dst+0(FP), DI        \
	MOVQ         src+8(FP), SI        \
	MOVQ         n+16(FP), CX         \
	VPBROADCASTD bits<>+20(SB), Z8    \
	VPBROADCASTD bits<>+24(SB), Z9    \
	VPBROADCASTD bits<>+28(SB), Z10   \
	VBROADCASTSS FACTOR, Z11          \
	VBROADCASTSS quietNaN<>(SB), Z12  \
reg:                                  \
	MOVQ $4, DX                       \
chunk:                                \
	VMOVDQU32 (SI), Z0                \
	VPSLLD    $24, Z0, Z1             \
	SMALL8(Z1, SHIFT, (DI))           \
	VPSLLD    $16, Z0, Z1             \
	SMALL8(Z1, SHIFT, 256(DI))        \
	VPSLLD    $8, Z0, Z1              \
	SMALL8(Z1, SHIFT, 512(DI))        \
	SMALL8(Z0, SHIFT, 768(DI))        \
	ADDQ      $64, SI                 \
	ADDQ      $64, DI                 \
	DECQ      DX                      \
	JNZ       chunk                   \
	ADDQ      $768, DI                \
	DECQ      CX                      \
	JNZ       reg                     \
	VZEROUPPER                        \
	RET

// func expandFP8(dst, src *Vec, n int)
TEXT ·expandFP8(SB), NOSPLIT, $0-24
	EXPAND8($4, bits<>+32(SB))

// func expandBF8(dst, src *Vec, n int)
TEXT ·expandBF8(SB), NOSPLIT, $0-24
	EXPAND8($3, bits<>+36(SB))

// func flushBelow(v *Vec, n int, least uint32)
//
// Numbers smaller than least become zero and keep their signs.
TEXT ·flushBelow(SB), NOSPLIT, $0-20
	MOVQ         v+0(FP), DI
	MOVQ         n+8(FP), CX
	SHLQ         $2, CX
	MOVL         least+16(FP), AX
	VPBROADCASTD AX, Z3
	VPBROADCASTD bits<>+40(SB), Z4
	VPBROADCASTD bits<>+28(SB), Z5

chunk:
	VMOVDQU32 (DI), Z0
	VPANDD    Z4, Z0, Z1
	VPCMPUD   $1, Z3, Z1, K1
	VPANDD    Z5, Z0, K1, Z0
	VMOVDQU32 Z0, (DI)
	ADDQ      $64, DI
	DECQ      CX
	JNZ       chunk
	VZEROUPPER
	RET

// LOADC loads a tile of C from BX, or its only number.
#define LOADC \
	TESTQ R12, R12 \
	JZ    same     \
	VMOVUPS (BX), Z0      \
	VMOVUPS 64(BX), Z1    \
	VMOVUPS 128(BX), Z2   \
	VMOVUPS 192(BX), Z3   \
	VMOVUPS 256(BX), Z4   \
	VMOVUPS 320(BX), Z5   \
	VMOVUPS 384(BX), Z6   \
	VMOVUPS 448(BX), Z7   \
	VMOVUPS 512(BX), Z8   \
	VMOVUPS 576(BX), Z9   \
	VMOVUPS 640(BX), Z10  \
	VMOVUPS 704(BX), Z11  \
	VMOVUPS 768(BX), Z12  \
	VMOVUPS 832(BX), Z13  \
	VMOVUPS 896(BX), Z14  \
	VMOVUPS 960(BX), Z15  \
	ADDQ R12, BX          \
	JMP  loaded           \
same:                     \
	VMOVUPS (BX), Z0      \
	VMOVAPS Z0, Z1        \
	VMOVAPS Z0, Z2        \
	VMOVAPS Z0, Z3        \
	VMOVAPS Z0, Z4        \
	VMOVAPS Z0, Z5        \
	VMOVAPS Z0, Z6        \
	VMOVAPS Z0, Z7        \
	VMOVAPS Z0, Z8        \
	VMOVAPS Z0, Z9        \
	VMOVAPS Z0, Z10       \
	VMOVAPS Z0, Z11       \
	VMOVAPS Z0, Z12       \
	VMOVAPS Z0, Z13       \
	VMOVAPS Z0, Z14       \
	VMOVAPS Z0, Z15       \
loaded:

// STORED stores a tile of D to DI.
#define STORED \
	VMOVUPS Z0, (DI)      \
	VMOVUPS Z1, 64(DI)    \
	VMOVUPS Z2, 128(DI)   \
	VMOVUPS Z3, 192(DI)   \
	VMOVUPS Z4, 256(DI)   \
	VMOVUPS Z5, 320(DI)   \
	VMOVUPS Z6, 384(DI)   \
	VMOVUPS Z7, 448(DI)   \
	VMOVUPS Z8, 512(DI)   \
	VMOVUPS Z9, 576(DI)   \
	VMOVUPS Z10, 640(DI)  \
	VMOVUPS Z11, 704(DI)  \
	VMOVUPS Z12, 768(DI)  \
	VMOVUPS Z13, 832(DI)  \
	VMOVUPS Z14, 896(DI)  \
	VMOVUPS Z15, 960(DI)  \
	ADDQ $1024, DI

// QUIET gives NaN its one form.
#define QUIET1(Z) \
	VCMPPS  $3, Z, Z, K1 \
	VMOVAPS Z31, K1, Z

#define QUIET \
	QUIET1(Z0)  \
	QUIET1(Z1)  \
	QUIET1(Z2)  \
	QUIET1(Z3)  \
	QUIET1(Z4)  \
	QUIET1(Z5)  \
	QUIET1(Z6)  \
	QUIET1(Z7)  \
	QUIET1(Z8)  \
	QUIET1(Z9)  \
	QUIET1(Z10) \
	QUIET1(Z11) \
	QUIET1(Z12) \
	QUIET1(Z13) \
	QUIET1(Z14) \
	QUIET1(Z15)

#define INTEGERS

// Registers of the tiles: AX the arguments, DI D, BX C, R12 its step; SI A, DX B at the
// tile; R8, R9 A and B at the group of k's, R10, R11 at k; CX groups, R13 k's of a group.
#define ARGUMENTS \
	MOVQ tile_d(AX), DI          \
	MOVQ tile_c(AX), BX          \
	MOVQ tile_a(AX), SI          \
	MOVQ tile_b(AX), DX          \
	MOVQ tile_cStep(AX), R12     \
	MOVQ tile_tiles(AX), R14     \
	VBROADCASTSS quietNaN<>(SB), Z31

// LOOP executes STEP for all k.
#define LOOP(STEP) \
	MOVQ SI, R8              \
	MOVQ DX, R9              \
	MOVQ tile_groups(AX), CX \
group:                       \
	MOVQ R8, R10             \
	MOVQ R9, R11             \
	MOVQ tile_per(AX), R13   \
element:                     \
	STEP                     \
	ADDQ $256, R10           \
	ADDQ $256, R11           \
	DECQ R13                 \
	JNZ  element             \
	ADDQ tile_groupStep(AX), R8 \
	ADDQ tile_groupStep(AX), R9 \
	DECQ CX                  \
	JNZ  group

// 16x16: chunk q of register r is row 4q+r.
#define STEP16(MAC) \
	VMOVUPS (R11), Z16        \
	MAC     (R10), Z16, Z0    \
	MAC     16(R10), Z16, Z1  \
	MAC     32(R10), Z16, Z2  \
	MAC     48(R10), Z16, Z3  \
	MAC     4(R10), Z16, Z4   \
	MAC     20(R10), Z16, Z5  \
	MAC     36(R10), Z16, Z6  \
	MAC     52(R10), Z16, Z7  \
	MAC     8(R10), Z16, Z8   \
	MAC     24(R10), Z16, Z9  \
	MAC     40(R10), Z16, Z10 \
	MAC     56(R10), Z16, Z11 \
	MAC     12(R10), Z16, Z12 \
	MAC     28(R10), Z16, Z13 \
	MAC     44(R10), Z16, Z14 \
	MAC     60(R10), Z16, Z15

#define TILES16(MAC, FINISH) \
	ARGUMENTS          \
tile:                  \
	LOADC              \
	LOOP(STEP16(MAC))  \
	FINISH             \
	STORED             \
	ADDQ $64, SI       \
	ADDQ $64, DX       \
	DECQ R14           \
	JNZ  tile          \
	VZEROUPPER         \
	RET

// func tiles16F32(t *tile)
TEXT ·tiles16F32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES16(VFMADD231PS.BCST, QUIET)

// func tiles16I32(t *tile)
TEXT ·tiles16I32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES16(VPDPWSSD.BCST, INTEGERS)

// 32x32: four tiles of eight rows a block; chunk q of register r is row r, 4 more
// from chunk 2 on, and one half of the columns.
#define ROW32(MAC, AT, C0, C1) \
	VBROADCASTSS AT(R10), Z18 \
	MAC Z18, Z16, C0          \
	MAC Z18, Z17, C1

#define STEP32(MAC) \
	VMOVUPS (R11), Z16       \
	VMOVUPS 64(R11), Z17     \
	ROW32(MAC, 0, Z0, Z1)    \
	ROW32(MAC, 16, Z2, Z3)   \
	ROW32(MAC, 4, Z4, Z5)    \
	ROW32(MAC, 20, Z6, Z7)   \
	ROW32(MAC, 8, Z8, Z9)    \
	ROW32(MAC, 24, Z10, Z11) \
	ROW32(MAC, 12, Z12, Z13) \
	ROW32(MAC, 28, Z14, Z15)

#define TILES32(MAC, FINISH) \
	ARGUMENTS          \
tile:                  \
	LOADC              \
	LOOP(STEP32(MAC))  \
	FINISH             \
	STORED             \
	ADDQ  $32, SI      \
	DECQ  R14          \
	JZ    done         \
	TESTQ $3, R14      \
	JNZ   tile         \
	ADDQ  $128, DX     \
	JMP   tile         \
done:                  \
	VZEROUPPER         \
	RET

// func tiles32F32(t *tile)
TEXT ·tiles32F32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES32(VFMADD231PS, QUIET)

// func tiles32I32(t *tile)
TEXT ·tiles32I32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES32(VPDPWSSD, INTEGERS)

// 4x4: chunk q of register r is row r of four blocks.
#define CHUNK4(MAC, AT, C0, C1, C2, C3) \
	VMOVUPS AT(R10), Z16   \
	VMOVUPS AT(R11), Z17   \
	VPSHUFD $0x00, Z16, Z18 \
	VPSHUFD $0x55, Z16, Z19 \
	VPSHUFD $0xaa, Z16, Z20 \
	VPSHUFD $0xff, Z16, Z21 \
	MAC Z18, Z17, C0       \
	MAC Z19, Z17, C1       \
	MAC Z20, Z17, C2       \
	MAC Z21, Z17, C3

#define STEP4(MAC) \
	CHUNK4(MAC, 0, Z0, Z4, Z8, Z12)   \
	CHUNK4(MAC, 64, Z1, Z5, Z9, Z13)  \
	CHUNK4(MAC, 128, Z2, Z6, Z10, Z14) \
	CHUNK4(MAC, 192, Z3, Z7, Z11, Z15)

#define TILES4(MAC, FINISH) \
	ARGUMENTS         \
	LOADC             \
	LOOP(STEP4(MAC))  \
	FINISH            \
	STORED            \
	VZEROUPPER        \
	RET

// func tiles4F32(t *tile)
TEXT ·tiles4F32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES4(VFMADD231PS, QUIET)

// func tiles4I32(t *tile)
TEXT ·tiles4I32(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	TILES4(VPDPWSSD, INTEGERS)

// Doubles lie in two registers, low halves and high ones. PAIRS makes 16 of two chunks: in each
// quarter of LOW the first two of its four, of HIGH the others. SIGN is what is negated.
#define PAIRS(P, AT, SIGN, LOW, HIGH) \
	VMOVDQU32  AT(P), Z8          \
	VPXORD     (256+AT)(P), SIGN, Z9 \
	VPUNPCKLDQ Z9, Z8, LOW        \
	VPUNPCKHDQ Z9, Z8, HIGH

// HALVES stores two accumulators the other way round.
#define HALVES(LOW, HIGH, AT) \
	VCMPPD  $3, LOW, LOW, K1      \
	VCMPPD  $3, HIGH, HIGH, K2    \
	VMOVAPD Z31, K1, LOW          \
	VMOVAPD Z31, K2, HIGH         \
	VSHUFPS $0x88, HIGH, LOW, Z8  \
	VSHUFPS $0xdd, HIGH, LOW, Z9  \
	VMOVUPS Z8, AT(DI)            \
	VMOVUPS Z9, (256+AT)(DI)

#define ARGUMENTS64 \
	MOVQ tile_d(AX), DI             \
	MOVQ tile_c(AX), BX             \
	MOVQ tile_a(AX), SI             \
	MOVQ tile_b(AX), DX             \
	MOVQ tile_cStep(AX), R12        \
	VPBROADCASTD tile_negA(AX), Z28 \
	VPBROADCASTD tile_negB(AX), Z29 \
	VPBROADCASTD tile_negC(AX), Z30 \
	VBROADCASTSD quietNaN64<>(SB), Z31 \
	PAIRS(DX, 0, Z29, Z16, Z17)     \
	PAIRS(DX, 64, Z29, Z18, Z19)    \
	PAIRS(DX, 128, Z29, Z20, Z21)   \
	PAIRS(DX, 192, Z29, Z22, Z23)

// EXPAND64 writes the doubles of A for k to memory at R8.
#define EXPAND64(K) \
	PAIRS(SI, 64*K, Z28, Z0, Z1) \
	VMOVUPD Z0, (128*K)(R8)      \
	VMOVUPD Z1, (128*K+64)(R8)

// MAC64 is one row, four of which a register pair holds.
#define MAC64(AT, B0, B1, D0, D1) \
	VFMADD231PD.BCST AT(R8), B0, D0 \
	VFMADD231PD.BCST AT(R8), B1, D1

#define STEP64(K, B0, B1) \
	MAC64(128*K, B0, B1, Z0, Z1)    \
	MAC64(128*K+8, B0, B1, Z2, Z3)  \
	MAC64(128*K+64, B0, B1, Z4, Z5) \
	MAC64(128*K+72, B0, B1, Z6, Z7)

// func tiles16F64(t *tile)
TEXT ·tiles16F64(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	ARGUMENTS64
	MOVQ tile_scratch(AX), R8
	EXPAND64(0)
	EXPAND64(1)
	EXPAND64(2)
	EXPAND64(3)
	MOVQ $4, CX

pair:
	PAIRS(BX, 0, Z30, Z0, Z1)
	PAIRS(BX, 64, Z30, Z2, Z3)
	PAIRS(BX, 128, Z30, Z4, Z5)
	PAIRS(BX, 192, Z30, Z6, Z7)
	STEP64(0, Z16, Z17)
	STEP64(1, Z18, Z19)
	STEP64(2, Z20, Z21)
	STEP64(3, Z22, Z23)
	HALVES(Z0, Z1, 0)
	HALVES(Z2, Z3, 64)
	HALVES(Z4, Z5, 128)
	HALVES(Z6, Z7, 192)
	ADDQ R12, BX
	ADDQ $512, DI
	ADDQ $16, R8
	DECQ CX
	JNZ  pair
	VZEROUPPER
	RET

// Of four blocks of 4x4, a quarter of a chunk has one block's four columns.
#define STEP64X4(K, B0, B1) \
	PAIRS(SI, 64*K, Z28, Z10, Z11) \
	VPERMILPD   $0x00, Z10, Z12 \
	VPERMILPD   $0xff, Z10, Z13 \
	VPERMILPD   $0x00, Z11, Z14 \
	VPERMILPD   $0xff, Z11, Z15 \
	VFMADD231PD Z12, B0, Z0     \
	VFMADD231PD Z12, B1, Z1     \
	VFMADD231PD Z13, B0, Z2     \
	VFMADD231PD Z13, B1, Z3     \
	VFMADD231PD Z14, B0, Z4     \
	VFMADD231PD Z14, B1, Z5     \
	VFMADD231PD Z15, B0, Z6     \
	VFMADD231PD Z15, B1, Z7

// func tiles4F64(t *tile)
TEXT ·tiles4F64(SB), NOSPLIT, $0-8
	MOVQ t+0(FP), AX
	ARGUMENTS64
	PAIRS(BX, 0, Z30, Z0, Z1)
	PAIRS(BX, 64, Z30, Z2, Z3)
	PAIRS(BX, 128, Z30, Z4, Z5)
	PAIRS(BX, 192, Z30, Z6, Z7)
	STEP64X4(0, Z16, Z17)
	STEP64X4(1, Z18, Z19)
	STEP64X4(2, Z20, Z21)
	STEP64X4(3, Z22, Z23)
	HALVES(Z0, Z1, 0)
	HALVES(Z2, Z3, 64)
	HALVES(Z4, Z5, 128)
	HALVES(Z6, Z7, 192)
	VZEROUPPER
	RET
