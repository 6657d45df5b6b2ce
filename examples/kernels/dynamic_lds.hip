// LDS whose size the launch gives.
#include "kernel.h"

// Reverses each workgroup's values.
KERNEL reverse(const u32 *in, u32 *out) {
    DYNAMIC_SHARED(u32, values);
    u32 t = threadIdx.x, n = blockDim.x;
    values[t] = in[blockIdx.x * n + t];
    barrier();
    out[blockIdx.x * n + t] = values[n - 1 - t];
}
ENTRY(reverse, const u32 *, u32 *)

// Dynamic LDS behind static: workgroup-wide bitonic sort, counted.
KERNEL THREADS(1024) bitonic(const u32 *in, u32 *out, u32 *swaps) {
    SHARED u32 count[4];
    DYNAMIC_SHARED(u32, v);
    u32 t = threadIdx.x, n = blockDim.x;
    if (t < 4)
        count[t] = 0;
    v[t] = in[blockIdx.x * n + t];
    barrier();
    for (u32 size = 2; size <= n; size <<= 1)
        for (u32 step = size >> 1; step > 0; step >>= 1) {
            u32 other = t ^ step;
            if (other > t) {
                u32 a = v[t], b = v[other];
                if ((a > b) == ((t & size) == 0)) {
                    v[t] = b;
                    v[other] = a;
                    atomic_add(&count[t & 3], 1u);
                }
            }
            barrier();
        }
    out[blockIdx.x * n + t] = v[t];
    if (t < 4)
        swaps[blockIdx.x * 4 + t] = count[t];
}
ENTRY(bitonic, const u32 *, u32 *, u32 *)
