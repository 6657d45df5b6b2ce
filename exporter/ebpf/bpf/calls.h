/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the functions of HIP do: what is noted of their arguments at entry, and what a
 * call that succeeded adds to the program's totals.
 */
#ifndef ROCWIRE_CALLS_H
#define ROCWIRE_CALLS_H

#include "arguments.h"
#include "buckets.h"

/* What a function does. The probe's cookie says so: the number of the function in
 * bits 0-15, the class in 16-23, positions A, B, C in 24-27, 28-31, 32-35 (NONE: there
 * is no such argument), and FIXED in 40-47. */
enum class {
	PLAIN,
	COPY,	      /* A times B bytes; hipMemcpyKind C, or FIXED */
	COPY_PARMS,   /* A: hipMemcpy3DParms* */
	COPY_2D,      /* A: hip_Memcpy2D* */
	COPY_3D,      /* A: HIP_MEMCPY3D* */
	ALLOC,	      /* A: where the address goes, B bytes; memory FIXED */
	ALLOC_PITCH,  /* A: where the address goes, B: where the pitch goes, C rows */
	ALLOC_3D,     /* A: hipPitchedPtr*, B rows, C layers */
	FREE,	      /* A: address */
	LAUNCH_DIM3,  /* from A on: two dim3 by value */
	LAUNCH_SIX,   /* from A on: six numbers; FIXED: the grid is in threads, not blocks */
	LAUNCH_STRUCT, /* A: structure that begins with the six numbers */
	LAUNCH_LIST,  /* A: structures of LIST_SIZE bytes, B of them */
	LAUNCH,	      /* without sizes */
	RESET,
};

#define OP(cookie) ((u32)((cookie) & 0xffff))
#define CLASS(cookie) ((u32)((cookie) >> 16 & 0xff))
#define A(cookie) ((u32)((cookie) >> 24 & 15))
#define B(cookie) ((u32)((cookie) >> 28 & 15))
#define C(cookie) ((u32)((cookie) >> 32 & 15))
#define FIXED(cookie) ((u32)((cookie) >> 40 & 0xff))
#define NONE 15

#define KIND_DEFAULT 4

/* hipLaunchParams and hipFunctionLaunchParams: the six numbers begin at 8. */
#define LIST_SIZE 56
#define LIST_SIZES_AT 8
#define LIST_MAX 16

/* kind_of makes a kind of two kinds of memory: hipMemoryType. */
INLINE u64 kind_of(u32 from, u32 to)
{
	u64 kind = 0;
	switch (from) {
	case 1:
		break;
	case 2:
	case 10:
		kind = 2;
		break;
	default:
		return KIND_DEFAULT;
	}
	switch (to) {
	case 1:
		return kind;
	case 2:
	case 10:
		return kind + 1;
	}
	return KIND_DEFAULT;
}

struct extent {
	u64 width, height, depth;
};

/* A copy that a structure describes: a bytes of kind b. */
INLINE void copy_of(struct call *c, u64 at, u32 class)
{
	struct extent e = {};
	u32 from = 0, to = 0;
	int ok;

	switch (class) {
	case COPY_PARMS:
		ok = read(&e, sizeof(e), at + 128) && read(&from, sizeof(from), at + 152);
		c->b = from;
		break;
	case COPY_2D:
		ok = read(&e, 16, at + 112) && read(&from, sizeof(from), at + 16) && read(&to, sizeof(to), at + 72);
		e.depth = 1;
		c->b = kind_of(from, to);
		break;
	default:
		ok = read(&e, sizeof(e), at + 160) && read(&from, sizeof(from), at + 32) && read(&to, sizeof(to), at + 112);
		c->b = kind_of(from, to);
	}
	c->a = ok ? times(times(e.width, e.height), e.depth) : 0;
}

struct sizes {
	u32 grid[3], block[3];
};

/* A launch: a threads in the grid, b in a block, c launches. */
NOINLINE void launch_of(struct call *c, struct sizes *s, int threads)
{
	c->b = times(times(s->block[0], s->block[1]), s->block[2]);
	c->a = times(times(s->grid[0], s->grid[1]), s->grid[2]);
	if (!threads)
		c->a = times(c->a, c->b);
	c->c = 1;
}

/* forget takes an allocation out of the books: its size and memory in b and c. Before
 * the library frees it, for afterwards another thread may get the same address. */
INLINE void forget(struct call *c)
{
	struct allocation_key k = {.address = c->a, .id = c->id};
	struct allocation *old = map_lookup(&allocations, &k);

	c->b = 0;
	c->c = MEMORIES;
	if (!old)
		return;
	if (old->epoch == c->epoch) {
		c->b = old->size;
		c->c = old->memory;
	}
	if (!map_delete(&allocations, &k)) {
		struct totals *t = map_lookup(&totals_of, &c->id);
		if (t)
			ADD(t->remembered, -1);
	}
}

/* remember enters an allocation. */
NOINLINE void remember(struct call *c, struct totals *t, u64 address, u64 size, u64 memory)
{
	struct allocation_key k = {.address = address, .id = c->id};
	struct allocation n = {.size = size, .memory = memory, .epoch = c->epoch};
	struct allocation *old = map_lookup(&allocations, &k);
	u32 setting = SET_ALLOCATIONS;
	u64 *most = map_lookup(&settings, &setting);

	if (!size || memory >= MEMORIES)
		return;
	if (old) { /* freed in a way that is not watched */
		u64 was = old->memory;
		if (old->epoch == c->epoch && WITHIN(was, MEMORIES))
			ADD(t->held[was], -old->size);
	} else if (most && t->remembered >= *most) {
		drop(DROP_ALLOCATION);
		return;
	}
	if (map_update(&allocations, &k, &n, UPDATE_ANY)) {
		drop(DROP_ALLOCATION);
		return;
	}
	if (!old)
		ADD(t->remembered, 1);
	if (WITHIN(memory, MEMORIES))
		ADD(t->held[memory], size);
}

