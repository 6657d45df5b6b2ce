// Integer arithmetic of 32 and 64 bits.
#include "kernel.h"

#define COLUMNS_64 28
KERNEL arith_i64(const u64 *a, const u64 *b, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 x = a[i], y = b[i];
    i64 sx = (i64)x, sy = (i64)y;
    u32 s = (u32)(y & 63);
    u64 *o = out + (u64)i * COLUMNS_64;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = (u64)((unsigned __int128)x * y >> 64);
    o[4] = (u64)((__int128)sx * sy >> 64);
    o[5] = x / (y | 1);
    o[6] = x % (y | 1);
    // The one quotient that overflows is left out.
    i64 divisor = sy == -1 || sy == 0 ? 7 : sy;
    o[7] = (u64)(sx / divisor);
    o[8] = (u64)(sx % divisor);
    o[9] = x << s;
    o[10] = x >> s;
    o[11] = (u64)(sx >> s);
    o[12] = s ? x << s | x >> (64 - s) : x;
    o[13] = x ? (u64)__builtin_clzll(x) : 64;
    o[14] = x ? (u64)__builtin_ctzll(x) : 64;
    o[15] = (u64)__builtin_popcountll(x);
    o[16] = __builtin_bswap64(x);
    o[17] = x & ~y;
    o[18] = x ^ (x | y);
    o[19] = sx < sy ? x : y;
    o[20] = x > y ? x : y;
    o[21] = (u64)(x < y) | (u64)(sx < sy) << 1 | (u64)(x == y) << 2 | (u64)(sx >= 0) << 3;
    o[22] = (u64)(i64)(i32)x + (u64)(u32)y;
    o[23] = (x + y < x) + (x >> 1);
    o[24] = sx < 0 ? 0 - x : x;
    o[25] = x / 1000000007u;
    o[26] = (u64)(sx / 10);
    o[27] = (u32)x * (u64)(u32)y + o[5];
}
ENTRY(arith_i64, const u64 *, const u64 *, u64 *, u32)

#define COLUMNS_32 26
KERNEL arith_i32(const u32 *a, const u32 *b, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 x = a[i], y = b[i];
    i32 sx = (i32)x, sy = (i32)y;
    u32 s = y & 31;
    u32 *o = out + (u64)i * COLUMNS_32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = mul_hi_u32(x, y);
    o[4] = (u32)((i64)sx * sy >> 32);
    o[5] = x / (y | 1);
    o[6] = x % (y | 1);
    i32 divisor = sy == -1 || sy == 0 ? 7 : sy;
    o[7] = (u32)(sx / divisor);
    o[8] = (u32)(sx % divisor);
    o[9] = x << s;
    o[10] = x >> s;
    o[11] = (u32)(sx >> s);
    o[12] = s ? x << s | x >> (32 - s) : x;
    o[13] = x ? (u32)__builtin_clz(x) : 32;
    o[14] = x ? (u32)__builtin_ctz(x) : 32;
    o[15] = (u32)__builtin_popcount(x) + y;
    o[16] = __builtin_bswap32(x);
    o[17] = (x & y) | (~x & 0x0f0f0f0f);
    o[18] = x >> 5 & 0x3ff;
    o[19] = (u32)((i32)(x << 9) >> 20);
    o[20] = sx < sy ? x : y;
    o[21] = x > y ? x : y;
    o[22] = (x & 0xffffff) * (y & 0xffffff) + 17;
    o[23] = (x << 3) + y;
    o[24] = sx < 0 ? 0 - x : x;
    o[25] = (u32)(u16)x * (u16)y + (u32)(i32)(i8)(x >> 16);
}
ENTRY(arith_i32, const u32 *, const u32 *, u32 *, u32)

// Products, quotients and roots by loops, as number theory does them.
DEVICE u64 mulmod(u64 a, u64 b, u64 m) { return (u64)((unsigned __int128)a * b >> 64) % m + a * b % m; }

KERNEL numbers(const u64 *a, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 x = a[i];
    // Greatest common divisor, by remainders: lanes end at different steps.
    u64 p = x | 1, q = (x >> 7 ^ 0x9e3779b97f4a7c15ull) | 1;
    u64 r = q;
    u32 steps = 0;
    for (u64 m = p; r != 0; steps++) {
        u64 t = m % r;
        m = r;
        r = t;
        p = m;
    }
    out[i * 4 + 0] = p * 1000 + steps;
    // Whole square root, bit by bit.
    u64 root = 0;
    for (i32 bit = 31; bit >= 0; bit--) {
        u64 t = root | 1ull << bit;
        if (t * t <= x)
            root = t;
    }
    out[i * 4 + 1] = root;
    // A power in a ring that is not a field.
    u64 power = 1, base = x % 1000000007u;
    for (u32 e = (u32)(x >> 40); e; e >>= 1) {
        if (e & 1)
            power = mulmod(power, base, 1000000007u);
        base = mulmod(base, base, 1000000007u);
    }
    out[i * 4 + 2] = power;
    // Decimal digits, added.
    u64 digits = 0;
    for (u64 v = x; v; v /= 10)
        digits += v % 10;
    out[i * 4 + 3] = digits;
}
ENTRY(numbers, const u64 *, u64 *, u32)

// 128-bit sums and differences: carry chains. out: 4 words an element.
KERNEL carries(const u64 *a, u64 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    unsigned __int128 x = (unsigned __int128)a[i] << 64 | a[(i + 1) % n];
    unsigned __int128 y = (unsigned __int128)a[(i + 2) % n] << 64 | a[(i + 3) % n];
    unsigned __int128 s = x + y, d = x - y, m = x * y;
    out[i * 4 + 0] = (u64)(s >> 64) ^ (u64)s;
    out[i * 4 + 1] = (u64)(d >> 64) ^ (u64)d;
    out[i * 4 + 2] = (u64)(m >> 64) ^ (u64)m;
    out[i * 4 + 3] = (u64)(x >> (y & 127)) + (u64)(x < y);
}
ENTRY(carries, const u64 *, u64 *, u32)
