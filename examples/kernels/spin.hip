// Kernels that take their time: one as long as its argument says, one until it
// is killed, one until somebody else writes a flag.
#include "kernel.h"

// spin turns a generator `rounds` times; the result depends on every round.
KERNEL spin(u32 *out, u64 rounds, u32 n) {
    u32 i = global_id(x);
    u32 x = i * 2654435761u + 12345u;
    for (u64 r = 0; r < rounds; r++)
        x = x * 1664525u + 1013904223u;
    if (i < n)
        out[i] = x;
}
ENTRY(spin, u32 *, u64, u32)

// spin_forever never ends. Its loop has a side effect, so that it stays.
KERNEL spin_forever(volatile u32 *out) {
    for (;;)
        out[threadIdx.x]++;
}
ENTRY(spin_forever, volatile u32 *)

// spin_until waits for *flag to become nonzero and says how it found it.
KERNEL spin_until(volatile u32 *flag, u32 *out) {
    u32 seen;
    do
        seen = *flag;
    while (seen == 0);
    out[global_id(x)] = seen;
}
ENTRY(spin_until, volatile u32 *, u32 *)
