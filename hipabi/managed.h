/* The memory of managed variables, which a program may use before any device is. */
#ifndef ROCWIRE_HIPABI_MANAGED_H
#define ROCWIRE_HIPABI_MANAGED_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Where neither this process nor a worker's has anything: above what is reserved for
 * device addresses, below libraries and stacks. */
#define MANAGED_BEGIN 0x7e0000000000u
#define MANAGED_END 0x7e8000000000u

static inline uint64_t managed_pages(uint64_t size)
{
	return size ? (size + 4095) & ~(uint64_t)4095 : 4096;
}

/* managed_memory is size bytes with the contents of init, or zero; NULL if there is
 * no memory. */
static inline void *managed_memory(const void *init, uint64_t size, uint64_t align)
{
	static uint64_t next = MANAGED_BEGIN; /* called under a lock */
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uint64_t pages = managed_pages(size);
	void *p = MAP_FAILED;
	if (pages < size)
		return NULL;
	if (align < 4096)
		align = 4096;
	for (int i = 0; i < 64; i++) {
		uint64_t at = (next + align - 1) & ~(align - 1);
		if (at < MANAGED_BEGIN || at > MANAGED_END || pages > MANAGED_END - at)
			break;
		next = at + pages + 4096;
		p = mmap((void *)(uintptr_t)at, pages, prot, flags | MAP_FIXED_NOREPLACE, -1, 0);
		if (p == (void *)(uintptr_t)at)
			break;
		if (p != MAP_FAILED) /* a kernel older than 4.17 takes it for a hint */
			munmap(p, pages);
		p = MAP_FAILED;
	}
	if (p == MAP_FAILED)
		p = mmap(NULL, pages, prot, flags, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (init)
		memcpy(p, init, size);
	return p;
}

static inline void managed_free(void *p, uint64_t size)
{
	munmap(p, managed_pages(size));
}

#endif
