// What kernels ask of their host: text on the program's standard output and
// standard error, and memory. The device library of ROCm does the same behind
// printf, assert and malloc; this is a small client of its own.
#include "kernel.h"

#if defined(__HIP__)

#define RW_SYSTEM __HIP_MEMORY_SCOPE_SYSTEM

// A packet has a header, and eight words for each lane.
struct rw_header {
    u64 next, lanes;
    u32 service, control;
};
struct rw_payload {
    u64 words[64][8];
};
struct rw_calls {
    struct rw_header  *headers;
    struct rw_payload *payloads;
    u64 *doorbell; // a signal: the value is its second word, the third an address to store the fourth at
    u64  free, ready, mask;
};

DEVICE static inline u64 rw_implicit_word(u32 n) {
    typedef const __attribute__((address_space(4))) u64 *words;
    return ((words)__builtin_amdgcn_implicitarg_ptr())[n];
}

struct rw_answer {
    u64 x, y;
};

// rw_call is a wave's request: the words of each active lane, and its answer.
NOINLINE struct rw_answer rw_call(u32 service, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h) {
    struct rw_calls *s = (struct rw_calls *)rw_implicit_word(10);
    u32 lane = lane_id(), first = lane_first(lane);
    u64 lanes = ballot(1), packet = 0;
    if (lane == first) {
        packet = __hip_atomic_load(&s->free, __ATOMIC_ACQUIRE, RW_SYSTEM);
        while (!__hip_atomic_compare_exchange_strong(&s->free, &packet, s->headers[packet & s->mask].next, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, RW_SYSTEM)) {
        }
    }
    packet = (u64)lane_first((u32)packet) | (u64)lane_first((u32)(packet >> 32)) << 32;
    struct rw_header *head = &s->headers[packet & s->mask];
    u64 *w = s->payloads[packet & s->mask].words[lane];
    w[0] = a, w[1] = b, w[2] = c, w[3] = d, w[4] = e, w[5] = f, w[6] = g, w[7] = h;
    if (lane == first) {
        head->service = service;
        head->lanes = lanes;
        head->control = 1;
        u64 top = __hip_atomic_load(&s->ready, __ATOMIC_RELAXED, RW_SYSTEM);
        do {
            head->next = top;
        } while (!__hip_atomic_compare_exchange_strong(&s->ready, &top, packet, __ATOMIC_RELEASE, __ATOMIC_RELAXED, RW_SYSTEM));
        u64 *signal = s->doorbell;
        __hip_atomic_fetch_add(&signal[1], 1ull, __ATOMIC_RELEASE, RW_SYSTEM);
        if (signal[2] != 0) {
            u32 id = (u32)signal[3];
            __hip_atomic_store((u64 *)signal[2], (u64)id, __ATOMIC_RELEASE, RW_SYSTEM);
            __builtin_amdgcn_s_sendmsg(1, lane_first(id) & 0xff);
        }
        while (__hip_atomic_load(&head->control, __ATOMIC_ACQUIRE, RW_SYSTEM) & 1) {
            __builtin_amdgcn_s_sleep(1);
        }
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
    __builtin_amdgcn_wave_barrier();
    struct rw_answer r = {__hip_atomic_load(&w[0], __ATOMIC_RELAXED, RW_SYSTEM), __hip_atomic_load(&w[1], __ATOMIC_RELAXED, RW_SYSTEM)};
    if (lane == first) {
        packet += s->mask + 1;
        u64 top = __hip_atomic_load(&s->free, __ATOMIC_RELAXED, RW_SYSTEM);
        do {
            head->next = top;
        } while (!__hip_atomic_compare_exchange_strong(&s->free, &top, packet, __ATOMIC_RELEASE, __ATOMIC_RELAXED, RW_SYSTEM));
    }
    return r;
}

// rw_print prints a format of at most seven words with one argument, or two, to
// standard output (to 0) or standard error (to 1). Lanes may print different things.
DEVICE static inline u64 rw_print(u64 to, const char *format, u32 args, u64 x, u64 y) {
    u64 w[7] = {0};
    u32 n = 0;
    for (; format[n] != 0; n++) {
        w[n / 8] |= (u64)(u8)format[n] << n % 8 * 8;
    }
    u64 words = n / 8 + 1;
    u64 desc = rw_call(2, 1 | 1 << 5, to, 0, 0, 0, 0, 0, 0).x; // begins
    desc = rw_call(2, (desc & ~0xe0ull) | words << 5, w[0], w[1], w[2], w[3], w[4], w[5], w[6]).x;
    return rw_call(2, (desc & ~0xe0ull) | 2 | args << 5, x, y, 0, 0, 0, 0, 0).x; // ends
}

// print_lines has the threads of each workgroup print a line, whose length they get.
KERNEL print_lines(u32 *lengths, u32 from) {
    u32 i = global_id(x);
    if (i % 3 != 1) { // some lanes have nothing to say
        lengths[i] = (u32)rw_print(0, "thread %u of %llu\n", 2, i + from, gridDim.x * (u64)blockDim.x);
    }
}

// print_and_trap says why it gives up, as assert does.
KERNEL print_and_trap(u32 at) {
    if (global_id(x) == at) {
        rw_print(1, "thread %u: this cannot be\n", 1, at, 0);
        __builtin_trap();
    }
}

// borrow has each thread get memory, write to it, and tell where it is.
KERNEL borrow(u64 *blocks, u64 size) {
    u32 i = global_id(x);
    u64 *p = (u64 *)rw_call(3, 0, size, 0, 0, 0, 0, 0, 0).x;
    if (p != 0) {
        p[0] = i;
        p[size / 8 - 1] = i;
    }
    blocks[i] = (u64)p;
}

// give_back frees what borrow got, and counts what is not as it was.
KERNEL give_back(const u64 *blocks, u64 size, u32 *wrong) {
    u32 i = global_id(x);
    u64 *p = (u64 *)blocks[i];
    if (p == 0 || p[0] != i || p[size / 8 - 1] != i) {
        atomic_add(wrong, 1u);
    }
    rw_call(3, blocks[i], 0, 0, 0, 0, 0, 0, 0);
}

// ask makes any request: what a host must not do, it must refuse.
KERNEL ask(u32 service, u64 a, u64 b, u64 *answer) {
    struct rw_answer r = rw_call(service, a, b, 0, 0, 0, 0, 0, 0);
    answer[0] = r.x;
    answer[1] = r.y;
}

// wreck makes the stacks of packets point at themselves and out of the buffer.
KERNEL wreck(u32 seed) {
    struct rw_calls *s = (struct rw_calls *)rw_implicit_word(10);
    for (u32 i = 0; i < 16; i++) {
        s->headers[i].next = i ^ seed;
        s->headers[i].lanes = ~0ull;
        s->headers[i].service = i % 5;
        s->headers[i].control = 1;
    }
    s->headers = (struct rw_header *)~0ull;
    s->payloads = (struct rw_payload *)8;
    s->mask = ~0ull;
    s->free = 0;
    s->ready = seed;
    u64 *signal = s->doorbell;
    s->doorbell = 0;
    __builtin_amdgcn_s_sendmsg(1, (u32)signal[3]);
}

#endif
