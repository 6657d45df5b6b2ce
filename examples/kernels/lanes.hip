// Operations across the lanes of a wave.
#include "kernel.h"

// Sums over the lanes by exchange with ever farther neighbours.
KERNEL THREADS(256) wave_sum(const u32 *in, u32 *out) {
    u32 v = in[global_id(x)];
    for (u32 mask = LANES / 2; mask > 0; mask >>= 1)
        v += lane_xor(v, mask);
    out[global_id(x)] = v;
}
ENTRY(wave_sum, const u32 *, u32 *)

// Inclusive prefix sums over the wave.
KERNEL THREADS(256) wave_scan(const u32 *in, u32 *out) {
    u32 v = in[global_id(x)], lane = lane_id();
    for (u32 step = 1; step < LANES; step <<= 1) {
        u32 up = lane_gather(v, lane - step);
        if (lane >= step)
            v += up;
    }
    out[global_id(x)] = v;
}
ENTRY(wave_scan, const u32 *, u32 *)

// Ballots, also where only some lanes take part.
KERNEL THREADS(256) votes(const u32 *in, u64 *out) {
    u32 v = in[global_id(x)], lane = lane_id();
    u64 odd = ballot(v & 1);
    u64 inner = 0;
    if (v & 6) {
        inner = ballot(v & 8);
        if (v & 16)
            inner ^= ballot(v & 32) << 1;
    }
    u64 rounds = 0;
    for (u32 k = 0; k < (v >> 6 & 7); k++)
        rounds += (u64)__builtin_popcountll(ballot(v >> k & 1)) << k;
    out[global_id(x)] = odd ^ inner * 3 ^ rounds ^ (odd >> lane & 1);
}
ENTRY(votes, const u32 *, u64 *)

// Values of one lane for all, of any lane for each, and sent to any lane.
KERNEL THREADS(256) exchanges(const u32 *in, u32 *out) {
    u32 i = global_id(x);
    u32 v = in[i], lane = lane_id();
    u32 a = lane_first(v);
    u32 b = lane_read(v, 17);
    u32 c = lane_gather(v, v & (LANES - 1));
    u32 d = lane_scatter(v, (lane * 5 + 3) & (LANES - 1));
    u32 e = lane_swizzle(v, 5);
    u32 f = lane_row_shr(v, 3);
    u32 g = lane_quad(v, 2, 3, 0, 1);
    u32 h = 0;
    if (lane & 1)
        h = lane_first(v) + lane_gather(v, lane ^ 2);
    out[i] = a ^ b * 3 ^ c * 5 ^ d * 7 ^ e * 11 ^ f * 13 ^ g * 17 ^ h;
}
ENTRY(exchanges, const u32 *, u32 *)

// Each distinct key is handled once by its first lane: a loop led by scalars.
KERNEL THREADS(256) distinct(const u32 *in, u32 *out) {
    u32 i = global_id(x);
    u32 key = in[i] & 7, rank = 0, size = 0;
    u64 left = ballot(1);
    while (left) {
        u32 leader = lane_read(key, __builtin_ctzll(left));
        u64 same = ballot(key == leader);
        if (key == leader) {
            rank = (u32)__builtin_popcountll(same & ((1ull << lane_id()) - 1));
            size = (u32)__builtin_popcountll(same);
        }
        left &= ~same;
    }
    out[i] = rank << 8 | size;
}
ENTRY(distinct, const u32 *, u32 *)
