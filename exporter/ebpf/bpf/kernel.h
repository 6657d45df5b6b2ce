/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The little of the kernel's interface to eBPF programs that hip.c needs: numbers of
 * its user-space ABI, which never change, in declarations of our own. No header of a
 * kernel or a library is needed, and no BTF of the running kernel.
 */
#ifndef ROCWIRE_KERNEL_H
#define ROCWIRE_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline)) /* for what is used in many places */
/* The kernel checks a global function once, for whatever numbers it may be given, and
 * not again with all that leads to each of its calls. */
#define GLOBAL __attribute__((noinline))

/* How a map is described to the loader: a number is the length of an array type. */
#define NUMBER(name, value) int (*name)[value]
#define TYPE(name, type) type *name

enum {
	MAP_HASH = 1,
	MAP_ARRAY = 2,
	MAP_RINGBUF = 27,
};

enum {
	UPDATE_ANY = 0,
	UPDATE_NOEXIST = 1,
};

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const ktime_ns)(void) = (void *)5;
static u64 (*const current_pid_tgid)(void) = (void *)14;
static long (*const current_name)(void *to, u32 size) = (void *)16;
static long (*const read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*const ringbuf_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static u64 (*const attach_cookie)(void *ctx) = (void *)174;

/* The registers of x86-64 as a probe finds them. */
struct pt_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	u64 orig_ax, ip, cs, flags, sp, ss;
};

/* What a raw tracepoint hands over. */
struct tracepoint {
	u64 args[3];
};

/* Whether an index is in its array, compared just where it is used and in the very
 * register, or the kernel does not see it. i is a u64. */
#define WITHIN(i, n) ({ asm volatile("" : "+r"(i)); (i) < (n); })

#define ADD(where, n) __sync_fetch_and_add(&(where), n)

#endif
