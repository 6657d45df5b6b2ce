// Histograms and other atomics, in LDS and in global memory, on integers and
// floats. Float sums are of small whole numbers, so that they are exact in any
// order.
#include "kernel.h"

#define BINS 256

// Counts in LDS first, then adds the workgroup's counts to the result.
KERNEL THREADS(256) histogram_lds_u32(const u8 *in, u32 *bins, u32 n) {
    SHARED u32 local[BINS];
    for (u32 i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    barrier();
    for (u32 i = global_id(x); i < n; i += gridDim.x * blockDim.x)
        atomic_add(&local[in[i]], 1u);
    barrier();
    for (u32 i = threadIdx.x; i < BINS; i += blockDim.x)
        if (local[i] != 0)
            atomic_add(&bins[i], local[i]);
}
ENTRY(histogram_lds_u32, const u8 *, u32 *, u32)

KERNEL histogram_global_u32(const u32 *in, u32 *bins, u32 n, u32 mask) {
    u32 i = global_id(x);
    if (i < n)
        atomic_add(&bins[in[i] & mask], 1u);
}
ENTRY(histogram_global_u32, const u32 *, u32 *, u32, u32)

KERNEL histogram_global_u64(const u32 *in, u64 *bins, u32 n, u32 mask) {
    u32 i = global_id(x);
    if (i < n)
        atomic_add(&bins[in[i] & mask], (u64)in[i] << 20);
}
ENTRY(histogram_global_u64, const u32 *, u64 *, u32, u32)

KERNEL THREADS(256) histogram_lds_f32(const u8 *in, f32 *bins, u32 n) {
    SHARED f32 local[BINS];
    for (u32 i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    barrier();
    u32 i = global_id(x);
    if (i < n)
        atomic_add(&local[in[i]], (f32)(in[i] & 7));
    barrier();
    for (u32 b = threadIdx.x; b < BINS; b += blockDim.x)
        atomic_add(&bins[b], local[b]);
}
ENTRY(histogram_lds_f32, const u8 *, f32 *, u32)

KERNEL histogram_global_f64(const u32 *in, f64 *bins, u32 n, u32 mask) {
    u32 i = global_id(x);
    if (i < n)
        atomic_add(&bins[in[i] & mask], (f64)(in[i] >> 16));
}
ENTRY(histogram_global_f64, const u32 *, f64 *, u32, u32)

// Every operation whose result does not depend on order. out: 12 words.
KERNEL atomics_u32(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v = in[i];
    atomic_add(&out[0], v);
    atomic_sub(&out[1], v);
    atomic_and(&out[2], v | 0xff00);
    atomic_or(&out[3], v & 0x12345678);
    atomic_xor(&out[4], v);
    atomic_min(&out[5], v);
    atomic_max(&out[6], v);
    atomic_min((i32 *)&out[7], (i32)v);
    atomic_max((i32 *)&out[8], (i32)v);
    atomic_add(&out[9], 1u);
    atomic_sub(&out[10], 3u);
    // A product modulo 2^32, by compare and exchange.
    u32 old = out[11];
    while (!atomic_cas(&out[11], &old, old * (v | 1)))
        ;
}
ENTRY(atomics_u32, const u32 *, u32 *, u32)

KERNEL atomics_u64(const u64 *in, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 v = in[i];
    atomic_add(&out[0], v);
    atomic_sub(&out[1], v);
    atomic_and(&out[2], v | 0xff00);
    atomic_or(&out[3], v & 0x1234567812345678ull);
    atomic_xor(&out[4], v);
    atomic_min(&out[5], v);
    atomic_max(&out[6], v);
    atomic_min((i64 *)&out[7], (i64)v);
    atomic_max((i64 *)&out[8], (i64)v);
    u64 old = out[9];
    while (!atomic_cas(&out[9], &old, old * (v | 1)))
        ;
}
ENTRY(atomics_u64, const u64 *, u64 *, u32)

// The same in LDS, results written at the end. out: 9 words a workgroup.
KERNEL THREADS(256) atomics_lds(const u32 *in, u32 *out) {
    SHARED u32 w[9];
    SHARED u64 d[4];
    u32 t = threadIdx.x;
    if (t < 9)
        w[t] = t == 2 || t == 5 ? ~0u : t == 7 ? 0x7fffffff : t == 8 ? 0x80000000 : 0;
    if (t < 4)
        d[t] = t == 1 ? ~0ull : t;
    barrier();
    u32 v = in[global_id(x)];
    u64 v2 = (u64)v << 17 | v >> 3;
    atomic_add(&w[0], v);
    atomic_sub(&w[1], v);
    atomic_and(&w[2], v | 0xff00);
    atomic_or(&w[3], v & 0x12345678);
    atomic_xor(&w[4], v);
    atomic_min(&w[5], v);
    atomic_max(&w[6], v);
    atomic_min((i32 *)&w[7], (i32)v);
    atomic_max((i32 *)&w[8], (i32)v);
    atomic_add(&d[0], v2);
    atomic_min(&d[1], v2);
    atomic_max(&d[2], v2);
    atomic_xor(&d[3], v2);
    barrier();
    u32 *o = out + blockIdx.x * 17;
    if (t < 9)
        o[t] = w[t];
    if (t < 4) {
        o[9 + 2 * t] = (u32)d[t];
        o[10 + 2 * t] = (u32)(d[t] >> 32);
    }
}
ENTRY(atomics_lds, const u32 *, u32 *)

// Each thread draws a ticket and marks it: all n slots end up marked, once.
KERNEL tickets(u32 *next, u32 *marks, u32 *swapped, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 ticket = atomic_add(next, 1u);
    atomic_add(&marks[ticket], 1u);
    swapped[n + i] = atomic_swap(&swapped[i], i * 7);
}
ENTRY(tickets, u32 *, u32 *, u32 *, u32)
