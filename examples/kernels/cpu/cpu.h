// cpu.h is the CPU side of kernel.h: the same words for a plain C compiler.
// runner.c gives them their meaning.
#ifndef ROCWIRE_CPU_H
#define ROCWIRE_CPU_H

#include <stddef.h>
#include <string.h>

#define KERNEL       void
#define DEVICE       static
#define NOINLINE     static __attribute__((noinline))
#define SHARED       static  // workgroups run one after the other
#define DEVICE_VAR
#define CONSTANT_VAR
#define THREADS(max)

#define DYNAMIC_SHARED(type, name) type *name = (type *)rw_dynamic_shared

#ifndef LANES
#define LANES 64 // of a wave
#endif

struct rw_dim { u32 x, y, z; };

// rw_self is the thread that runs.
struct rw_thread {
    struct rw_dim index;
    u32 lane; // in its wave
};
extern struct rw_thread *rw_self;
extern struct rw_dim rw_block_idx, rw_block_dim, rw_grid_dim;
extern unsigned char *rw_dynamic_shared;

#define threadIdx (rw_self->index)
#define blockIdx  rw_block_idx
#define blockDim  rw_block_dim
#define gridDim   rw_grid_dim

void rw_barrier(void);
#define barrier() rw_barrier()

// A cross-lane operation is a meeting: a thread waits at its source line until
// no thread of its wave can go on without one; then those at the lowest line
// are the wave's active lanes. That is how structured control flow reconverges.
enum rw_op { RW_BALLOT, RW_READ, RW_FIRST, RW_GATHER, RW_SCATTER };
u64 rw_meet(enum rw_op op, u32 value, u32 lane, int line);

#define lane_id()             (rw_self->lane)
#define ballot(p)             rw_meet(RW_BALLOT, (p) != 0, 0, __LINE__)
#define lane_read(v, lane)    ((u32)rw_meet(RW_READ, (u32)(v), (u32)(lane), __LINE__))
#define lane_first(v)         ((u32)rw_meet(RW_FIRST, (u32)(v), 0, __LINE__))
#define lane_gather(v, lane)  ((u32)rw_meet(RW_GATHER, (u32)(v), (u32)(lane), __LINE__))
#define lane_scatter(v, lane) ((u32)rw_meet(RW_SCATTER, (u32)(v), (u32)(lane), __LINE__))
#define lane_xor(v, mask)     lane_gather(v, lane_id() ^ (mask))
#define lane_swizzle(v, mask) lane_gather(v, lane_id() ^ (mask))
#define lane_row_shr(v, n)    ((lane_id() & 15) >= (n) ? lane_gather(v, lane_id() - (n)) : lane_gather(v, 0) & 0)
#define lane_quad(v, a, b, c, d) \
    lane_gather(v, (lane_id() & ~3u) + ((lane_id() & 3) == 0 ? (a) : (lane_id() & 3) == 1 ? (b) : (lane_id() & 3) == 2 ? (c) : (d)))

// Threads take turns only where they wait: no operation needs to be atomic.
#define RW_FETCH(p, new_value)                                               \
    __extension__({ __typeof__(p) rw_p = (p); __typeof__(*rw_p + 0) rw_old = *rw_p; *rw_p = (new_value); rw_old; })
#define atomic_add(p, v)     RW_FETCH(p, rw_old + (v))
#define atomic_sub(p, v)     RW_FETCH(p, rw_old - (v))
#define atomic_and(p, v)     RW_FETCH(p, rw_old & (v))
#define atomic_or(p, v)      RW_FETCH(p, rw_old | (v))
#define atomic_xor(p, v)     RW_FETCH(p, rw_old ^ (v))
#define atomic_min(p, v)     RW_FETCH(p, rw_old < (v) ? rw_old : (v))
#define atomic_max(p, v)     RW_FETCH(p, rw_old > (v) ? rw_old : (v))
#define atomic_swap(p, v)    RW_FETCH(p, v)
#define atomic_cas(p, expected, v)                                           \
    __extension__({ __typeof__(p) rw_p = (p); __typeof__(rw_p) rw_e = (expected); \
        int rw_ok = *rw_p == *rw_e; if (rw_ok) *rw_p = (v); else *rw_e = *rw_p; rw_ok; })

#define mul_hi_u32(a, b) ((u32)((u64)(a) * (b) >> 32))

// ENTRY makes a function that calls a kernel with the arguments of an argument
// segment, which is laid out like a C structure, and enters it in a table.
struct rw_entry {
    const char *name;
    void (*call)(const void *args);
    struct rw_entry *next;
};
struct rw_variable {
    const char *name;
    void *address;
    size_t size;
    struct rw_variable *next;
};
void rw_add_entry(struct rw_entry *e);
void rw_add_variable(struct rw_variable *v);

#define RW_COUNT(...) RW_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define RW_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n
#define RW_PASTE(a, b) RW_PASTE_(a, b)
#define RW_PASTE_(a, b) a##b
#define RW_F1(T)       T a1;
#define RW_F2(T, ...)  T a2; RW_F1(__VA_ARGS__)
#define RW_F3(T, ...)  T a3; RW_F2(__VA_ARGS__)
#define RW_F4(T, ...)  T a4; RW_F3(__VA_ARGS__)
#define RW_F5(T, ...)  T a5; RW_F4(__VA_ARGS__)
#define RW_F6(T, ...)  T a6; RW_F5(__VA_ARGS__)
#define RW_F7(T, ...)  T a7; RW_F6(__VA_ARGS__)
#define RW_F8(T, ...)  T a8; RW_F7(__VA_ARGS__)
#define RW_F9(T, ...)  T a9; RW_F8(__VA_ARGS__)
#define RW_F10(T, ...) T a10; RW_F9(__VA_ARGS__)
#define RW_F11(T, ...) T a11; RW_F10(__VA_ARGS__)
#define RW_F12(T, ...) T a12; RW_F11(__VA_ARGS__)
#define RW_A1          s.a1
#define RW_A2          s.a2, RW_A1
#define RW_A3          s.a3, RW_A2
#define RW_A4          s.a4, RW_A3
#define RW_A5          s.a5, RW_A4
#define RW_A6          s.a6, RW_A5
#define RW_A7          s.a7, RW_A6
#define RW_A8          s.a8, RW_A7
#define RW_A9          s.a9, RW_A8
#define RW_A10         s.a10, RW_A9
#define RW_A11         s.a11, RW_A10
#define RW_A12         s.a12, RW_A11

#define ENTRY(name, ...)                                                     \
    static void rw_call_##name(const void *args) {                           \
        struct { RW_PASTE(RW_F, RW_COUNT(__VA_ARGS__))(__VA_ARGS__) } s;     \
        memcpy(&s, args, sizeof s);                                          \
        name(RW_PASTE(RW_A, RW_COUNT(__VA_ARGS__)));                         \
    }                                                                        \
    __attribute__((constructor)) static void rw_enter_##name(void) {         \
        static struct rw_entry e = {#name, rw_call_##name, NULL};            \
        rw_add_entry(&e);                                                    \
    }

#define VARIABLE(name)                                                       \
    __attribute__((constructor)) static void rw_variable_##name(void) {      \
        static struct rw_variable v = {#name, &name, sizeof name, NULL};     \
        rw_add_variable(&v);                                                 \
    }

#endif
