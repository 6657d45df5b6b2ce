// Memory of every width: bytes, halves, words, doubles, vectors, unaligned.
#include "kernel.h"

KERNEL bytes_i8(const i8 *a, const i8 *b, i8 *out, u32 n) {
    u32 i = global_id(x);
    if (i < n)
        out[i] = (i8)(a[i] * 3 - b[i]);
}
ENTRY(bytes_i8, const i8 *, const i8 *, i8 *, u32)

KERNEL bytes_u8(const u8 *a, const u8 *b, u8 *out, u32 n) {
    u32 i = global_id(x);
    if (i < n)
        out[i] = (u8)((a[i] + b[i] + 1) >> 1);
}
ENTRY(bytes_u8, const u8 *, const u8 *, u8 *, u32)

KERNEL halves_i16(const i16 *a, const i16 *b, i16 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    i16 s = (i16)(a[i] + b[i]);
    out[i * 3 + 0] = s;
    out[i * 3 + 1] = (i16)(a[i] * b[i] >> 4);
    out[i * 3 + 2] = a[i] < b[i] ? a[i] : b[i];
}
ENTRY(halves_i16, const i16 *, const i16 *, i16 *, u32)

KERNEL halves_u16(const u16 *a, const u16 *b, u16 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    out[i * 3 + 0] = (u16)(a[i] - b[i]);
    out[i * 3 + 1] = (u16)(a[i] / (b[i] | 1));
    out[i * 3 + 2] = (u16)(a[i] << (b[i] & 15) | a[i] >> 3);
}
ENTRY(halves_u16, const u16 *, const u16 *, u16 *, u32)

// All widths through LDS, at different offsets.
KERNEL THREADS(64) widths_lds(const u8 *in, u64 *out) {
    SHARED u8 b[64];
    SHARED u16 h[64];
    SHARED u32 w[64];
    SHARED u64 d[64];
    u32 t = threadIdx.x, o = (t * 5 + 3) & 63;
    u8 v = in[blockIdx.x * 64 + t];
    b[t] = v;
    h[t] = (u16)(v * 257);
    w[t] = v * 0x01010101u;
    d[t] = v * 0x0101010101010101ull;
    barrier();
    u64 r = b[o] + ((u64)(i8)b[t ^ 1] << 8) + ((u64)h[o ^ 3] << 16) + (u64)(i64)(i16)h[t ^ 7];
    r ^= (u64)w[o] << 13 ^ d[63 - t] ^ d[o] >> 7;
    barrier();
    d[o] = r;
    barrier();
    out[blockIdx.x * 64 + t] = d[t] + w[63 - o];
}
ENTRY(widths_lds, const u8 *, u64 *)

// Vectors of 2, 3 and 4 words, as the compiler joins neighbouring accesses.
struct word2 { u32 x, y; };
struct word3 { u32 x, y, z; };
struct __attribute__((aligned(16))) word4 { u32 x, y, z, w; };

KERNEL vectors(const struct word4 *a, const struct word3 *b, const struct word2 *c, struct word4 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    struct word4 p = a[i];
    struct word3 q = b[i];
    struct word2 r = c[i];
    struct word4 o = {p.x + q.y, p.y ^ r.x, p.z - q.x, p.w + q.z * r.y};
    out[i] = o;
}
ENTRY(vectors, const struct word4 *, const struct word3 *, const struct word2 *, struct word4 *, u32)

// Words at any address.
KERNEL unaligned(const u8 *in, u8 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 w;
    u64 d;
    u16 h;
    __builtin_memcpy(&w, in + i * 3, 4);
    __builtin_memcpy(&d, in + i * 3 + 1, 8);
    __builtin_memcpy(&h, in + i * 3 + 5, 2);
    d += w * 3ull + h;
    __builtin_memcpy(out + i * 9 + 1, &d, 8);
    out[i * 9] = (u8)h;
}
ENTRY(unaligned, const u8 *, u8 *, u32)

// Transposition through LDS, and a stencil of nine points.
KERNEL THREADS(256) transpose(const u32 *in, u32 *out, u32 width, u32 height) {
    SHARED u32 tile[16][17];
    u32 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    barrier();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
ENTRY(transpose, const u32 *, u32 *, u32, u32)

KERNEL blur(const u8 *in, u8 *out, i32 width, i32 height) {
    i32 x = (i32)global_id(x), y = (i32)global_id(y);
    if (x >= width || y >= height)
        return;
    i32 sum = 0, weight = 0;
    for (i32 dy = -1; dy <= 1; dy++)
        for (i32 dx = -1; dx <= 1; dx++) {
            i32 px = x + dx, py = y + dy;
            if (px < 0 || py < 0 || px >= width || py >= height)
                continue;
            i32 w = (2 - (dx < 0 ? -dx : dx)) * (2 - (dy < 0 ? -dy : dy));
            sum += w * in[py * width + px];
            weight += w;
        }
    out[y * width + x] = (u8)(sum / weight);
}
ENTRY(blur, const u8 *, u8 *, i32, i32)

// Arguments of all sizes, and a structure passed by value.
struct parcel {
    u8 tag;
    f64 weight;
    u16 size[3];
};
KERNEL arguments(u64 *out, u8 a, i8 b, u16 c, i16 d, u32 e, f32 f, u64 g, f64 h, struct parcel p) {
    u32 i = global_id(x);
    u64 v = a + (u64)b * 3 + c * 5 + (u64)(i64)d * 7 + e * 11ull + (u64)f * 13 + g * 17 + (u64)h * 19;
    out[i] = (v ^ p.tag ^ (u64)p.weight ^ p.size[i % 3]) + i;
}
ENTRY(arguments, u64 *, u8, i8, u16, i16, u32, f32, u64, f64, struct parcel)
