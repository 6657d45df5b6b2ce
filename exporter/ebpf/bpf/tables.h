/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is counted, and what is remembered for it. Sizes written here are replaced by
 * the loader; every table is bounded, and whatever finds no room is counted in drops.
 * No structure has padding, so that Go can read them as they are.
 */
#ifndef ROCWIRE_TABLES_H
#define ROCWIRE_TABLES_H

#include "kernel.h"

/* Why something was not counted: indices of drops. */
enum drop {
	DROP_PROCESS,	 /* no room for another program */
	DROP_THREAD,	 /* no room for another thread */
	DROP_SERIES,	 /* no room for another function of a program, or another result */
	DROP_ALLOCATION, /* no room for another allocation */
	DROP_UNREADABLE, /* arguments in memory that could not be read */
	DROP_ABANDONED,	 /* a call that was left without returning */
	DROPS,
};

/* Settings: indices of settings. */
enum setting {
	SET_SERIES,	 /* results other than success kept of one program */
	SET_ALLOCATIONS, /* allocations remembered of one program */
	SETTINGS,
};

#define KINDS 5	   /* of copies: hipMemcpyKind */
#define MEMORIES 3 /* device, managed, host */
#define SIZES 65   /* buckets of sizes: (2^(i-1), 2^i] */

/* Buckets of durations are those of rpcstats: index i holds (2^((i-1)/8), 2^(i/8)]
 * seconds. Those from FIRST_INDEX on are kept; the first and the last hold what is
 * beyond them. */
#define FIRST_INDEX (-191) /* 2^-24 s, 60 ns */
#define LAST_INDEX 96	   /* 2^12 s, 68 minutes */
#define DURATIONS (LAST_INDEX - FIRST_INDEX + 1)

/* 1e9 * 2^(i/8), the highest bit moved to 63 and the rest cut off. */
#define BOUND_1 0x81ffa7a9549ca6e3ULL
#define BOUND_2 0x8dc3b8960164a7d9ULL
#define BOUND_3 0x9a9867054d512391ULL
#define BOUND_4 0xa8965f74bf065071ULL
#define BOUND_5 0xb7d88a12d0dd9ea0ULL
#define BOUND_6 0xc87c3e7d03cdbec3ULL
#define BOUND_7 0xdaa17c2cd19555dbULL
#define BOUND_8 0xee6b280000000000ULL

/* A program, by the number of its process: gone when it executes another one. */
struct process {
	u32 id;	   /* never given twice */
	u32 epoch; /* counts hipDeviceReset: what was allocated before is gone */
};

/* What a program did, by process.id. */
struct totals {
	u64 first; /* when it was first seen, by the monotonic clock */
	u64 tgid;
	char name[16];
	u64 copies[KINDS], copied[KINDS];
	u64 allocations[MEMORIES];
	u64 held[MEMORIES];
	u64 launches;
	u64 grids[SIZES], blocks[SIZES];
	u64 grid_sum, block_sum;
	u64 failures;	/* entries of failures */
	u64 remembered; /* entries of allocations */
};

/* One function of a program. */
struct series_key {
	u32 id;
	u32 op;
};
struct series {
	u64 success;
	u64 nanos;
	u64 buckets[DURATIONS];
};

/* Calls of one function of a program that ended with one result other than success. */
struct failure_key {
	u32 id;
	u32 op;
	s32 code;
};

/* A call under way, by thread. */
struct call {
	u64 sp;	    /* of the stack at entry; 0: none is under way */
	u64 ret;    /* where it returns to */
	u64 cookie;
	u64 start;
	u64 a, b, c; /* by class */
	u32 id, epoch;
};

struct allocation_key {
	u64 address;
	u64 id;
};
struct allocation {
	u64 size;
	u32 memory;
	u32 epoch;
};

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 256);
	TYPE(key, u32);
	TYPE(value, struct process);
} processes SEC(".maps");

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 256);
	TYPE(key, u32);
	TYPE(value, struct totals);
} totals_of SEC(".maps");

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, struct series_key);
	TYPE(value, struct series);
} series_of SEC(".maps");

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, struct failure_key);
	TYPE(value, u64);
} failures SEC(".maps");

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, u64);
	TYPE(value, struct call);
} threads SEC(".maps");

struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 65536);
	TYPE(key, struct allocation_key);
	TYPE(value, struct allocation);
} allocations SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, DROPS);
	TYPE(key, u32);
	TYPE(value, u64);
} drops SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, SETTINGS);
	TYPE(key, u32);
	TYPE(value, u64);
} settings SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u32);
} next_id SEC(".maps");

/* Zeros to begin with, larger than the stack. */
struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct totals);
} no_totals SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct series);
} no_series SEC(".maps");

/* The numbers of processes that execute a program. */
struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 65536);
} execs SEC(".maps");

#endif
