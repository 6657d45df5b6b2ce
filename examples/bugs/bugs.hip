// Kernels with a bug each, and the same without it (…_right): what --sim-check is
// for. docs/simulator-check.md shows what it says of them.
#include "../kernels/kernel.h"

// Some threads never write their place of the LDS, and read it nevertheless.
KERNEL lds_uninit(const u32 *in, u32 *out, u32 n) {
    SHARED u32 tile[64];
    u32 i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    barrier();
    out[i] = tile[63 - i];
}

KERNEL lds_uninit_right(const u32 *in, u32 *out, u32 n) {
    SHARED u32 tile[64];
    u32 i = threadIdx.x;
    tile[i] = i < n ? in[i] : 0;
    barrier();
    out[i] = tile[63 - i];
}

// An array of the thread's own is filled half, and all of it is added up where
// the sum decides.
KERNEL scratch_uninit(const u32 *in, u32 *out, u32 n, u32 m) {
    u32 a[32];
    u32 i = threadIdx.x;
    for (u32 k = 0; k < n; k++)
        a[in[k] & 31] = in[i] + k;
    u32 sum = 0;
    for (u32 k = 0; k < m; k++)
        sum += a[in[k] & 31];
    if (sum & 1)
        out[i] = 1;
}

KERNEL scratch_uninit_right(const u32 *in, u32 *out, u32 n, u32 m) {
    u32 a[32];
    u32 i = threadIdx.x;
    for (u32 k = 0; k < 32; k++)
        a[in[k] & 31] = 0;
    for (u32 k = 0; k < n; k++)
        a[in[k] & 31] = in[i] + k;
    u32 sum = 0;
    for (u32 k = 0; k < m; k++)
        sum += a[in[k] & 31];
    if (sum & 1)
        out[i] = 1;
}

// The largest of nothing: with n = 0 the variable is never set.
KERNEL register_uninit(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    u32 last;
    for (u32 k = i; k < n; k += 64)
        last = in[k];
    out[i] = last;
}

KERNEL register_uninit_right(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    u32 last = 0;
    for (u32 k = i; k < n; k += 64)
        last = in[k];
    out[i] = last;
}

// Another wave's part of the tile is read, and nothing waits for that wave.
KERNEL race(const u32 *in, u32 *out, u32 n) {
    SHARED u32 tile[256];
    u32 i = threadIdx.x;
    tile[i] = 0;
    barrier();
    tile[i] = in[i];
    out[i] = tile[255 - i];
}

KERNEL race_right(const u32 *in, u32 *out, u32 n) {
    SHARED u32 tile[256];
    u32 i = threadIdx.x;
    tile[i] = 0;
    barrier();
    tile[i] = in[i];
    barrier();
    out[i] = tile[255 - i];
}

// One element too many, within the last page.
KERNEL bounds(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    if (i <= n)
        out[i] = in[i];
}

KERNEL bounds_right(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// A word at any byte, through a pointer that promises more.
KERNEL align(const u8 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    out[i] = *(const u32 *)(in + i + 1);
}

KERNEL align_right(const u8 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x;
    out[i] = *(const u32 *)(in + i * 4);
}

// A load in assembly, whose result is used at once.
KERNEL wait(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x, v;
    __asm__ volatile("global_load_dword %0, %1, %2" : "=v"(v) : "v"(i * 4), "s"(in));
    out[i] = v + 1;
}

KERNEL wait_right(const u32 *in, u32 *out, u32 n) {
    u32 i = threadIdx.x, v;
    __asm__ volatile("global_load_dword %0, %1, %2\n\ts_waitcnt vmcnt(0)" : "=&v"(v) : "v"(i * 4), "s"(in));
    out[i] = v + 1;
}

// Sums with atomic operations on floats: the order decides about the last bits.
KERNEL float_sum(const f32 *in, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i < n)
        __hip_atomic_fetch_add(out, in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
