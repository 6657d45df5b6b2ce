// Reductions of a workgroup's 256 values through LDS, with a barrier a step.
#include "kernel.h"

#define BLOCK 256

// The tree's shape is fixed, so that the float sum has one right answer.
KERNEL THREADS(BLOCK) reduce_sum_f32(const f32 *in, f32 *out, u32 n) {
    SHARED f32 part[BLOCK];
    u32 t = threadIdx.x, i = global_id(x);
    part[t] = i < n ? in[i] : 0.0f;
    barrier();
    for (u32 step = BLOCK / 2; step > 0; step >>= 1) {
        if (t < step)
            part[t] += part[t + step];
        barrier();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
ENTRY(reduce_sum_f32, const f32 *, f32 *, u32)

KERNEL THREADS(BLOCK) reduce_sum_u64(const u32 *in, u64 *out, u32 n) {
    SHARED u64 part[BLOCK];
    u32 t = threadIdx.x;
    u64 sum = 0;
    for (u32 i = global_id(x); i < n; i += gridDim.x * BLOCK)
        sum += in[i];
    part[t] = sum;
    barrier();
    for (u32 step = BLOCK / 2; step > 0; step >>= 1) {
        if (t < step)
            part[t] += part[t + step];
        barrier();
    }
    if (t == 0)
        atomic_add(out, part[0]);
}
ENTRY(reduce_sum_u64, const u32 *, u64 *, u32)

// Inclusive prefix sum of each workgroup's values; two barriers a step.
KERNEL THREADS(BLOCK) scan_u32(const u32 *in, u32 *out, u32 n) {
    SHARED u32 part[BLOCK];
    u32 t = threadIdx.x, i = global_id(x);
    part[t] = i < n ? in[i] : 0;
    barrier();
    for (u32 step = 1; step < BLOCK; step <<= 1) {
        u32 add = t >= step ? part[t - step] : 0;
        barrier();
        part[t] += add;
        barrier();
    }
    if (i < n)
        out[i] = part[t];
}
ENTRY(scan_u32, const u32 *, u32 *, u32)
