// c[m][n] = a[m][k] * b[n][k] with matrix instructions: a wave makes 64 by 64, or 32 by 32 of f64, from memory. All
// sizes are multiples. The CPU's side is the plain sum in the order of k, each step fused. gfx1100 has no matrix instructions for f32 and
// f64: there it does as the CPU.
#include "kernel.h"

#if defined(__gfx1100__)
typedef f32      f32s __attribute__((ext_vector_type(256 / LANES)));
typedef i32      i32s __attribute__((ext_vector_type(256 / LANES)));
typedef i32      i32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef i16      i16x16 __attribute__((ext_vector_type(16)));

// TILES is what a wave makes, as many rows as it has lanes: lane i has 16 elements of row i of A and of B, lane i + 16 the same.
#define TILES(ACC, TYPE, WMMA)                                                       \
    i32 l = (i32)threadIdx.x % LANES, i = l % 16, g = l / 16;                        \
    i32 row = (i32)blockIdx.y * 64 + (i32)threadIdx.x / LANES * LANES, col = (i32)blockIdx.x * 64; \
    ACC d[LANES / 16][4] = {};                                                       \
    for (i32 p = 0; p < k; p += 16) {                                                \
        TYPE x[LANES / 16], y[4];                                                    \
        for (i32 q = 0; q < LANES / 16; q++)                                         \
            __builtin_memcpy(&x[q], a + (row + q * 16 + i) * k + p, sizeof x[q]);    \
        for (i32 r = 0; r < 4; r++)                                                  \
            __builtin_memcpy(&y[r], b + (col + r * 16 + i) * k + p, sizeof y[r]);    \
        for (i32 q = 0; q < LANES / 16; q++)                                         \
            for (i32 r = 0; r < 4; r++)                                              \
                d[q][r] = WMMA(x[q], y[r], d[q][r]);                                 \
    }                                                                                \
    for (i32 q = 0; q < LANES / 16; q++)                                             \
        for (i32 r = 0; r < 4; r++)                                                  \
            for (i32 e = 0; e < 256 / LANES; e++)                                    \
                c[(row + q * 16 + LANES / 16 * e + g) * n + col + r * 16 + i] = d[q][r][e]
#if LANES == 64
#define OF_WAVE(name) __builtin_amdgcn_wmma_##name##_w64
#else
#define OF_WAVE(name) __builtin_amdgcn_wmma_##name##_w32
#endif
#define IU8(x, y, d) OF_WAVE(i32_16x16x16_iu8)(1, x, 1, y, d, 0)

#elif defined(__HIP__)
typedef f32      f32x16 __attribute__((ext_vector_type(16)));
typedef f64      f64x4 __attribute__((ext_vector_type(4)));
typedef i32      i32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef i16      i16x4 __attribute__((ext_vector_type(4)));

// PRODUCT declares d[2][2], the quarters of what the wave makes, and adds up A and B over k in steps of STEP: lane i + 32*g
// has FRAGMENT elements of row i.
#define PRODUCT(ACC, STEP, TYPE, FRAGMENT, MFMA)                                     \
    ACC d[2][2] = {};                                                                \
    for (i32 p = 0; p < k; p += STEP) {                                              \
        TYPE x[2], y[2];                                                             \
        for (i32 q = 0; q < 2; q++) {                                                \
            x[q] = *(const TYPE *)(a + (row + q * 32 + i) * k + p + g * FRAGMENT);   \
            y[q] = *(const TYPE *)(b + (col + q * 32 + i) * k + p + g * FRAGMENT);   \
        }                                                                            \
        for (i32 q = 0; q < 2; q++)                                                  \
            for (i32 r = 0; r < 2; r++)                                              \
                d[q][r] = MFMA(x[q], y[r], d[q][r], 0, 0, 0);                        \
    }
#define RESULT(q, r, e, sum, x, type) c[(row + q * 32 + e / 4 * 8 + g * 4 + e % 4) * n + col + r * 32 + i] = d[q][r][e]

#endif

#if !defined(__HIP__) || defined(__gfx1100__)
#define PRODUCT(ACC, STEP, TYPE, FRAGMENT, MFMA)
#define RESULT(q, r, e, sum, x, type)                                             \
    do {                                                                             \
        i32 at = row + q * 32 + e / 4 * 8 + g * 4 + e % 4, bt = col + r * 32 + i;    \
        type s = 0;                                                                  \
        for (i32 p = 0; p < k; p++) {                                                \
            type u = x(a[at * k + p]), v = x(b[bt * k + p]);                         \
            s = sum;                                                                 \
        }                                                                            \
        c[at * n + bt] = s;                                                          \
    } while (0)

#define SAME(x) (x)
#endif

