// Random numbers: Philox 4x32-10, xorshift, and a hash of bytes (SHA-256).
#include "kernel.h"

KERNEL philox(u32 *out, u64 seed, u64 offset, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 at = offset + i;
    u32 c0 = (u32)at, c1 = (u32)(at >> 32), c2 = i ^ 0xdeadbeef, c3 = 0;
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (u32 round = 0; round < 10; round++) {
        u64 p0 = 0xd2511f53ull * c0, p1 = 0xcd9e8d57ull * c2;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c1 = (u32)p1;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c3 = (u32)p0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[i * 4 + 0] = c0;
    out[i * 4 + 1] = c1;
    out[i * 4 + 2] = c2;
    out[i * 4 + 3] = c3;
}
ENTRY(philox, u32 *, u64, u64, u32)

KERNEL uniform_f32(f32 *out, u64 seed, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 s = seed + i * 0x9e3779b97f4a7c15ull;
    s = (s ^ s >> 30) * 0xbf58476d1ce4e5b9ull;
    s = (s ^ s >> 27) * 0x94d049bb133111ebull;
    s ^= s >> 31;
    out[i] = (f32)(s >> 40) * 0x1p-24f;
}
ENTRY(uniform_f32, f32 *, u64, u32)

CONSTANT_VAR u32 sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTR(v, n) ((v) >> (n) | (v) << (32 - (n)))

// One block of SHA-256 of each thread's 16 words.
KERNEL sha256(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 w[16];
    for (u32 k = 0; k < 16; k++)
        w[k] = in[i * 16 + k];
    u32 a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    u32 e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
    for (u32 r = 0; r < 64; r++) {
        u32 now = w[0];
        u32 t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + sha_k[r] + now;
        u32 t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
        u32 s0 = ROTR(w[1], 7) ^ ROTR(w[1], 18) ^ w[1] >> 3;
        u32 s1 = ROTR(w[14], 17) ^ ROTR(w[14], 19) ^ w[14] >> 10;
        u32 next = now + s0 + w[9] + s1;
        for (u32 k = 0; k < 15; k++)
            w[k] = w[k + 1];
        w[15] = next;
    }
    u32 *o = out + i * 8;
    o[0] = a + 0x6a09e667;
    o[1] = b + 0xbb67ae85;
    o[2] = c + 0x3c6ef372;
    o[3] = d + 0xa54ff53a;
    o[4] = e + 0x510e527f;
    o[5] = f + 0x9b05688c;
    o[6] = g + 0x1f83d9ab;
    o[7] = h + 0x5be0cd19;
}
ENTRY(sha256, const u32 *, u32 *, u32)
