// Control flow whose lanes go different ways.
#include "kernel.h"

// The length of the Collatz sequence of each number, up to a limit.
KERNEL collatz(const u32 *in, u32 *out, u32 n, u32 limit) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u64 v = in[i] + 1ull;
    u32 steps = 0;
    while (v != 1 && steps < limit) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        steps++;
    }
    out[i] = steps;
}
ENTRY(collatz, const u32 *, u32 *, u32, u32)

// A switch with falling through, in a loop with continue and break.
KERNEL switches(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v = in[i], acc = 1;
    for (u32 round = 0; round < 16; round++, v = v * 1664525u + 1013904223u) {
        switch (v >> 28) {
        case 0:
            acc += v;
            /* fallthrough */
        case 1:
            acc ^= round;
            break;
        case 2:
        case 3:
            continue;
        case 4:
            acc = acc * 3 + 1;
            break;
        case 5:
            for (u32 k = v & 7; k; k--)
                acc += acc << 1 ^ k;
            break;
        case 6:
            acc -= 77;
            /* fallthrough */
        case 7:
            acc = ~acc;
            /* fallthrough */
        case 8:
            acc >>= 1;
            break;
        case 9:
            round += 2;
            break;
        case 15:
            if (acc & 1)
                goto out_of_loop;
            break;
        default:
            acc += v >> 5;
        }
        if ((acc & 0x1ff) == 0x1ff)
            break;
        acc = acc << 7 | acc >> 25;
    }
out_of_loop:
    out[i] = acc;
}
ENTRY(switches, const u32 *, u32 *, u32)

// Loops in loops, all with bounds of the lane's own, left by several ways.
KERNEL nested(const u32 *in, u32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 v = in[i], sum = 0;
    for (u32 a = 0; a < (v & 7); a++) {
        for (u32 b = a; b < (v >> 3 & 15); b++) {
            if (((a + b) ^ v) % 5 == 0)
                continue;
            u32 c = 0;
            do {
                sum += a * b + c;
                if (sum > 100000)
                    goto done;
                if ((sum & 31) == 7)
                    break;
            } while (++c < (v >> 7 & 7));
            if (sum % 11 == 3)
                break;
        }
        if (sum & 0x800)
            v ^= sum;
    }
done:
    out[i] = sum;
}
ENTRY(nested, const u32 *, u32 *, u32)

// Threads that leave early, at different depths; what they do not reach stays.
KERNEL early_return(const i32 *in, i32 *out, u32 n) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    i32 v = in[i];
    if (v < 0) {
        out[i] = -1;
        return;
    }
    if (v & 1) {
        if (v & 2)
            return;
        out[i] = v / 2;
        for (i32 k = 0; k < (v & 63); k++) {
            out[i] += k;
            if (out[i] % 7 == 0)
                return;
        }
    }
    out[i] += 1000000;
}
ENTRY(early_return, const i32 *, i32 *, u32)

// Short circuits: the right side must not run where the left decides.
KERNEL short_circuit(const u32 *index, const u32 *table, u32 *out, u32 n, u32 size) {
    u32 i = global_id(x);
    if (i >= n)
        return;
    u32 j = index[i];
    u32 r = 0;
    if (j < size && table[j] > 100 && (j + 1 >= size || table[j + 1] < 1000))
        r |= 1;
    if (j >= size || table[j] == 0 || table[table[j] % size] & 1)
        r |= 2;
    out[i] = j < size ? r + table[j] % 3 * 4 : r;
}
ENTRY(short_circuit, const u32 *, const u32 *, u32 *, u32, u32)

// Barriers in a loop that all threads run equally often, with work between
// that only some do: game of life in LDS on a torus of 16 by 16.
KERNEL THREADS(256) life(const u8 *in, u8 *out, u32 generations) {
    SHARED u8 cell[16][16];
    u32 x = threadIdx.x & 15, y = threadIdx.x >> 4;
    cell[y][x] = in[blockIdx.x * 256 + threadIdx.x] & 1;
    barrier();
    for (u32 g = 0; g < generations; g++) {
        u32 around = 0;
        for (u32 dy = 15; dy < 18; dy++)
            for (u32 dx = 15; dx < 18; dx++)
                if (dx != 16 || dy != 16)
                    around += cell[(y + dy) & 15][(x + dx) & 15];
        barrier();
        if (around < 2 || around > 3)
            cell[y][x] = 0;
        else if (around == 3)
            cell[y][x] = 1;
        barrier();
    }
    out[blockIdx.x * 256 + threadIdx.x] = cell[y][x];
}
ENTRY(life, const u8 *, u8 *, u32)

// A grid of three dimensions with workgroups of three: each thread says who it
// is.
KERNEL identity3(u32 *out) {
    u32 w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    u32 x = global_id(x), y = global_id(y), z = global_id(z);
    out[(z * h + y) * w + x] = x | y << 8 | z << 16 | (threadIdx.x ^ threadIdx.y ^ threadIdx.z) << 24;
}
ENTRY(identity3, u32 *)
