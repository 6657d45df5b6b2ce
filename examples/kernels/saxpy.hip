// y = a*x + y, fused and not, and with a grid-stride loop.
#include "kernel.h"

KERNEL saxpy(u32 n, f32 a, const f32 *x, f32 *y) {
    u32 i = global_id(x);
    if (i < n)
        y[i] = __builtin_fmaf(a, x[i], y[i]);
}
ENTRY(saxpy, u32, f32, const f32 *, f32 *)

KERNEL saxpy_unfused(u32 n, f32 a, const f32 *x, f32 *y) {
    u32 i = global_id(x);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
ENTRY(saxpy_unfused, u32, f32, const f32 *, f32 *)

KERNEL daxpy_strided(u64 n, f64 a, const f64 *x, f64 *y) {
    for (u64 i = global_id(x); i < n; i += (u64)gridDim.x * blockDim.x)
        y[i] = __builtin_fma(a, x[i], y[i]);
}
ENTRY(daxpy_strided, u64, f64, const f64 *, f64 *)
