// printf as clang compiles it with -mprintf-kind=buffered: the text is written
// to a buffer and shows when the kernel has ended.
#include "kernel.h"

#if defined(__HIP__)

extern "C" DEVICE int printf(const char *, ...);

// __printf_alloc is what clang calls: room for a record, or none. The buffer
// begins with the bytes that are used and those that there are.
extern "C" DEVICE __attribute__((used)) char *__printf_alloc(u32 bytes) {
    typedef const __attribute__((address_space(4))) u64 *words;
    u32 *buffer = (u32 *)((words)__builtin_amdgcn_implicitarg_ptr())[9];
    u32 used = __hip_atomic_load(buffer, __ATOMIC_RELAXED, RW_SCOPE);
    do {
        if (used + bytes > buffer[1]) {
            return 0;
        }
    } while (!__hip_atomic_compare_exchange_strong(buffer, &used, used + bytes, __ATOMIC_RELAXED, __ATOMIC_RELAXED, RW_SCOPE));
    return (char *)(buffer + 2) + used;
}

KERNEL printf_lines(u32 from, f64 x) {
    printf("thread %u: %s %.3f 100%%\n", from + global_id(x), "abc", x);
}

// printf_much writes more than the buffer holds; results get what printf returns.
KERNEL printf_much(i32 *results, u32 times) {
    u32 i = global_id(x);
    for (u32 n = 0; n < times; n++) {
        results[i] = printf("thread %u, line %u\n", i, n);
    }
}

#endif
