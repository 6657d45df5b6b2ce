// Barriers of a whole grid, and of the grids of several devices, as the device
// library does them: with global wave sync on gfx90a, with counters in the memory
// of the hidden argument on gfx942.
#include "kernel.h"

#if defined(__HIP__)

// What the 11th implicit argument points to. AMD's runtime fills it in.
struct rw_grid_sync {
    u32 *shared; // two counters, nil unless there are several grids
    u32  grid, grids;
    u64  threads_before, threads;
    u32  arrived, unused;
    u32  groups;
};

DEVICE static inline struct rw_grid_sync *rw_sync(void) {
    typedef const __attribute__((address_space(4))) u64 *words;
    return (struct rw_grid_sync *)((words)__builtin_amdgcn_implicitarg_ptr())[11];
}

// rw_meet returns when members of them have come, of at most mask.
DEVICE static inline void rw_meet(u32 *counter, u32 members, u32 mask) {
    u32 v = __hip_atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
    if ((v & mask) == members - 1) {
        __hip_atomic_fetch_add(counter, mask + 1 - members, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
        return;
    }
    while (((__hip_atomic_load(counter, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM) ^ v) & ~mask) == 0) {
        __builtin_amdgcn_s_sleep(1);
    }
}

DEVICE static inline void rw_groups_meet(void) {
#if defined(__gfx90a__)
    __builtin_amdgcn_ds_gws_barrier(gridDim.x * gridDim.y * gridDim.z - 1, 0);
#else
    struct rw_grid_sync *s = rw_sync();
    rw_meet(&s->arrived, s->groups, 0xffff);
#endif
}

DEVICE static inline int rw_first_thread(void) { return (threadIdx.x | threadIdx.y | threadIdx.z) == 0; }

DEVICE static inline void grid_sync(void) {
    barrier();
    if (rw_first_thread()) {
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        rw_groups_meet();
    }
    barrier();
}

DEVICE static inline void multi_grid_sync(void) {
    struct rw_grid_sync *s = rw_sync();
    barrier();
    if (rw_first_thread()) {
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
        rw_groups_meet();
        if ((blockIdx.x | blockIdx.y | blockIdx.z) == 0) {
            rw_meet(s->shared, s->grids, 0xff);
        }
        rw_groups_meet();
    }
    barrier();
}

// grid_rounds has every thread add to a counter and, after a barrier of the
// grid, look at it: it must see what all threads have added. out[r] is how many
// threads did not, in round r.
KERNEL grid_rounds(u32 *counter, u32 *out, u32 rounds) {
    u32 all = gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
    for (u32 r = 0; r < rounds; r++) {
        atomic_add(counter, 1u);
        grid_sync();
        u32 seen = __hip_atomic_load(counter, __ATOMIC_RELAXED, RW_SCOPE);
        if (seen != all * (r + 1)) {
            atomic_add(&out[r], 1u);
        }
        grid_sync();
    }
}

// multi_rounds does the same for all grids of a launch on several devices.
// about gets what each grid is told: grid, grids, threads before it, threads.
KERNEL multi_rounds(u32 *counter, u32 *out, u32 rounds, u64 *about) {
    struct rw_grid_sync *s = rw_sync();
    if (global_id(x) == 0) {
        about[s->grid * 4 + 0] = s->grid;
        about[s->grid * 4 + 1] = s->grids;
        about[s->grid * 4 + 2] = s->threads_before;
        about[s->grid * 4 + 3] = s->threads;
    }
    for (u32 r = 0; r < rounds; r++) {
        __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        multi_grid_sync();
        u32 seen = __hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        if (seen != s->threads * (r + 1)) {
            __hip_atomic_fetch_add(&out[r], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        }
        multi_grid_sync();
    }
}

// late has the first workgroup come last: it looks at the clock, of 100 MHz,
// until so many ticks have passed. order[i] is how many came before workgroup i.
#if defined(__GFX11__)
#define CLOCK() __builtin_amdgcn_s_sendmsg_rtnl(131)
#else
#define CLOCK() __builtin_amdgcn_s_memrealtime()
#endif
KERNEL late(u32 *counter, u32 *order, u64 ticks) {
    if (blockIdx.x == 0) {
        u64 start = CLOCK();
        while (CLOCK() - start < ticks) {
        }
    }
    if (rw_first_thread()) {
        order[blockIdx.x] = atomic_add(counter, 1u);
    }
}

#if defined(__gfx90a__)
// semaphore passes a token from wave to wave: each takes it, adds to the
// counter without an atomic operation, and gives it back.
KERNEL semaphore(u32 *counter, u32 times) {
    if (rw_first_thread()) {
        if (blockIdx.x == 0) {
            __builtin_amdgcn_ds_gws_init(0, 2);
            __builtin_amdgcn_ds_gws_sema_v(2);
        }
        rw_groups_meet();
        for (u32 i = 0; i < times; i++) {
            __builtin_amdgcn_ds_gws_sema_p(2);
            u32 v = *(volatile u32 *)counter;
            __builtin_amdgcn_s_sleep(1);
            *(volatile u32 *)counter = v + 1;
            __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
            if (i % 2) {
                __builtin_amdgcn_ds_gws_sema_br(1, 2);
            } else {
                __builtin_amdgcn_ds_gws_sema_v(2);
            }
        }
    }
}

// release_all has every workgroup but the first wait for the semaphore, and the first let them go
// once they all wait.
KERNEL release_all(u32 *waiting) {
    if (!rw_first_thread()) {
        return;
    }
    if (blockIdx.x == 0) {
        __builtin_amdgcn_ds_gws_init(0, 3);
    }
    rw_groups_meet();
    if (blockIdx.x != 0) {
        atomic_add(waiting, 1u);
        __builtin_amdgcn_ds_gws_sema_p(3);
        atomic_add(waiting, 1u << 16);
        return;
    }
    while (__hip_atomic_load(waiting, __ATOMIC_RELAXED, RW_SCOPE) >> 16 != gridDim.x - 1) {
        __builtin_amdgcn_ds_gws_sema_release_all(3);
        __builtin_amdgcn_s_sleep(1);
    }
}
#endif

#endif
