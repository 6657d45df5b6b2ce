// kernel.h lets one source be a HIP kernel and a plain C program.
//
// With clang in HIP mode (__HIP__ is defined) it declares what these kernels
// need from a HIP header, and nothing more: no ROCm header or device library
// takes part. With any C compiler it maps the same words onto cpu/runner.c,
// which runs a grid workgroup by workgroup, each thread of a workgroup being a
// coroutine, so that barriers and cross-lane operations work unchanged.
//
// The language is what C11 and HIP's C++17 have in common.
//
// Rules that make both compilations agree bit for bit: no contraction
// (-ffp-contract=off, fused operations are written __builtin_fma), no
// undefined behaviour (shift counts in range, no signed overflow, conversions
// in range), and no dependence on the order in which lanes or workgroups run.
#ifndef ROCWIRE_KERNEL_H
#define ROCWIRE_KERNEL_H

typedef signed char        i8;
typedef unsigned char      u8;
typedef short              i16;
typedef unsigned short     u16;
typedef int                i32;
typedef unsigned int       u32;
typedef long long          i64;
typedef unsigned long long u64;
typedef float              f32;
typedef double             f64;

#if defined(__HIP__)

#define KERNEL       extern "C" __attribute__((global)) void
#define DEVICE       __attribute__((device))
#define NOINLINE     __attribute__((device, noinline))
#define SHARED       __attribute__((shared))
#define DEVICE_VAR   __attribute__((device, used))
#define CONSTANT_VAR __attribute__((constant, used))
#define THREADS(max) __attribute__((amdgpu_flat_work_group_size(1, max)))

// DYNAMIC_SHARED declares the LDS whose size the launch gives.
#define DYNAMIC_SHARED(type, name) extern __attribute__((shared)) type name[]

// Each coordinate reads its own register only when it is named, also at -O0.
#define RW_COORDINATE(axis, value)                                           \
    __declspec(property(get = get_##axis)) u32 axis;                         \
    DEVICE static inline u32 get_##axis(void) { return value; }

struct rw_thread_idx {
    RW_COORDINATE(x, __builtin_amdgcn_workitem_id_x())
    RW_COORDINATE(y, __builtin_amdgcn_workitem_id_y())
    RW_COORDINATE(z, __builtin_amdgcn_workitem_id_z())
};
struct rw_block_idx {
    RW_COORDINATE(x, __builtin_amdgcn_workgroup_id_x())
    RW_COORDINATE(y, __builtin_amdgcn_workgroup_id_y())
    RW_COORDINATE(z, __builtin_amdgcn_workgroup_id_z())
};
struct rw_block_dim {
    RW_COORDINATE(x, __builtin_amdgcn_workgroup_size_x())
    RW_COORDINATE(y, __builtin_amdgcn_workgroup_size_y())
    RW_COORDINATE(z, __builtin_amdgcn_workgroup_size_z())
};
// The implicit arguments of code object version 5 begin with the block counts.
typedef const __attribute__((address_space(4))) u32 *rw_implicit;
struct rw_grid_dim {
    RW_COORDINATE(x, ((rw_implicit)__builtin_amdgcn_implicitarg_ptr())[0])
    RW_COORDINATE(y, ((rw_implicit)__builtin_amdgcn_implicitarg_ptr())[1])
    RW_COORDINATE(z, ((rw_implicit)__builtin_amdgcn_implicitarg_ptr())[2])
};
#define threadIdx (rw_thread_idx())
#define blockIdx  (rw_block_idx())
#define blockDim  (rw_block_dim())
#define gridDim   (rw_grid_dim())

DEVICE static inline void barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Cross-lane operations of a wave of LANES.
#define LANES __AMDGCN_WAVEFRONT_SIZE__
#define lane_id()               __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))
#if LANES == 32
#define ballot(p)               ((u64)__builtin_amdgcn_ballot_w32(p))
#else
#define ballot(p)               ((u64)__builtin_amdgcn_ballot_w64(p))
#endif
#define lane_read(v, lane)      ((u32)__builtin_amdgcn_readlane((i32)(v), (i32)(lane)))
#define lane_first(v)           ((u32)__builtin_amdgcn_readfirstlane((i32)(v)))
#if LANES == 64 && defined(__GFX11__)
// ds_bpermute and ds_permute move within each half of the wave there. All lanes have to be on.
DEVICE static inline u32 lane_gather(u32 v, u32 lane) {
    u32 other = (u32)__builtin_amdgcn_permlane64((i32)v);
    u32 mine = (u32)__builtin_amdgcn_ds_bpermute((i32)(lane * 4), (i32)v);
    u32 theirs = (u32)__builtin_amdgcn_ds_bpermute((i32)(lane * 4), (i32)other);
    return ((lane ^ lane_id()) & 32) != 0 ? theirs : mine;
}
DEVICE static inline u32 lane_scatter(u32 v, u32 lane) {
    u32 got = 0;
    for (u32 i = 0; i < LANES; i++)
        if (lane_read(lane, i) == lane_id())
            got = lane_read(v, i);
    return got;
}
#else
#define lane_gather(v, lane)    ((u32)__builtin_amdgcn_ds_bpermute((i32)((lane) * 4), (i32)(v)))
#define lane_scatter(v, lane)   ((u32)__builtin_amdgcn_ds_permute((i32)((lane) * 4), (i32)(v)))
#endif
#define lane_xor(v, mask)       lane_gather(v, lane_id() ^ (mask))
// With constants only: ds_swizzle's exchange within 32 lanes, and the DPP row
// shift (lanes without a source get 0) and quad permutation.
#define lane_swizzle(v, mask)   ((u32)__builtin_amdgcn_ds_swizzle((i32)(v), (mask) << 10 | 0x1f))
#define lane_row_shr(v, n)      ((u32)__builtin_amdgcn_update_dpp(0, (i32)(v), 0x110 + (n), 0xf, 0xf, true))
#define lane_quad(v, a, b, c, d) \
    ((u32)__builtin_amdgcn_update_dpp(0, (i32)(v), (a) | (b) << 2 | (c) << 4 | (d) << 6, 0xf, 0xf, false))

#define RW_SCOPE __HIP_MEMORY_SCOPE_AGENT
#define atomic_add(p, v)        __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_sub(p, v)        __hip_atomic_fetch_sub(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_and(p, v)        __hip_atomic_fetch_and(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_or(p, v)         __hip_atomic_fetch_or(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_xor(p, v)        __hip_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_min(p, v)        __hip_atomic_fetch_min(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_max(p, v)        __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_swap(p, v)       __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, RW_SCOPE)
#define atomic_cas(p, old, v)   __hip_atomic_compare_exchange_strong(p, old, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, RW_SCOPE)

#define mul_hi_u32(a, b)        ((u32)((u64)(a) * (b) >> 32))

// ENTRY tells the CPU build a kernel's argument types; VARIABLE tells it a
// variable's name.
#define ENTRY(...)
#define VARIABLE(name)

#else
#include "cpu/cpu.h"
#endif

// global_id is the thread's number along an axis of the whole grid.
#define global_id(axis) (blockIdx.axis * blockDim.axis + threadIdx.axis)

#endif
