// Calls of device functions: with many arguments and structures, recursive,
// and through pointers.
#include "kernel.h"

NOINLINE u32 mix(u32 a, u32 b) {
    a ^= b * 0x9e3779b1u;
    return a << 13 | a >> 19;
}

NOINLINE u64 many(u32 a, u64 b, u32 c, u64 d, u32 e, u64 f, u32 g, u64 h, u32 i, u64 j, u32 k, u64 l, u32 m, u64 n,
                  u32 o, u64 p, u32 q, u64 r, u32 s, u64 t, u32 u, u64 v, u32 w) {
    return (a + b * 3 + c * 5) ^ (d + e * 7 + f * 11) ^ (g + h * 13 + i * 17) ^ (j + k * 19 + l * 23) ^
           (m + n * 29 + o * 31) ^ (p + q * 37 + r * 41) ^ (s + t * 43 + u * 47) ^ (v + w * 53ull);
}

struct triple {
    u32 a;
    f64 b;
    u64 c;
};

NOINLINE struct triple turn(struct triple t, u32 by) {
    struct triple r;
    r.a = (u32)t.c + by;
    r.b = t.b * 0.5 + t.a;
    r.c = t.c ^ (u64)t.a << 32;
    return r;
}

KERNEL calls(const u32 *in, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v = in[i];
    u32 h = mix(v, i);
    for (u32 k = 0; k < (v & 15); k++)
        h = mix(h, k);
    struct triple t = {h, (f64)(v & 0xffff), (u64)v * h};
    if (v & 16)
        t = turn(t, 5);
    t = turn(t, h);
    u64 m = many(v, h, i, v, h, i, v + 1, h + 1, i + 1, v + 2, h + 2, i + 2, v + 3, h + 3, i + 3, v + 4, h + 4, i + 4,
                 v + 5, h + 5, i + 5, v + 6, h + 6);
    out[i] = m ^ t.a ^ (u64)(i64)t.b ^ t.c;
}
ENTRY(calls, const u32 *, u64 *, u32)

// Recursion as deep as the lane's argument says.
NOINLINE u32 ackermann(u32 m, u32 n) {
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

KERNEL recursion(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v = in[i];
    out[i] = ackermann(v & 1, v >> 1 & 3) * 1000 + fibonacci(v >> 3 & 7);
}
ENTRY(recursion, const u32 *, u32 *, u32)

// Functions chosen at run time, by all lanes together and by each for itself.
NOINLINE u32 op_add(u32 a, u32 b) { return a + b; }
NOINLINE u32 op_sub(u32 a, u32 b) { return a - b; }
NOINLINE u32 op_mul(u32 a, u32 b) { return a * b + 1; }
NOINLINE u32 op_mix(u32 a, u32 b) { return mix(a, b) + mix(b, a); }

typedef u32 (*operation)(u32, u32);

KERNEL function_pointers(const u32 *in, u32 *out, u32 n, u32 uniform) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    operation table[4] = {op_add, op_sub, op_mul, op_mix};
    u32 v = in[i];
    u32 r = table[uniform & 3](v, i);
    for (u32 k = 0; k < 6; k++)
        r = table[r >> (k + 3) & 3](r, v + k);
    out[i] = r;
}
ENTRY(function_pointers, const u32 *, u32 *, u32, u32)

// Pointers into the caller's frame: private memory through flat addresses.
NOINLINE void swap_by_pointer(u32 *a, u32 *b) {
    u32 t = *a;
    *a = *b;
    *b = t;
}

NOINLINE u32 sum_of(const u32 *p, u32 n) {
    u32 s = 0;
    for (u32 k = 0; k < n; k++)
        s = s * 3 + p[k];
    return s;
}

KERNEL frames(const u32 *in, u32 *out, u32 n) {
    SHARED u32 lds[64];
    u32 i = global_id(x);
    u32 v[8];
    for (u32 k = 0; k < 8; k++)
        v[k] = in[(i + k) % n];
    for (u32 k = 0; k < 8; k++)
        swap_by_pointer(&v[k], &v[v[k] & 7]);
    lds[threadIdx.x & 63] = threadIdx.x & 63;
    barrier();
    // The same function reads private, local and global memory.
    u32 h = sum_of(v, 8) ^ sum_of(lds, blockDim.x < 64 ? blockDim.x : 64) ^ sum_of(in, n & 15);
    if (i < n)
        out[i] = h;
}
ENTRY(frames, const u32 *, u32 *, u32)
