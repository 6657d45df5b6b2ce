// c[m][n] = a[m][k] * b[k][n] in tiles of 16 by 16 through LDS.
#include "kernel.h"

#define TILE 16

KERNEL THREADS(TILE * TILE) matmul_f32(const f32 *a, const f32 *b, f32 *c, i32 m, i32 n, i32 k) {
    SHARED f32 ta[TILE][TILE];
    SHARED f32 tb[TILE][TILE + 1];
    i32 tx = (i32)threadIdx.x, ty = (i32)threadIdx.y;
    i32 row = (i32)global_id(y), col = (i32)global_id(x);
    f32 sum = 0;
    for (i32 base = 0; base < k; base += TILE) {
        ta[ty][tx] = row < m && base + tx < k ? a[row * k + base + tx] : 0.0f;
        tb[ty][tx] = col < n && base + ty < k ? b[(base + ty) * n + col] : 0.0f;
        barrier();
        for (i32 i = 0; i < TILE; i++)
            sum = __builtin_fmaf(ta[ty][i], tb[i][tx], sum);
        barrier();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
ENTRY(matmul_f32, const f32 *, const f32 *, f32 *, i32, i32, i32)

KERNEL THREADS(TILE * TILE) matmul_f64(const f64 *a, const f64 *b, f64 *c, i32 m, i32 n, i32 k) {
    SHARED f64 ta[TILE][TILE];
    SHARED f64 tb[TILE][TILE];
    i32 tx = (i32)threadIdx.x, ty = (i32)threadIdx.y;
    i32 row = (i32)global_id(y), col = (i32)global_id(x);
    f64 sum = 0;
    for (i32 base = 0; base < k; base += TILE) {
        ta[ty][tx] = row < m && base + tx < k ? a[row * k + base + tx] : 0.0;
        tb[ty][tx] = col < n && base + ty < k ? b[(base + ty) * n + col] : 0.0;
        barrier();
        for (i32 i = 0; i < TILE; i++)
            sum += ta[ty][i] * tb[i][tx];
        barrier();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
ENTRY(matmul_f64, const f64 *, const f64 *, f64 *, i32, i32, i32)
