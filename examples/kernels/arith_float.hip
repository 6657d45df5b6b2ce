// Arithmetic on floats and doubles. Each kernel writes, for every element, one
// row of results; rows of f32 and f64 kernels have the same columns.
#include "kernel.h"

// between clamps to a range in which conversions to integers are defined, NaN
// becoming the lower end.
DEVICE f32 between_f32(f32 v, f32 lo, f32 hi) { return v > lo ? (v < hi ? v : hi) : lo; }
DEVICE f64 between_f64(f64 v, f64 lo, f64 hi) { return v > lo ? (v < hi ? v : hi) : lo; }

#define BASIC_COLUMNS 12
KERNEL arith_f32(const f32 *a, const f32 *b, const f32 *c, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i], y = b[i], z = c[i];
    f32 *o = out + (u64)i * BASIC_COLUMNS;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = __builtin_sqrtf(x);
    o[5] = __builtin_fmaf(x, y, z);
    o[6] = 1.0f / x;
    o[7] = x * y + z;
    o[8] = -x * y - z;
    o[9] = __builtin_fabsf(x) - y * 0.5f;
    o[10] = __builtin_copysignf(x, y);
    o[11] = x / 3.0f + y * 0.15915494f;
}
ENTRY(arith_f32, const f32 *, const f32 *, const f32 *, f32 *, u32)

KERNEL arith_f64(const f64 *a, const f64 *b, const f64 *c, f64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 x = a[i], y = b[i], z = c[i];
    f64 *o = out + (u64)i * BASIC_COLUMNS;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = __builtin_sqrt(x);
    o[5] = __builtin_fma(x, y, z);
    o[6] = 1.0 / x;
    o[7] = x * y + z;
    o[8] = -x * y - z;
    o[9] = __builtin_fabs(x) - y * 0.5;
    o[10] = __builtin_copysign(x, y);
    o[11] = x / 3.0 + y * 0.15915494309189535;
}
ENTRY(arith_f64, const f64 *, const f64 *, const f64 *, f64 *, u32)

#define ROUND_COLUMNS 6
KERNEL round_f32(const f32 *a, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i];
    f32 *o = out + (u64)i * ROUND_COLUMNS;
    o[0] = __builtin_floorf(x);
    o[1] = __builtin_ceilf(x);
    o[2] = __builtin_truncf(x);
    o[3] = __builtin_rintf(x);
    o[4] = x - __builtin_floorf(x);
    o[5] = __builtin_roundf(x);
}
ENTRY(round_f32, const f32 *, f32 *, u32)

KERNEL round_f64(const f64 *a, f64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 x = a[i];
    f64 *o = out + (u64)i * ROUND_COLUMNS;
    o[0] = __builtin_floor(x);
    o[1] = __builtin_ceil(x);
    o[2] = __builtin_trunc(x);
    o[3] = __builtin_rint(x);
    o[4] = x - __builtin_floor(x);
    o[5] = __builtin_round(x);
}
ENTRY(round_f64, const f64 *, f64 *, u32)

// min and max of equal zeros may be either zero.
KERNEL minmax_f32(const f32 *a, const f32 *b, const f32 *c, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i], y = b[i], z = c[i];
    f32 *o = out + (u64)i * 5;
    o[0] = __builtin_fminf(x, y);
    o[1] = __builtin_fmaxf(x, y);
    o[2] = __builtin_fmaxf(__builtin_fminf(x, y), __builtin_fminf(__builtin_fmaxf(x, y), z));
    o[3] = x < y ? x : y;
    o[4] = __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f);
}
ENTRY(minmax_f32, const f32 *, const f32 *, const f32 *, f32 *, u32)

KERNEL minmax_f64(const f64 *a, const f64 *b, const f64 *c, f64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 x = a[i], y = b[i], z = c[i];
    f64 *o = out + (u64)i * 5;
    o[0] = __builtin_fmin(x, y);
    o[1] = __builtin_fmax(x, y);
    o[2] = __builtin_fmax(__builtin_fmin(x, y), __builtin_fmin(__builtin_fmax(x, y), z));
    o[3] = x < y ? x : y;
    o[4] = __builtin_fmin(__builtin_fmax(x, 0.0), 1.0);
}
ENTRY(minmax_f64, const f64 *, const f64 *, const f64 *, f64 *, u32)

// Comparisons as bits, ordered, unordered and of class.
KERNEL compare_f32(const f32 *a, const f32 *b, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i], y = b[i];
    u32 r = 0;
    r |= (u32)(x < y) << 0;
    r |= (u32)(x <= y) << 1;
    r |= (u32)(x > y) << 2;
    r |= (u32)(x >= y) << 3;
    r |= (u32)(x == y) << 4;
    r |= (u32)(x != y) << 5;
    r |= (u32)!(x < y) << 6;
    r |= (u32)!(x <= y) << 7;
    r |= (u32)!(x > y) << 8;
    r |= (u32)!(x >= y) << 9;
    r |= (u32)(__builtin_isunordered(x, y) != 0) << 10;
    r |= (u32)(__builtin_islessgreater(x, y) != 0) << 11;
    r |= (u32)(__builtin_isnan(x) != 0) << 12;
    r |= (u32)(__builtin_isinf(x) != 0) << 13;
    r |= (u32)(__builtin_isfinite(x) != 0) << 14;
    r |= (u32)(__builtin_isnormal(x) != 0) << 15;
    r |= (u32)(__builtin_signbit(x) != 0) << 16;
    if (x < y && y < 2.0f)
        r |= 1u << 17;
    if (!(x < 1.0f) || y == 0.0f)
        r |= 1u << 18;
    out[i] = r;
}
ENTRY(compare_f32, const f32 *, const f32 *, u32 *, u32)