#if !defined(__HIP__)
static inline f32 bits_f32(u32 x) {
    f32 f;
    __builtin_memcpy(&f, &x, 4);
    return f;
}
static inline f32 bf16(u16 x) { return bits_f32((u32)x << 16); }
// The numbers here are normal.
static inline f32 f16(u16 x) { return bits_f32(((u32)x & 0x8000) << 16 | (((u32)x & 0x7fff) << 13) + (112u << 23)); }
#endif

#define WAVE                                                                         \
    i32 l = (i32)threadIdx.x, i = l % 32, g = l / 32;                                \
    i32 row = (i32)blockIdx.y * 64, col = (i32)blockIdx.x * 64

#define STORE(sum, x, type)                                                          \
    for (i32 q = 0; q < 2; q++)                                                      \
        for (i32 r = 0; r < 2; r++)                                                  \
            for (i32 e = 0; e < 16; e++)                                             \
                RESULT(q, r, e, sum, x, type)

KERNEL THREADS(64) matrix_f32(const f32 *a, const f32 *b, f32 *c, i32 n, i32 k) {
    WAVE;
    PRODUCT(f32x16, 2, f32, 1, __builtin_amdgcn_mfma_f32_32x32x2f32)
    STORE(__builtin_fmaf(u, v, s), SAME, f32);
}
ENTRY(matrix_f32, const f32 *, const f32 *, f32 *, i32, i32)

KERNEL THREADS(64) matrix_f16(const u16 *a, const u16 *b, f32 *c, i32 n, i32 k) {
#if defined(__gfx1100__)
    TILES(f32s, f16x16, OF_WAVE(f32_16x16x16_f16));
#else
    WAVE;
    PRODUCT(f32x16, 8, f16x4, 4, __builtin_amdgcn_mfma_f32_32x32x8f16)
    STORE(__builtin_fmaf(u, v, s), f16, f32);
#endif
}
ENTRY(matrix_f16, const u16 *, const u16 *, f32 *, i32, i32)

KERNEL THREADS(64) matrix_bf16(const u16 *a, const u16 *b, f32 *c, i32 n, i32 k) {
#if defined(__gfx1100__)
    TILES(f32s, i16x16, OF_WAVE(f32_16x16x16_bf16));
#else
    WAVE;
    PRODUCT(f32x16, 8, i16x4, 4, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
    STORE(__builtin_fmaf(u, v, s), bf16, f32);
#endif
}
ENTRY(matrix_bf16, const u16 *, const u16 *, f32 *, i32, i32)

KERNEL THREADS(64) matrix_i8(const i8 *a, const i8 *b, i32 *c, i32 n, i32 k) {
#if defined(__gfx1100__)
    TILES(i32s, i32x4, IU8);
#else
    WAVE;
#if defined(__gfx90a__)
    PRODUCT(i32x16, 8, i32, 4, __builtin_amdgcn_mfma_i32_32x32x8i8)
#else
    PRODUCT(i32x16, 16, i64, 8, __builtin_amdgcn_mfma_i32_32x32x16_i8)
#endif
    STORE(s + u * v, SAME, i32);
#endif
}
ENTRY(matrix_i8, const i8 *, const i8 *, i32 *, i32, i32)

KERNEL THREADS(64) matrix_f64(const f64 *a, const f64 *b, f64 *c, i32 n, i32 k) {
    i32 l = (i32)threadIdx.x, i = l % 16, g = l / 16;
    i32 row = (i32)blockIdx.y * 32, col = (i32)blockIdx.x * 32;
#if defined(__HIP__) && !defined(__gfx1100__)
    f64x4 d[2][2] = {};
    for (i32 p = 0; p < k; p += 4)
        for (i32 q = 0; q < 2; q++)
            for (i32 r = 0; r < 2; r++)
                d[q][r] = __builtin_amdgcn_mfma_f64_16x16x4f64(a[(row + q * 16 + i) * k + p + g], b[(col + r * 16 + i) * k + p + g], d[q][r], 0, 0, 0);
#endif
    for (i32 q = 0; q < 2; q++)
        for (i32 r = 0; r < 2; r++)
            for (i32 e = 0; e < 4; e++) {
                i32 at = row + q * 16 + 4 * e + g, bt = col + r * 16 + i;
#if defined(__HIP__) && !defined(__gfx1100__)
                c[at * n + bt] = d[q][r][e];
#else
                f64 s = 0;
                for (i32 p = 0; p < k; p++)
                    s = __builtin_fma(a[at * k + p], b[bt * k + p], s);
                c[at * n + bt] = s;
#endif
            }
}
ENTRY(matrix_f64, const f64 *, const f64 *, f64 *, i32, i32)
