// Kernels that a device must stop: they have no CPU side.
#include "kernel.h"

#if defined(__HIP__)

// Each thread stores where it is told, without a check.
KERNEL store_at(u32 *base, u64 offset, u32 value) { base[offset + global_id(x)] = value; }

// Only one thread of many goes astray.
KERNEL store_one_astray(u32 *base, u64 offset, u32 thread) {
    u32 i = global_id(x);
    base[i == thread ? offset : i] = i;
}

KERNEL load_at(const u32 *base, u64 offset, u32 *out) { out[global_id(x)] = base[offset + global_id(x)]; }

// A scalar load from an address that is no memory.
KERNEL load_uniform_at(const u32 *base, u64 offset, u32 *out) { out[global_id(x)] = base[offset]; }

KERNEL atomic_at(u32 *base, u64 offset) { atomic_add(&base[offset], 1u); }

KERNEL trap_if(const u32 *in, u32 n) {
    if (global_id(x) < n && in[global_id(x)] != 0)
        __builtin_trap();
}

#endif