/* note reads what is needed of the arguments. */
INLINE void note(struct pt_regs *regs, struct call *c, u64 cookie)
{
	struct sizes s = {};
	u64 v;

	switch (CLASS(cookie)) {
	case COPY:
		c->a = arg(regs, A(cookie));
		if (B(cookie) != NONE)
			c->a = times(c->a, arg(regs, B(cookie)));
		c->b = C(cookie) == NONE ? FIXED(cookie) : (u32)arg(regs, C(cookie));
		break;
	case COPY_PARMS:
	case COPY_2D:
	case COPY_3D:
		copy_of(c, arg(regs, A(cookie)), CLASS(cookie));
		break;
	case ALLOC:
		c->a = arg(regs, A(cookie));
		c->b = arg(regs, B(cookie));
		break;
	case ALLOC_PITCH:
	case ALLOC_3D:
		c->a = arg(regs, A(cookie));
		c->b = arg(regs, B(cookie));
		c->c = arg(regs, C(cookie));
		break;
	case FREE:
		c->a = arg(regs, A(cookie));
		if (c->a)
			forget(c);
		break;
	case LAUNCH_DIM3:
		v = arg(regs, A(cookie));
		s.grid[0] = v;
		s.grid[1] = v >> 32;
		s.grid[2] = arg(regs, A(cookie) + 1);
		v = arg(regs, A(cookie) + 2);
		s.block[0] = v;
		s.block[1] = v >> 32;
		s.block[2] = arg(regs, A(cookie) + 3);
		launch_of(c, &s, 0);
		break;
	case LAUNCH_SIX:
		s.grid[0] = arg(regs, A(cookie));
		s.grid[1] = arg(regs, A(cookie) + 1);
		s.grid[2] = arg(regs, A(cookie) + 2);
		s.block[0] = arg(regs, A(cookie) + 3);
		s.block[1] = arg(regs, A(cookie) + 4);
		s.block[2] = arg(regs, A(cookie) + 5);
		launch_of(c, &s, FIXED(cookie));
		break;
	case LAUNCH_STRUCT:
		read(&s, sizeof(s), arg(regs, A(cookie)));
		launch_of(c, &s, 0);
		break;
	case LAUNCH_LIST:
		c->a = arg(regs, A(cookie));
		c->c = (u32)arg(regs, B(cookie));
		break;
	}
}

NOINLINE void count_launch(struct totals *t, u64 grid, u64 block)
{
	u64 i = log2_up(grid), j = log2_up(block);

	if (WITHIN(i, SIZES))
		ADD(t->grids[i], 1);
	if (WITHIN(j, SIZES))
		ADD(t->blocks[j], 1);
	ADD(t->grid_sum, grid);
	ADD(t->block_sum, block);
}

/* effect counts what a call that succeeded has done. */
INLINE void effect(struct call *c, struct process *p)
{
	struct totals *t = map_lookup(&totals_of, &c->id);
	struct sizes s;
	u64 v[2] = {}, i;

	if (!t)
		return;
	switch (CLASS(c->cookie)) {
	case COPY:
	case COPY_PARMS:
	case COPY_2D:
	case COPY_3D:
		i = c->b == 1024 ? 3 : c->b; /* hipMemcpyDeviceToDeviceNoCU */
		if (i >= KINDS)
			i = KIND_DEFAULT;
		if (WITHIN(i, KINDS)) {
			ADD(t->copies[i], 1);
			ADD(t->copied[i], c->a);
		}
		break;
	case ALLOC:
		if (!read(v, sizeof(v[0]), c->a))
			break;
		i = FIXED(c->cookie);
		if (WITHIN(i, MEMORIES))
			ADD(t->allocations[i], 1);
		remember(c, t, v[0], c->b, i);
		break;
	case ALLOC_PITCH:
		if (!read(v, sizeof(v[0]), c->a) || !read(v + 1, sizeof(v[1]), c->b))
			break;
		ADD(t->allocations[0], 1);
		remember(c, t, v[0], times(v[1], c->c), 0);
		break;
	case ALLOC_3D:
		if (!read(v, sizeof(v), c->a))
			break;
		ADD(t->allocations[0], 1);
		remember(c, t, v[0], times(times(v[1], c->b), c->c), 0);
		break;
	case FREE:
		i = c->c;
		if (WITHIN(i, MEMORIES))
			ADD(t->held[i], -c->b);
		break;
	case LAUNCH_DIM3:
	case LAUNCH_SIX:
	case LAUNCH_STRUCT:
		ADD(t->launches, 1);
		count_launch(t, c->a, c->b);
		break;
	case LAUNCH_LIST:
		ADD(t->launches, c->c);
		for (i = 0; i < LIST_MAX && i < c->c; i++) {
			struct call one = {};
			if (!read(&s, sizeof(s), c->a + LIST_SIZE * (u64)i + LIST_SIZES_AT))
				break;
			launch_of(&one, &s, 0);
			count_launch(t, one.a, one.b);
		}
		break;
	case LAUNCH:
		ADD(t->launches, 1);
		break;
	case RESET:
		ADD(p->epoch, 1);
		t->held[0] = t->held[1] = t->held[2] = 0;
		break;
	}
}

#endif
