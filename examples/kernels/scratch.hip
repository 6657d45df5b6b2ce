// Private memory: arrays indexed at run time, and registers that do not fit.
#include "kernel.h"

// An insertion sort of 24 values in a private array.
KERNEL sort_private(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v[24];
    for (u32 k = 0; k < 24; k++)
        v[k] = in[(i * 24 + k * 7) % n] ^ (i << 3);
    for (u32 k = 1; k < 24; k++) {
        u32 x = v[k], j = k;
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
    u32 h = 0;
    for (u32 k = 0; k < 24; k++)
        h = h * 31 + v[k];
    out[i] = h;
}
ENTRY(sort_private, const u32 *, u32 *, u32)

// A private table of bytes and one of doubles, written and read by index.
KERNEL tables_private(const u32 *in, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u8 perm[256];
    f64 acc[9];
    u16 count[13];
    u32 seed = in[i];
    for (u32 k = 0; k < 256; k++)
        perm[k] = (u8)k;
    for (u32 k = 255; k > 0; k--) {
        seed = seed * 1664525u + 1013904223u;
        u32 j = (seed >> 8) % (k + 1);
        u8 t = perm[k];
        perm[k] = perm[j];
        perm[j] = t;
    }
    for (u32 k = 0; k < 9; k++)
        acc[k] = k;
    for (u32 k = 0; k < 13; k++)
        count[k] = 0;
    for (u32 k = 0; k < 256; k++) {
        acc[perm[k] % 9] += perm[perm[k]];
        count[perm[k] % 13] = (u16)(count[perm[k] % 13] + k);
    }
    u64 h = 0;
    for (u32 k = 0; k < 9; k++)
        h = h * 1000003 + (u64)acc[k];
    for (u32 k = 0; k < 13; k++)
        h = h * 1000003 + count[k];
    out[i] = h;
}
ENTRY(tables_private, const u32 *, u64 *, u32)

// More values alive than the registers this kernel is given.
#if defined(__HIP__)
#define FEW_REGISTERS __attribute__((amdgpu_num_vgpr(16)))
#else
#define FEW_REGISTERS
#endif
KERNEL FEW_REGISTERS spills(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v[40];
#pragma GCC unroll 40
    for (u32 k = 0; k < 40; k++)
        v[k] = in[(i + k * k) % n];
    for (u32 round = 0; round < 3; round++) {
#pragma GCC unroll 40
        for (u32 k = 0; k < 40; k++)
            v[k] += v[(k + 13) % 40] * 5 ^ v[(k + 29) % 40] >> 3;
    }
    u32 h = 0;
#pragma GCC unroll 40
    for (u32 k = 0; k < 40; k++)
        h = (h << 5 | h >> 27) ^ v[k];
    out[i] = h;
}
ENTRY(spills, const u32 *, u32 *, u32)

KERNEL FEW_REGISTERS spills_f64(const f64 *in, f64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 v[16];
#pragma GCC unroll 16
    for (u32 k = 0; k < 16; k++)
        v[k] = in[(i + k * 3) % n];
    for (u32 round = 0; round < 2; round++) {
#pragma GCC unroll 16
        for (u32 k = 0; k < 16; k++)
            v[k] = __builtin_fma(v[k], v[(k + 5) & 15], v[(k + 11) & 15]);
    }
    f64 s = 0;
#pragma GCC unroll 16
    for (u32 k = 0; k < 16; k++)
        s += v[k];
    out[i] = s;
}
ENTRY(spills_f64, const f64 *, f64 *, u32)

// More values alive than the architectural vector registers: the compiler
// keeps the rest in accumulation registers.
#define MANY 300
KERNEL THREADS(256) many_registers(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v[MANY];
#pragma GCC unroll 300
    for (u32 k = 0; k < MANY; k++)
        v[k] = in[(i + k) % n] + k;
    u32 h = 0;
    for (u32 round = 0; round < 2; round++) {
#pragma GCC unroll 300
        for (u32 k = 0; k < MANY; k++)
            h = (h << 1 | h >> 31) ^ v[(k * 7) % MANY] * (k | 1);
        for (u32 k = 0; k < 3; k++)
            v[k] ^= h;
    }
    out[i] = h;
}
ENTRY(many_registers, const u32 *, u32 *, u32)
