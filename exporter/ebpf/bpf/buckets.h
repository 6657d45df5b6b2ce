/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which bucket of a histogram a figure belongs to.
 */
#ifndef ROCWIRE_BUCKETS_H
#define ROCWIRE_BUCKETS_H

#include "tables.h"

/* log2_up is the least i with v <= 2^i. */
GLOBAL u32 log2_up(u64 v)
{
	u32 i = 0;

	if (v <= 1)
		return 0;
	v--;
	if (v >> 32) { v >>= 32; i += 32; }
	if (v >> 16) { v >>= 16; i += 16; }
	if (v >> 8) { v >>= 8; i += 8; }
	if (v >> 4) { v >>= 4; i += 4; }
	if (v >> 2) { v >>= 2; i += 2; }
	return i + (v >> 1) + 1;
}

/* bucket_of is the bucket of a duration, see tables.h. A duration in nanoseconds with
 * its highest bit moved to 63 lies between two of the eight bounds 2^(i/8) seconds
 * that a factor of two holds, which are moved alike. */
GLOBAL u32 bucket_of(u64 nanos)
{
	u32 e = nanos & (nanos - 1) ? log2_up(nanos) - 1 : log2_up(nanos); /* of the highest bit */
	u64 m = nanos << (63 - (e & 63));
	s32 i = ((s32)e - 30) * 8 + 1 - FIRST_INDEX;

	i += m > BOUND_1;
	i += m > BOUND_2;
	i += m > BOUND_3;
	i += m > BOUND_4;
	i += m > BOUND_5;
	i += m > BOUND_6;
	i += m > BOUND_7;
	i += m > BOUND_8;
	if (i < 0)
		return 0;
	return i < DURATIONS ? i : DURATIONS - 1;
}

#endif
