/* The real library: opening it, and what zz_table.h cannot say. */
#ifndef ROCWIRE_ROCM_LIBRARY_H
#define ROCWIRE_ROCM_LIBRARY_H

#include <stdint.h>
#include "zz_table.h"

struct rocm_launch {
	uint64_t function, stream, start, stop;
	uint32_t grid[3], block[3], global[3];
	uint32_t shared, flags;
};

/* rocm_open loads path and fills the table with the functions it has. On failure
 * it returns null and what dlerror said, truncated, in why. */
void *rocm_open(const char *path, struct rocm_table *table, char *why, size_t size);

hipError_t rocm_load(const struct rocm_table *table, int32_t device, const void *image, uint64_t *module);

/* rocm_launch launches with the packed arguments args; offsets says where each
 * of them begins, for the entry points that take them one by one. */
hipError_t rocm_launch(const struct rocm_table *table, int32_t device, const struct rocm_launch *l,
		       void *args, size_t size, const uint32_t *offsets, size_t count);

/* rocm_multi_part is one device's part of a launch on several: what rocm_launch takes. */
struct rocm_multi_part {
	struct rocm_launch launch;
	void *args;
	const uint32_t *offsets;
	size_t count;
};

/* rocm_launch_multi launches cooperative kernels on several devices, whose grids
 * may wait for each other. */
hipError_t rocm_launch_multi(const struct rocm_table *table, int32_t device, const struct rocm_multi_part *parts,
			     size_t n, uint32_t flags);

/* rocm_store writes a word of host memory that a device looks at. */
void rocm_store(uint64_t address, uint64_t value);

#endif