KERNEL compare_f64(const f64 *a, const f64 *b, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 x = a[i], y = b[i];
    u32 r = 0;
    r |= (u32)(x < y) << 0;
    r |= (u32)(x <= y) << 1;
    r |= (u32)(x > y) << 2;
    r |= (u32)(x >= y) << 3;
    r |= (u32)(x == y) << 4;
    r |= (u32)(x != y) << 5;
    r |= (u32)!(x < y) << 6;
    r |= (u32)!(x <= y) << 7;
    r |= (u32)!(x > y) << 8;
    r |= (u32)!(x >= y) << 9;
    r |= (u32)(__builtin_isunordered(x, y) != 0) << 10;
    r |= (u32)(__builtin_islessgreater(x, y) != 0) << 11;
    r |= (u32)(__builtin_isnan(x) != 0) << 12;
    r |= (u32)(__builtin_isinf(x) != 0) << 13;
    r |= (u32)(__builtin_isfinite(x) != 0) << 14;
    r |= (u32)(__builtin_isnormal(x) != 0) << 15;
    r |= (u32)(__builtin_signbit(x) != 0) << 16;
    out[i] = r;
}
ENTRY(compare_f64, const f64 *, const f64 *, u32 *, u32)

// Conversions. out: 12 words of 64 bits an element.
KERNEL convert(const f32 *a, const f64 *b, const u64 *c, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i];
    f64 y = b[i];
    u64 v = c[i];
    u64 *o = out + (u64)i * 16;
    union { f32 f; u32 u; } s;
    union { f64 f; u64 u; } d;
    o[0] = (u64)(i64)(i32)between_f32(x, -2147483648.0f, 2147483520.0f);
    o[1] = (u32)between_f32(x, 0.0f, 4294967040.0f);
    o[2] = (u64)(i64)between_f32(x, -9.2e18f, 9.2e18f);
    o[3] = (u64)between_f32(x, 0.0f, 1.8e19f);
    o[4] = (u64)(i64)(i32)between_f64(y, -2147483648.0, 2147483647.0);
    o[5] = (u32)between_f64(y, 0.0, 4294967295.0);
    o[6] = (u64)(i64)between_f64(y, -9.2e18, 9.2e18);
    o[7] = (u64)between_f64(y, 0.0, 1.8e19);
    s.f = (f32)(i32)v;
    d.f = (f64)(i32)v;
    o[8] = s.u ^ d.u;
    s.f = (f32)(u32)v;
    d.f = (f64)(u32)v;
    o[9] = s.u ^ d.u;
    s.f = (f32)(i64)v;
    d.f = (f64)(i64)v;
    o[10] = s.u ^ d.u;
    s.f = (f32)v;
    d.f = (f64)v;
    o[11] = s.u ^ d.u;
    // NaN stays NaN; its other bits may change.
    s.f = (f32)between_f64(y, -1e300, 1e300);
    o[12] = s.u;
    d.f = (f64)between_f32(x, -3e38f, 3e38f);
    o[13] = d.u;
    s.f = (f32)(u8)v + (f32)(u8)(v >> 8) + (f32)(u8)(v >> 16) + (f32)(u8)(v >> 24);
    o[14] = s.u;
    s.f = (f32)(i16)v * (f32)(i8)(v >> 16);
    o[15] = s.u;
}
ENTRY(convert, const f32 *, const f64 *, const u64 *, u64 *, u32)

// Iterations that mix the operations: Newton's square root, Horner, a
// continued fraction, a sum with compensation.
KERNEL series_f32(const f32 *a, f32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f32 x = a[i], root = x, poly = 0, frac = x, sum = 0, lost = 0;
    for (i32 k = 0; k < 8; k++)
        root = 0.5f * (root + x / root);
    for (i32 k = 12; k > 0; k--)
        poly = __builtin_fmaf(poly, x, 1.0f / (f32)k);
    for (i32 k = 0; k < 10; k++)
        frac = 1.0f + (f32)k / (x + frac);
    for (i32 k = 1; k <= 40; k++) {
        f32 term = x / (f32)(k * k) - lost;
        f32 next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    out[i * 4 + 0] = root;
    out[i * 4 + 1] = poly;
    out[i * 4 + 2] = frac;
    out[i * 4 + 3] = sum;
}
ENTRY(series_f32, const f32 *, f32 *, u32)

KERNEL series_f64(const f64 *a, f64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    f64 x = a[i], root = x, poly = 0, frac = x, sum = 0, lost = 0;
    for (i32 k = 0; k < 8; k++)
        root = 0.5 * (root + x / root);
    for (i32 k = 12; k > 0; k--)
        poly = __builtin_fma(poly, x, 1.0 / (f64)k);
    for (i32 k = 0; k < 10; k++)
        frac = 1.0 + (f64)k / (x + frac);
    for (i32 k = 1; k <= 40; k++) {
        f64 term = x / (f64)(k * k) - lost;
        f64 next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    out[i * 4 + 0] = root;
    out[i * 4 + 1] = poly;
    out[i * 4 + 2] = frac;
    out[i * 4 + 3] = sum;
}
ENTRY(series_f64, const f64 *, f64 *, u32)
