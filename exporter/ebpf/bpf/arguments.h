/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where the arguments of a call are, by the System V ABI of x86-64, at the first
 * instruction of the function.
 *
 * Integers and pointers take the registers rdi, rsi, rdx, rcx, r8, r9 in turn, then
 * the stack, 8 bytes each, above the return address. A structure of up to 16 bytes
 * takes one register for each 8 bytes of it, if there are enough left for all of it;
 * dim3 is three numbers of 4 bytes, so it takes two: x and y in the first, y in its
 * upper half, and z in the lower half of the second, whose upper half may hold
 * anything. hipLaunchKernel(function, numBlocks, dimBlocks, args, …) thus has
 *
 *	rdi function   rsi x,y and rdx z of numBlocks   rcx x,y and r8 z of dimBlocks
 *	r9 args        [rsp+8] sharedMemBytes           [rsp+16] stream
 *
 * Larger structures, such as hipExtent of 24 bytes, lie on the stack as they are.
 * arg() therefore counts in units of 8 bytes: 0 to 5 are registers, 6 is [rsp+8].
 */
#ifndef ROCWIRE_ARGUMENTS_H
#define ROCWIRE_ARGUMENTS_H

#include "tables.h"

NOINLINE void drop(u32 why)
{
	u64 *n = map_lookup(&drops, &why);
	if (n)
		ADD(*n, 1);
}

/* read copies size bytes of the program's memory; 0 if it may not or cannot. */
NOINLINE int read(void *to, u32 size, u64 from)
{
	if (!read_user(to, size, (const void *)from))
		return 1;
	drop(DROP_UNREADABLE);
	return 0;
}

/* Registers may be read at fixed places only; without a barrier the compiler makes one
 * load at a computed place of them all. */
#define REGISTER(v, name) do { v = regs->name; asm volatile("" : "+r"(v)); } while (0)

NOINLINE u64 arg(struct pt_regs *regs, u32 n)
{
	u64 v = 0;

	switch (n) {
	case 0:
		REGISTER(v, di);
		break;
	case 1:
		REGISTER(v, si);
		break;
	case 2:
		REGISTER(v, dx);
		break;
	case 3:
		REGISTER(v, cx);
		break;
	case 4:
		REGISTER(v, r8);
		break;
	case 5:
		REGISTER(v, r9);
		break;
	default:
		read(&v, sizeof(v), regs->sp + 8 * (u64)(n - 5));
	}
	return v;
}

/* Products of sizes, which a program may have made up, stop at the largest number. */
GLOBAL u64 times(u64 a, u64 b)
{
	u64 most = ~0ULL;

	if (!a)
		return 0;
	most /= a;
	asm volatile("" : "+r"(most)); /* or the compiler multiplies with 128 bits, which it cannot here */
	return b > most ? ~0ULL : a * b;
}

#endif
