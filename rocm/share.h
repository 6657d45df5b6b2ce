/* What HIP calls shareable handles: file descriptors, of memory and of pools. */
#ifndef ROCWIRE_ROCM_SHARE_H
#define ROCWIRE_ROCM_SHARE_H
#include <stdint.h>
#include "library.h"

hipError_t rocm_export(const struct rocm_table *table, int32_t device, uint64_t allocation, int32_t type, uint64_t flags, int *fd);
hipError_t rocm_import(const struct rocm_table *table, int32_t device, int fd, int32_t type, uint64_t *allocation);
hipError_t rocm_pool_export(const struct rocm_table *table, int32_t device, uint64_t pool, int32_t type, uint32_t flags, int *fd);
hipError_t rocm_pool_import(const struct rocm_table *table, int32_t device, int fd, int32_t type, uint32_t flags, uint64_t *pool);
#endif
